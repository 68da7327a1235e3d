// Per-call values where kernels on a device read them: one small block per executor and device,
// written before the first run that needs a change. What is in flight still reads the old values,
// and a recorded step reads whatever the block holds when it is replayed.

#include <algorithm>
#include <unordered_map>

#include <symbind/runtime.h>

#include "executor/executor_impl.h"

namespace symbind {

void Executor::Impl::refresh_device_values() {
  if (!values_changed_) return;
  const auto is_gpu = [](const Context& c) { return in_gpu_memory(c); };
  if (std::ranges::any_of(plan_->contexts, is_gpu)) {
    staged_values_.assign(values_.begin(), values_.end());
    for (const Update& u : updates_)
      staged_values_.insert(staged_values_.end(), u.values.begin(), u.values.end());
    device_values_.resize(plan_->contexts.size());
  }
  for (std::size_t slot = 0; slot < device_values_.size() && !staged_values_.empty(); ++slot) {
    if (!is_gpu(plan_->contexts[slot])) continue;
    auto& block = device_values_[slot];
    if (block == nullptr || block->count() != staged_values_.size()) {
      block = runtime(plan_->contexts[slot]).make_values(staged_values_.size());
      for (Runnable& r : runnables_) {
        if (r.args.run == &run_state_[slot])
          r.args.device_values = block->data() + (r.args.values - values_.data());
      }
      const double* at = block->data() + values_.size();
      for (Update& u : updates_) {
        if (u.slot == slot) u.device_values = at;
        at += u.values.size();
      }
    }
    block->write(staged_values_.data());
  }
  values_changed_ = false;
}

// A block per thread and device: the next call of the same thread overwrites it, in stream order.
const double* values_on_device(Context context, const std::vector<double>& values) {
  if (values.empty() || !in_gpu_memory(context)) return nullptr;
  constexpr std::size_t kLeast = 16;
  thread_local std::unordered_map<int, std::unique_ptr<DeviceValues>> blocks;
  thread_local std::vector<double> padded;
  std::unique_ptr<DeviceValues>& block = blocks[context.id];
  if (block == nullptr || block->count() < values.size())
    block = runtime(context).make_values(std::max(kLeast, values.size()));
  padded.assign(block->count(), 0.0);
  std::ranges::copy(values, padded.begin());
  block->write(padded.data());
  return block->data();
}

}  // namespace symbind
