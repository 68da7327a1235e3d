// Workers of an asynchronous job read and write one prefix at the same time: worker 0 saves, others
// load.

#include <atomic>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "module/manifest.h"
#include "resume/sets.h"

namespace symbind {
namespace {

TEST(BesideWriter, who_does_not_save_removes_no_file) {
  const Folder folder;
  const std::string pending = folder.prefix() + "-0007.params.pending";
  std::ofstream(pending) << "a save under way";
  {
    const Checkpointer other(direct(folder.prefix()), false);
    EXPECT_EQ(leftovers(folder).size(), 1u);
  }
  const Checkpointer saver(direct(folder.prefix()));
  EXPECT_EQ(leftovers(folder).size(), 0u);
}

TEST(BesideWriter, a_set_loads_while_others_replace_it) {
  constexpr int kSaves = 60;
  const Folder folder;
  CheckpointOptions newest = direct(folder.prefix());
  newest.keep_last = 1;
  Checkpointer writer(newest);
  writer.save(state_of(1, 1));
  std::atomic<bool> saves = true;
  std::thread thread([&] {
    for (int i = 2; i < kSaves; ++i)  // a new set, or one over the last
      writer.save(state_of(static_cast<float>(i), i / 2));
    saves = false;
  });
  float last = 0;
  while (saves) {
    const std::optional<TrainingState> state = load_beside_writer(folder.prefix());
    ASSERT_TRUE(state && state->exact);
    const float mark = state->args.at("w").to_vector<float>()[7];
    EXPECT_EQ(state->facts.at("mark", "test").number, mark);
    EXPECT_EQ(state->facts.array_at("order", "test").to_vector<float>()[3], mark);
    EXPECT_GE(mark, last);
    last = mark;
  }
  thread.join();
  EXPECT_EQ(loaded_mark(folder.prefix()), kSaves - 1);
}

TEST(BesideWriter, without_a_set_there_is_nothing_and_a_damaged_set_is_an_error) {
  const Folder folder;
  EXPECT_FALSE(load_beside_writer(folder.prefix()));
  Checkpointer(direct(folder.prefix())).save(state_of(1, 1));
  std::ofstream(folder.prefix() + "-0001.params", std::ios::app) << "more";
  EXPECT_THROW(load_beside_writer(folder.prefix()), Error);
}

}  // namespace
}  // namespace symbind
