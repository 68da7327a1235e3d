// One array stretched to a shape, in numbers.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(broadcast_to) {
  c.add("rows").attr("shape", "(2, 3)").in({1, 3}, {1, 2, 3}).ref({1, 2, 3, 1, 2, 3});
  c.add("columns").attr("shape", "(2, 3)").in({2, 1}, {1, 2}).ref({1, 1, 1, 2, 2, 2});
  c.add("0 keeps").attr("shape", "(0, 2)").in({2, 1}, {1, 2}).ref({1, 1, 2, 2});
  c.add("both, with an axis between")
      .attr("shape", "(2, 2, 2)")
      .in({1, 2, 1}, {1, 2})
      .ref({1, 1, 2, 2, 1, 1, 2, 2});
  c.add("another rank").attr("shape", "(2, 3)").in({3}).raises("ranks differ");
  c.add("no 1").attr("shape", "(2, 3)").in({2, 2}).raises("extent is not 1");
}
OP_CASES(broadcast_axis) {
  c.add("one").attr("axis", 1).attr("size", 2).in({2, 1}, {1, 2}).ref({1, 1, 2, 2});
  c.add("two")
      .attr("axis", "(0, 2)")
      .attr("size", "(2, 2)")
      .in({1, 2, 1}, {1, 2})
      .ref({1, 1, 2, 2, 1, 1, 2, 2});
  c.add("too few sizes").attr("axis", "(0, 1)").attr("size", "(2,)").in({1, 1}).raises("sizes");
}
OP_CASES(broadcast_like) {
  c.add("all axes").in({1, 2}, {1, 2}).in({2, 2}).no_grad(1).ref({1, 2, 1, 2});
  c.add("one axis")
      .attr("lhs_axes", "(0,)")
      .attr("rhs_axes", "(-1,)")
      .in({1, 2}, {1, 2})
      .in({5, 2})
      .no_grad(1)
      .ref({1, 2, 1, 2});
}

}  // namespace
}  // namespace symbind
