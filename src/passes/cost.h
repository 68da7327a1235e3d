#pragma once
// What one run of an operator costs, by its shapes alone: the additions and multiplications of its
// mathematics (of the direct form, whatever trick a kernel plays) and the bytes of the arrays it
// reads and writes, each once. Memory moved in fact may be more (workspaces) or less (caches).

#include <span>

#include "base/profiling.h"
#include "passes/plan.h"

namespace symbind {

using profiling::Cost;

/// An input or output of an operator; absent outputs are not computed.
struct CostTensor {
  TensorDesc desc;
  std::size_t bytes = 0;
  bool is_there = true;
};

/// FLOPs are -1 where no rule knows the operator.
Cost cost_of(const OpDef& op, const void* attrs, std::span<const CostTensor> in,
             std::span<const CostTensor> out);
Cost cost_of(const Plan& plan, const PlanStep& step);

}  // namespace symbind
