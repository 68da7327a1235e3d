// Elements by tuples of indices, and back.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(gather_nd) {
  c.recorded();
  c.add("elements")
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .in({2, 3}, {0, 1, 1, 2, 0, -1})
      .no_grad(1)
      .ref({3, 4, 6});
  c.add("rows, one twice")
      .in({3, 2}, {1, 2, 3, 4, 5, 6})
      .in({1, 3}, {2, 0, 2})
      .no_grad(1)
      .ref({5, 6, 1, 2, 5, 6});
  c.add("too far")
      .in({2, 3})
      .in({2, 1}, {0, 3})
      .no_grad()
      .raises("index 3 is out of bounds for axis 1 with size 3");
  c.add("too far before").in({2, 3}).in({1, 2}, {0, -3}).no_grad().raises("index -3");
  c.add("flat indices").in({2, 3}).in({2}).raises("2 axes or more");
  c.add("too many axes").in({2}).in({2, 3}).raises("index 2 axes");
}
OP_CASES(scatter_nd) {
  c.recorded();
  c.add("the last of equal places")
      .attr("shape", "(4,)")
      .in({3}, {1, 2, 3})
      .in({1, 3}, {1, 1, -1})
      .no_grad()
      .ref({0, 2, 0, 3});
  c.add("rows")
      .attr("shape", "(3, 2)")
      .in({2, 2}, {1, 2, 3, 4})
      .in({1, 2}, {2, 0})
      .no_grad(1)
      .ref({3, 4, 0, 0, 1, 2});
  c.add("too far")
      .attr("shape", "(3,)")
      .in({1})
      .in({1, 1}, std::vector<double>{3})
      .no_grad()
      .raises("index 3");
  c.add("not the shape")
      .attr("shape", "(3, 2)")
      .in({2, 3})
      .in({1, 2})
      .raises("the indices' positions, then the axes without an index");
}
OP_CASES(_backward_gather_nd) {
  c.recorded();
  c.add("equal places add up")
      .attr("shape", "(4,)")
      .in({3}, {1, 2, 3})
      .in({1, 3}, {1, 1, -1})
      .no_grad(1)
      .ref({0, 3, 0, 3});
}
OP_CASES(_scatter_set_nd) {
  c.recorded();
  c.add("over what was there")
      .attr("shape", "(2, 2)")
      .in({2, 2}, {1, 2, 3, 4})
      .in({2}, {8, 9})
      .in({2, 2}, {0, -1, 1, 0})
      .no_grad()
      .ref({1, 8, 9, 4});
}

}  // namespace
}  // namespace symbind
