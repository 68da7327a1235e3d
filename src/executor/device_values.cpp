// Per-call values of a call on arrays, where kernels on a device read them: a block per thread and
// device. The next call of the same thread overwrites it, in stream order.

#include <algorithm>
#include <unordered_map>

#include <symbind/runtime.h>

#include "device/runtime.h"
#include "executor/imperative.h"

namespace symbind {

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
