// PSROIPooling: recorded, and bins by hand.

#include <limits>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OpCase& pool(OpCase& c, int dim, int size, double scale = 1) {
  return c.attr("spatial_scale", scale).attr("output_dim", dim).attr("pooled_size", size);
}

OP_CASES(_contrib_PSROIPooling) {
  c.recorded([](OpCase& recorded) { recorded.no_grad(1); });
  // Channel 2·gh + gw belongs to bin (gh, gw): the region is the whole image.
  pool(c.add("each bin has its channel"), 1, 2)
      .in({1, 4, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40, 5, 6, 7, 8, 50, 60, 70, 80})
      .in({1, 5}, {0, 0, 0, 1, 1})
      .no_grad(1)
      .ref({1, 20, 7, 80});
  pool(c.add("regions of no image"), 1, 1)
      .in({1, 1, 2, 2})
      .in({3, 5}, {-1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1e30, 0, 0, 1, 1})
      .dtypes({DType::kFloat32, DType::kFloat64})
      .no_grad(1)
      .ref({0, 0, 0});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  pool(c.add("corners that are no numbers"), 1, 1)
      .in({1, 1, 2, 2})
      .in({2, 5}, {0, nan, 0, 1, 1, nan, 0, 0, 1, 1})
      .no_grad()
      .ref({0, 0});
  pool(c.add("too few channels"), 2, 2).in({1, 4, 2, 2}).in({1, 5}).raises("output_dim");
}

}  // namespace
}  // namespace symbind
