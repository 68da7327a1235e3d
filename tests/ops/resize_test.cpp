// Adaptive average pooling and bilinear resizing: recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_AdaptiveAvgPooling2D) {
  c.recorded();
  c.add("in numbers").attr("output_size", "(1, 2)").in({1, 1, 1, 3}, {1, 3, 8}).ref({2, 5.5});
  c.add("nothing").attr("output_size", "(0, 2)").in({1, 1, 2, 2}).raises("output_size (0, 2)");
}

OP_CASES(_contrib_BilinearResize2D) {
  c.recorded();
  c.add("in numbers").attr("height", 1).attr("width", 3).in({1, 1, 1, 2}, {1, 2}).ref({1, 1.5, 2});
  c.add("a factor is missing").attr("mode", "odd_scale").in({1, 1, 3, 3}).raises("scale_height");
}

}  // namespace
}  // namespace symbind
