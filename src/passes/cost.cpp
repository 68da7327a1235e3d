// Arithmetic only: an operator's cost is a column of its definition (symbind/cost.h).

#include "passes/cost.h"

namespace symbind {

Cost cost_of(const OpDef& op, const void* attrs, std::span<const CostTensor> in,
             std::span<const CostTensor> out) {
  Cost cost{.flops = op.flops ? op.flops(attrs, {in, out}) : -1, .bytes = 0};
  for (std::size_t i = 0; i < in.size(); ++i) {
    const int input = static_cast<int>(i);
    if (!op.reads_only_shape(attrs, input)) cost.bytes += static_cast<double>(in[i].bytes);
    if (op.mutates(attrs, input)) cost.bytes += static_cast<double>(in[i].bytes);
  }
  for (const CostTensor& t : out)
    if (t.is_there) cost.bytes += static_cast<double>(t.bytes);
  return cost;
}

Cost cost_of(const Plan& plan, const PlanStep& step) {
  const auto views = [&](const std::vector<int>& tensors) {
    std::vector<CostTensor> all;
    for (const int t : tensors) {
      const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(t)];
      all.push_back({.desc = tensor.desc,
                     .bytes = tensor.desc.bytes(),
                     .is_there = tensor.home != Home::kNowhere});
    }
    return all;
  };
  const std::vector<CostTensor> in = views(step.in), out = views(step.out);
  if (step.node != nullptr) return cost_of(*step.node->op, step.node->parsed.get(), in, out);
  Cost cost{.flops = 0, .bytes = 0};  // a change of layout
  for (const auto* list : {&in, &out})
    for (const CostTensor& t : *list) cost.bytes += static_cast<double>(t.bytes);
  return cost;
}

}  // namespace symbind
