#pragma once
// Times of an executor's steps, kept while the profiler runs: what `explain` shows beside the plan.

#include <memory>
#include <vector>

#include "executor/imperative.h"
#include "passes/cost.h"

namespace symbind {

struct StepTimes {
  const profiling::Subject* subject = nullptr;
  Cost cost = {};
  profiling::Statistics times = {};  ///< nanoseconds
};

struct Profile {
  std::uint64_t generation = 0;  ///< of the profiler's statistics these belong to
  std::vector<StepTimes> steps, updates;
};

/// Runs an operator that was called by itself, with the clock beside it.
void run_timed(const ImperativeCall& call, const std::vector<NDArray>& inputs, Context context,
               const Args& args);

}  // namespace symbind
