// The fused step on a device that can record: forward, backward and updates become one launch.
//
// The first step runs as the verbs do, so that everything a vendor's library does once has been
// done; the second is recorded, and from then on it is replayed. Values that change between steps
// lie in a block on the device (device_values.cpp), so that only a new update, a monitor or another
// plan calls for a new recording.

#include <algorithm>

#include <fmt/format.h>
#include <symbind/log.h>
#include <symbind/runtime.h>

#include "base/check.h"
#include "executor/executor_impl.h"
#include "ndarray/storage.h"

namespace symbind {

bool Executor::Impl::recordable() const {
  return plan_->contexts.size() == 1 && in_gpu_memory(plan_->contexts.front()) && !is_watched() &&
         std::ranges::none_of(plan_->steps, &PlanStep::is_random) &&
         std::ranges::none_of(
             plan_->steps,
             [](const PlanStep& s) { return s.node && s.node->op->runs_user_code; }) &&
         std::ranges::none_of(plan_->needs_head_gradient, [](bool needed) { return needed; });
}

bool Executor::Impl::has_unread_error() const {
  const auto failed = [](const Storage* s) { return s->has_error(); };
  return std::ranges::any_of(read_[0], failed) || std::ranges::any_of(read_[1], failed) ||
         std::ranges::any_of(updates_, [](const Update& u) {
           return std::ranges::any_of(u.inputs,
                                      [](const NDArray& a) { return a.storage()->has_error(); });
         });
}

void Executor::Impl::record_step() {
  RunState& state = run_state_.front();
  const RunState before = state;
  bool complete = false;
  recording_ = runtime(plan_->contexts.front()).record([&](void* stream) {
    state = {.is_train = true, .stream = stream};
    try {
      complete = run_range(0, runnables_.size());
      if (complete) run_updates();
    } catch (...) {
      state = before;
      throw;
    }
    state = before;
  });
  if (!complete) recording_.reset();
}

void Executor::Impl::replay_step() {
  forward_error_.reset();
  refresh_device_values();
  if (recording_ == nullptr) {
    try {
      record_step();
    } catch (const Error& e) {
      log_warning(fmt::format("the step of {} cannot be recorded and runs operator by operator: {}",
                              bound_.symbol.str(), e.what()));
      record_steps_ = false;
      return step({});
    }
    if (recording_ == nullptr) return;  // an operator failed; its error is where it belongs
  }
  // No step writes these, so they may as well be set before the updates that read them.
  zero_unreached_gradients();
  try {
    recording_->replay();
  } catch (const Error& e) {
    return fail_from(0, e.with_context("in the recorded step"), plan_->steps.size());
  }
  for (const auto& list : written_) {
    for (Storage* storage : list) storage->touch();
  }
  for (const Update& u : updates_) {
    u.out.storage()->touch();
    for (const std::size_t i : u.kernel->mutated) u.inputs[i].storage()->touch();
  }
  ran_forward_train_ = false;
}

}  // namespace symbind
