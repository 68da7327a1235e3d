// Axes in another order: recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(transpose) {
  c.recorded();
  c.add("shapes flow back")
      .attr("axes", "(1, 2, 0)")
      .in({2, 1, 3}, {1, 2, 3, 4, 5, 6})
      .ref({1, 4, 2, 5, 3, 6})
      .recovers({0});
  c.add("an axis twice").attr("axes", "(0, 0)").in({2, 2}).raises("twice");
}
OP_CASES(SwapAxis) {
  c.recorded();
  c.add("shapes flow back")
      .attr("dim1", 0)
      .attr("dim2", 1)
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .ref({1, 4, 2, 5, 3, 6})
      .recovers({0});
}

}  // namespace
}  // namespace symbind
