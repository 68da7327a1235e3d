// Timed runs. After every operator the host waits for the GPU, so that each time is the operator's
// own; the run is slower, but the parts are right.

#include "executor/profile.h"

#include <algorithm>

#include <symbind/runtime.h>

#include "device/runtime.h"

namespace symbind {
namespace {

using profiling::Subject;

std::vector<CostTensor> described(const ImperativeKernel& kernel) {
  std::vector<CostTensor> all;
  for (std::size_t o = 0; o < kernel.out.size(); ++o)
    all.push_back({.desc = kernel.out[o],
                   .bytes = kernel.out[o].bytes(),
                   .is_there = o < static_cast<std::size_t>(kernel.num_visible)});
  return all;
}

/// Calls `work` and returns when it began and ended.
template <class F>
std::pair<std::int64_t, std::int64_t> timed(Context context, F&& work) {
  const std::int64_t start = profiling::now();
  work();
  if (in_gpu_memory(context)) runtime(context).synchronize();
  return {start, profiling::now()};
}

}  // namespace

std::vector<CostTensor> described(std::span<const NDArray> arrays) {
  std::vector<CostTensor> all;
  for (const NDArray& a : arrays)
    all.push_back({.desc = {.shape = a.shape(), .dtype = a.dtype()}, .bytes = a.nbytes()});
  return all;
}

void KernelTimes::run(std::size_t number, Context context,
                      const std::function<std::vector<StepTimes>()>& describe,
                      const std::function<void()>& work) {
  const std::uint64_t generation = profiling::generation();
  if (steps_.empty()) steps_ = describe();
  if (generation_ != generation) {
    for (StepTimes& s : steps_) s.times = {};
    generation_ = generation;
  }
  StepTimes& step = steps_[number];
  const auto [start, end] = timed(context, work);
  step.times.add(static_cast<double>(end - start));
  profiling::record(profiling::kSymbolic, step.subject, start, end, step.cost);
}

void run_timed(const ImperativeCall& call, std::span<const NDArray> inputs, Context context,
               const Args& args) {
  const ImperativeKernel& kernel = *call.kernel;
  const auto [start, end] = timed(context, [&] { kernel.run(args); });
  const std::string& custom = profiling::current_custom();
  const Subject* subject = profiling::intern(
      {.category = custom.empty() ? "operator" : "Custom Operator",
       .name = custom.empty() ? kernel.op->name : custom + "::" + kernel.op->name});
  // Gradients may read the shape of a freed array: such a call has a time but no cost.
  Cost cost;
  if (std::ranges::all_of(inputs, &NDArray::defined))
    cost = cost_of(*kernel.op, call.attrs.get(), symbind::described(inputs), described(kernel));
  profiling::record(profiling::kImperative, subject, start, end, cost);
}

}  // namespace symbind
