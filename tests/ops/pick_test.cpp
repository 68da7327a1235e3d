// One element of every row, in numbers.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(pick) {
  c.add("last axis").in({2, 3}, {1, 2, 3, 4, 5, 6}).in({2}, {2, 0}).no_grad(1).ref({3, 4});
  c.add("first axis")
      .attr("axis", 0)
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .in({3}, {1, 0, 1})
      .no_grad(1)
      .ref({4, 2, 6});
  c.add("kept")
      .attr("keepdims", true)
      .in({2, 2}, {1, 2, 3, 4})
      .in({2}, {1, 1})
      .no_grad(1)
      .recovers({1})
      .ref({2, 4});
  c.add("clipped").in({2, 2}, {1, 2, 3, 4}).in({2}, {-5, 9}).no_grad(1).ref({1, 4});
  c.add("wrapped")
      .attr("mode", "wrap")
      .in({2, 2}, {1, 2, 3, 4})
      .in({2}, {-1, 2})
      .no_grad(1)
      .ref({2, 3});
  c.add("no axis").attr("axis", "None").in({2, 2}).in({2}).raises("axis");
}

}  // namespace
}  // namespace symbind
