#pragma once
// Small sets of checkpoint files of which every part says which set it belongs to.

#include <gtest/gtest.h>

#include <symbind/checkpoint.h>

#include "resume/trainings.h"

namespace symbind {

/// A state of a training in which everything says `mark`.
inline TrainingState state_of(float mark, int epoch) {
  TrainingState state{.epoch = epoch};
  state.args["w"] = NDArray::full({300, 10}, mark, cpu());
  state.aux["m"] = NDArray::full({4}, mark, cpu());
  StateValue dict = StateValue::dict();
  dict.add(StateValue::of(std::int64_t{0}),
           StateValue::of(NDArray::full({300, 10}, mark * 2, cpu())));
  state.parts.push_back({"{\"nodes\": []}", dict});
  state.facts.add("mark", StateValue::of(static_cast<double>(mark)));
  state.facts.add("order", StateValue::of(NDArray::full({50}, mark, cpu())));
  return state;
}

inline CheckpointOptions direct(const std::string& prefix) {
  return {.prefix = prefix, .background = false};
}

/// What the set that loads says; every file of it must say the same.
inline float loaded_mark(const std::string& prefix) {
  const std::optional<TrainingState> state = load_training(prefix);
  if (!state) return -1;
  EXPECT_TRUE(state->exact);
  const float mark = state->args.at("w").to_vector<float>()[7];
  EXPECT_EQ(state->aux.at("m").to_vector<float>()[0], mark);
  EXPECT_EQ(state->facts.at("mark", "test").number, mark);
  EXPECT_EQ(state->facts.array_at("order", "test").to_vector<float>()[3], mark);
  TrainingState again = state_of(mark, state->epoch);
  const Folder other;
  Checkpointer(direct(other.prefix())).save(again);
  EXPECT_EQ(load_training(other.prefix())->parts[0].states.text, state->parts[0].states.text);
  return mark;
}

/// What a save that did not end well left in the folder.
inline std::vector<std::string> leftovers(const Folder& folder) {
  std::vector<std::string> found;
  for (const std::string& name : folder.names())
    if (name.find(".tmp-") != name.npos || name.find(".pending") != name.npos)
      found.push_back(name);
  return found;
}

/// After a failed save of state 2, over or next to state 1: one of them loads, also after the next
/// Checkpointer has removed temporary files. Returns which one.
inline float one_set_loads(const Folder& folder) {
  const float mark = loaded_mark(folder.prefix());
  EXPECT_TRUE(mark == 1 || mark == 2) << mark;
  const Checkpointer next(direct(folder.prefix()));
  EXPECT_EQ(leftovers(folder), std::vector<std::string>());
  EXPECT_EQ(loaded_mark(folder.prefix()), mark);
  return mark;
}

}  // namespace symbind
