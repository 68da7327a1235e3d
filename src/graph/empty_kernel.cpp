// Arrays without elements (a batch of 0 images, an empty slice).
//
// Decided here: a node whose outputs all have no elements is skipped as a whole, its values are not
// checked, as in MXNet. A node with elements to write runs even if its inputs have none: a sum over
// nothing is 0, a product 1, a mean NaN; an operator that must pick from nothing refuses by name.
// An operator that writes an input runs: its kernels handle a batch of 0. So does one whose output
// shape follows from values: its kernel checks that they ask for no elements.

#include "graph/empty_kernel.h"

#include <algorithm>

namespace symbind {

const KernelDef* empty_kernel(const OpDef& op, const void* attrs,
                              const std::vector<TensorDesc>& out) {
  static const KernelDef kernel{
      .device = DeviceType::kCpu,
      .name = "empty",
      .offer = [](const void*, const KernelRequest& r) { return accept_plain(r); },
      .prepare = [](const void*, const KernelRequest&, const Offer&) -> Prepared {
        return [](const Args&) {};
      }};
  if (op.runs_user_code || op.mutates_any(attrs) || op.shape_from_values) return nullptr;
  const auto is_empty = [](const TensorDesc& d) { return d.shape.size() == 0; };
  return !out.empty() && std::ranges::all_of(out, is_empty) ? &kernel : nullptr;
}

}  // namespace symbind
