// Running a plan that several executors share: arrays are given for one run, and what goes wrong is
// thrown to the caller of that run instead of being kept on arrays.

#include "base/check.h"
#include "base/parallel.h"
#include "executor/current_error.h"
#include "executor/executor_impl.h"

#include <symbind/runtime.h>

namespace symbind {

Executor::Impl::Impl(Bound bound, std::shared_ptr<Arenas> arenas, std::shared_ptr<const Plan> plan)
    : bound_(std::move(bound)), arenas_(std::move(arenas)), plan_(std::move(plan)) {
  outputs_.resize(plan_->outputs.size());
  head_grads_.resize(plan_->outputs.size());
  take_arenas(*plan_);
  wire_steps();
  wired_in_child_ = is_forked_child();
}

void Executor::Impl::fill(const std::vector<std::pair<std::size_t, NDArray>>& args,
                          std::vector<NDArray> outputs) {
  SYMBIND_ASSERT(outputs.size() == outputs_.size());
  for (const auto& [number, array] : args) {
    bound_.args[number] = array;
    filled_.push_back(number);
  }
  outputs_ = std::move(outputs);
  for (const auto& [place, tensor] : open_) {
    SYMBIND_ASSERT(!is_open(tensor));
    tensor_args_[place] = resolve(tensor);
  }
}

void Executor::Impl::empty() {
  for (const auto& [place, tensor] : open_) tensor_args_[place] = {};
  for (const std::size_t number : filled_) bound_.args[number] = {};
  filled_.clear();
  for (NDArray& output : outputs_) output = {};
}

void Executor::Impl::predict(std::size_t first, std::size_t last) {
  const VendorThreads threads;
  for (RunState& state : run_state_) state.is_train = false;
  refresh_device_values();
  for (std::size_t i = first; i < last; ++i) {
    try {
      run_step(i);
    } catch (const Interrupted&) {
      throw;
    } catch (...) {
      throw current_error("in " + plan_->steps[i].title);
    }
  }
}

}  // namespace symbind
