// RROIAlign: recorded, and a turned region by hand.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_RROIAlign) {
  c.recorded([](OpCase& recorded) { recorded.no_grad(); });
  // A region of 1×2 around (1, 1), turned by 90°: its two bins are above and below the centre.
  c.add("a right angle")
      .attr("pooled_size", "(1, 2)")
      .attr("spatial_scale", 1.0)
      .attr("sampling_ratio", 1)
      .in({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})
      .in({1, 6}, {0, 1, 1, 2, 1, 90})
      .no_grad()
      .tolerance(DType::kFloat32, 1e-5, 1e-5)
      .ref({6.5, 3.5});
  c.add("regions of no image")
      .attr("pooled_size", "(1, 1)")
      .attr("spatial_scale", 1.0)
      .in({1, 1, 2, 2})
      .in({2, 6}, {-1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0})
      .no_grad()
      .ref({0, 0});
  c.add("more points than an image has")
      .attr("pooled_size", "(1, 1)")
      .attr("spatial_scale", 1.0)
      .in({1, 1, 2, 2})
      .in({1, 6}, {0, 0, 0, 1e9, 1, 0})
      .dtypes({DType::kFloat32})
      .raises("is outside any image");
  c.add("no size")
      .attr("pooled_size", "(0, 2)")
      .attr("spatial_scale", 1.0)
      .in({1, 1, 2, 2})
      .in({1, 6})
      .raises("pooled_size (0, 2)");
}

}  // namespace
}  // namespace symbind
