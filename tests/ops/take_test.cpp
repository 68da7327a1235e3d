// Rows by index: Embedding recorded, take in numbers.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(Embedding) { c.recorded(); }
OP_CASES(take) {
  c.add("rows").in({3, 2}, {1, 2, 3, 4, 5, 6}).in({2}, {2, 0}).no_grad(1).ref({5, 6, 1, 2});
  c.add("columns")
      .attr("axis", 1)
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .in({2}, {2, 2})
      .no_grad(1)
      .ref({3, 3, 6, 6});
  c.add("out of range is clipped")
      .in({3}, {1, 2, 3})
      .in({2, 2}, {-1, 0, 2, 7})
      .no_grad(1)
      .ref({1, 1, 3, 3});
  c.add("out of range wraps")
      .attr("mode", "wrap")
      .in({3}, {1, 2, 3})
      .in({4}, {-1, 3, 4, -3})
      .no_grad(1)
      .ref({3, 1, 2, 1});
  c.add("a middle axis")
      .attr("axis", -2)
      .in({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})
      .in({1}, {1})
      .no_grad(1)
      .ref({3, 4, 7, 8});
}

}  // namespace
}  // namespace symbind
