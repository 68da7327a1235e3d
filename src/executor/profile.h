#pragma once
// Times of kernels, kept while the profiler runs: what `explain` shows beside the plan.

#include <functional>
#include <vector>

#include "executor/imperative.h"
#include "passes/cost.h"

namespace symbind {

struct StepTimes {
  const profiling::Subject* subject = nullptr;
  Cost cost = {};
  profiling::Statistics times = {};  ///< nanoseconds
};

/// The times of a list of kernels; empty while the profiler never ran.
class KernelTimes {
 public:
  const std::vector<StepTimes>& all() const { return steps_; }
  void forget() { steps_.clear(); }
  /// Runs `work`, the kernel with this number, with the clock beside it. `describe` says what all
  /// of them are; it is asked once.
  void run(std::size_t number, Context context,
           const std::function<std::vector<StepTimes>()>& describe,
           const std::function<void()>& work);

 private:
  std::uint64_t generation_ = 0;  ///< of the profiler's statistics these belong to
  std::vector<StepTimes> steps_;
};

std::vector<CostTensor> described(std::span<const NDArray> arrays);

/// Runs an operator that was called by itself, with the clock beside it.
void run_timed(const ImperativeCall& call, std::span<const NDArray> inputs, Context context,
               const Args& args);

}  // namespace symbind
