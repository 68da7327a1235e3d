#pragma once
// What one run of an operator costs, by its shapes alone: the additions and multiplications of its
// mathematics (of the direct form, whatever algorithm a kernel uses) and the bytes of the arrays it
// reads and writes, each once. The actual memory traffic may be more (workspaces) or less (caches).

#include <span>

#include "base/profiling.h"
#include "passes/plan.h"

namespace symbind {

using profiling::Cost;

/// FLOPs are -1 where the operator has no rule.
Cost cost_of(const OpDef& op, const void* attrs, std::span<const CostTensor> in,
             std::span<const CostTensor> out);
Cost cost_of(const Plan& plan, const PlanStep& step);

}  // namespace symbind
