#include "passes/layout.h"

#include <fmt/format.h>

#include "kernels/reorder.h"

namespace symbind {

void LayoutFlow::add_reorder(int from, int to, Phase phase) {
  const PlanTensor& source = plan_.tensors[static_cast<std::size_t>(from)];
  const PlanTensor& target = plan_.tensors[static_cast<std::size_t>(to)];
  PlanStep step;
  step.title = fmt::format("reorder '{}' {} → {}", source.name, layout_name(source.desc.layout),
                           layout_name(target.desc.layout));
  step.kernel = "reorder";
  step.phase = phase;
  step.context = source.context;
  step.in = {from};
  step.out = {to};
  step.prepare = [a = source.desc, b = target.desc, device = kernel_device(source.context)] {
    return prepare_reorder(a, b, device);
  };
  plan_.steps.push_back(std::move(step));
  ++plan_.reorders;
}

int LayoutFlow::in_layout(int tensor, Layout layout, Phase phase) {
  const PlanTensor& have = plan_.tensors[static_cast<std::size_t>(tensor)];
  if (same_bytes(have.desc.shape, have.desc.layout, layout)) return tensor;
  const auto [it, added] =
      copies_.emplace(std::pair{tensor, layout}, static_cast<int>(plan_.tensors.size()));
  if (!added) return it->second;
  PlanTensor copy = have;
  copy.desc.layout = layout;
  copy.home = Home::kArena;
  copy.index = -1;
  plan_.tensors.push_back(std::move(copy));
  add_reorder(tensor, it->second, phase);
  return it->second;
}

void LayoutFlow::write_plain(int tensor, int target, Phase phase) {
  add_reorder(tensor, target, phase);
}

}  // namespace symbind
