// Decided here: a change of type and layout is two steps, first the type. Both happen only where a
// network begins and ends and between kernels of different types, so one loop for both would save
// little.
#include "passes/layout.h"

#include <fmt/format.h>

#include "kernels/reorder.h"

namespace symbind {

void FormFlow::add_change(int from, int to, Phase phase) {
  const PlanTensor& source = plan_.tensors[static_cast<std::size_t>(from)];
  const PlanTensor& target = plan_.tensors[static_cast<std::size_t>(to)];
  const bool converts = source.desc.dtype != target.desc.dtype;
  PlanStep step;
  step.title = converts
                   ? fmt::format("convert '{}' {} → {}", source.name, dtype_name(source.desc.dtype),
                                 dtype_name(target.desc.dtype))
                   : fmt::format("reorder '{}' {} → {}", source.name,
                                 layout_name(source.desc.layout), layout_name(target.desc.layout));
  step.kernel = converts ? "convert" : "reorder";
  step.phase = phase;
  step.context = source.context;
  step.in = {from};
  step.out = {to};
  step.prepare = [a = source.desc, b = target.desc, device = kernel_device(source.context)] {
    return prepare_reorder(a, b, device);
  };
  plan_.steps.push_back(std::move(step));
  if (!converts) ++plan_.reorders;
}

int FormFlow::copy_of(int tensor, Layout layout, DType dtype, Phase phase) {
  const auto [it, added] =
      copies_.emplace(std::tuple{tensor, layout, dtype}, static_cast<int>(plan_.tensors.size()));
  if (!added) return it->second;
  PlanTensor copy = plan_.tensors[static_cast<std::size_t>(tensor)];
  copy.desc.layout = layout;
  copy.desc.dtype = dtype;
  copy.home = Home::kArena;
  copy.index = -1;
  plan_.tensors.push_back(std::move(copy));
  add_change(tensor, it->second, phase);
  return it->second;
}

int FormFlow::in_form(int tensor, Layout layout, DType dtype, Phase phase) {
  const TensorDesc have = plan_.tensors[static_cast<std::size_t>(tensor)].desc;
  if (have.dtype != dtype) tensor = copy_of(tensor, have.layout, dtype, phase);
  if (same_bytes(have.shape, have.layout, layout)) return tensor;
  return copy_of(tensor, layout, dtype, phase);
}

void FormFlow::forget(int tensor) {
  std::erase_if(copies_, [&](const auto& copy) { return std::get<0>(copy.first) == tensor; });
}

void FormFlow::write_plain(int tensor, int target, Phase phase) {
  const TensorDesc have = plan_.tensors[static_cast<std::size_t>(tensor)].desc;
  const DType dtype = plan_.tensors[static_cast<std::size_t>(target)].desc.dtype;
  if (have.dtype != dtype && !same_bytes(have.shape, have.layout, Layout::kPlain))
    tensor = copy_of(tensor, have.layout, dtype, phase);
  add_change(tensor, target, phase);
}

}  // namespace symbind
