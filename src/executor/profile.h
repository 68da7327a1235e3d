#pragma once
// Times of kernels, collected while the profiler runs; `explain` shows them with the plan.

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

/// The times of a list of kernels; empty if the profiler never ran.
class KernelTimes {
 public:
  const std::vector<StepTimes>& all() const { return steps_; }
  void forget() { steps_.clear(); }
  /// Runs and times `work`, the kernel with this number. `describe` describes all of them; it is
  /// called once.
  void run(std::size_t number, Context context,
           const std::function<std::vector<StepTimes>()>& describe,
           const std::function<void()>& work);

 private:
  std::uint64_t generation_ = 0;  ///< of the profiler's statistics they belong to
  std::vector<StepTimes> steps_;
};

std::vector<CostTensor> described(std::span<const NDArray> arrays);

/// Runs and times an imperative operator call.
void run_timed(const ImperativeCall& call, std::span<const NDArray> inputs, Context context,
               const Args& args);

}  // namespace symbind
