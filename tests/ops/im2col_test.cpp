// im2col and col2im: two axes are recorded, one and three written from the definition.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// Patches of a line of 5 under a window of 2 with dilation 2, padded by 1: at position o tap k
/// is at o − 1 + 2k.
HostTensors patches_of_a_line(const HostTensors& in) {
  HostTensor y({2, 4, 5});
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t row = 0; row < 4; ++row)
      for (std::int64_t o = 0; o < 5; ++o) {
        const std::int64_t at = o - 1 + 2 * (row % 2);
        if (at >= 0 && at < 5) y.at({n, row, o}) = in[0].at({n, row / 2, at});
      }
  return {y};
}

OP_CASES(im2col) {
  c.recorded();
  c.add("1-D")
      .attr("kernel", "(2,)")
      .attr("dilate", "(2,)")
      .attr("pad", "(1,)")
      .in({2, 2, 5})
      .ref(patches_of_a_line);
  c.add("3-D, the window as large as the image")
      .attr("kernel", "(2, 1, 2)")
      .in({1, 2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8})
      .ref({1, 2, 3, 4, 5, 6, 7, 8});
  c.add("a window too large").attr("kernel", "(3, 3)").in({1, 1, 2, 4}).raises("covers 3");
  c.add("an axis too few").attr("kernel", "(3, 3)").in({1, 1, 5}).raises("axis per kernel's");
  c.add("no axis").attr("kernel", "()").in({1, 1, 5}).raises("1, 2 or 3 axes");
  c.add("steps of nothing")
      .attr("kernel", "(2,)")
      .attr("stride", "(0,)")
      .in({1, 1, 5})
      .raises("stride (0,) must be positive");
}

OP_CASES(col2im) {
  c.recorded();
  c.add("1-D: what overlaps is added")
      .attr("kernel", "(2,)")
      .attr("output_size", "(3,)")
      .in({1, 2, 2}, {1, 2, 10, 20})
      .ref({1, 12, 20});
  c.add("3-D: padding is dropped")
      .attr("kernel", "(1, 1, 2)")
      .attr("output_size", "(2, 1, 1)")
      .attr("pad", "(0, 0, 1)")
      .in({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})
      .ref({2 + 5, 4 + 7});
  c.add("rows that are no patches")
      .attr("kernel", "(2, 2)")
      .attr("output_size", "(2, 2)")
      .in({1, 3, 1})
      .raises("not a multiple");
  c.add("another number of positions")
      .attr("kernel", "(2, 2)")
      .attr("output_size", "(3, 3)")
      .in({1, 4, 3})
      .raises("positions");
  c.add("a size with an axis too few")
      .attr("kernel", "(2, 2)")
      .attr("output_size", "(3,)")
      .in({1, 4, 4})
      .raises("output_size (3,)");
}

}  // namespace
}  // namespace symbind
