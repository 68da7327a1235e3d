// The index of the largest element; of equal ones the first.

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(argmax) {
  c.add("along an axis").attr("axis", 1).in({2, 4}, {1, 5, 5, 2, 7, 3, 9, 1}).ref({1, 2}).no_grad();
  c.add("along the first axis, kept")
      .attr("axis", 0)
      .attr("keepdims", true)
      .in({2, 2}, {1, 5, 7, 3})
      .ref({1, 0})
      .no_grad();
  c.add("of everything").in({2, 3}, {1, 5, 2, 7, 3, 9}).ref({5}).no_grad();
  c.add("integers keep their type")
      .attr("axis", -1)
      .in({2, 3}, {1, 5, 2, 7, 3, 9})
      .ref({1, 2})
      .dtypes({DType::kInt32})
      .no_grad();
  const double nan = std::nan("");
  c.add("the first NaN")
      .attr("axis", 1)
      .in({3, 3}, {1, nan, 3, nan, 2, nan, 3, 1, nan})
      .ref({1, 0, 2})
      .no_grad();
}
OP_CASES(argmin) {
  c.add("along an axis").attr("axis", 1).in({2, 4}, {4, 1, 1, 2, 7, 3, 9, 2}).ref({1, 3}).no_grad();
  c.add("of everything, kept").attr("keepdims", true).in({2, 2}, {4, 1, 0, 2}).ref({2}).no_grad();
}
OP_CASES(argmax_channel) {
  c.add("rows").in({2, 3}, {1, 5, 2, 7, 3, 9}).ref({1, 2}).no_grad();
  c.add("axis 1 of three").in({1, 2, 2}, {1, 5, 2, 3}).ref({1, 0}).no_grad();
}

}  // namespace
}  // namespace symbind
