// Images resampled: every method and type against recordings of MXNet, which resamples with OpenCV.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_cvimresize) {
  c.recorded();
  // By hand: the taps of a doubled row are at -1/4, 1/4, 3/4, 5/4 of its two pixels.
  c.add("linear, in numbers")
      .attr("w", 4)
      .attr("h", 1)
      .in({1, 2, 1}, {0, 8})
      .dtypes({DType::kFloat32, DType::kFloat64})
      .no_grad()
      .ref({0, 2, 6, 8});
  c.add("area, in numbers")
      .attr("w", 2)
      .attr("h", 1)
      .attr("interp", 3)
      .in({2, 3, 1}, {1, 2, 3, 5, 6, 7})
      .dtypes({DType::kFloat64})
      .tolerance(DType::kFloat64, 1e-6)  // OpenCV's shares are float
      .no_grad()
      .ref({(1 + 0.5 * 2 + 5 + 0.5 * 6) / 3, (3 + 0.5 * 2 + 7 + 0.5 * 6) / 3});
  c.add("no such method")
      .attr("w", 2)
      .attr("h", 2)
      .attr("interp", 5)
      .in({2, 2, 3})
      .raises("interp");
  c.add("no size").attr("w", 0).attr("h", 2).in({2, 2, 3}).raises("w");
  c.add("no image").attr("w", 2).attr("h", 2).in({2, 2}).raises("height, width, channels");
  c.add("an empty image").attr("w", 2).attr("h", 2).in({0, 2, 3}).raises("empty");
  c.add("whole numbers")
      .attr("w", 2)
      .attr("h", 2)
      .in_indices({3, 3, 1}, 9)
      .dtypes({DType::kInt32})
      .raises("uint8, float32 or float64");
}

OP_CASES(_image_resize) {
  c.recorded();
  c.add("three numbers").attr("size", "(1, 2, 3)").in({2, 2, 3}).raises("(1, 2, 3)");
  c.add("no size").in({2, 2, 3}).raises("size");
  c.add("negative").attr("size", "(-1, 2)").in({2, 2, 3}).raises("positive");
}

}  // namespace
}  // namespace symbind
