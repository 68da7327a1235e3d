// ROIPooling: recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(ROIPooling) {
  // Regions get no gradient, and their numbers stay what they are in every type.
  c.recorded([](OpCase& recorded) { recorded.no_grad(1); });
  c.add("no size")
      .attr("pooled_size", "(0, 2)")
      .attr("spatial_scale", 1.0)
      .in({1, 1, 2, 2})
      .in({1, 5})
      .raises("pooled_size (0, 2)");
}

}  // namespace
}  // namespace symbind
