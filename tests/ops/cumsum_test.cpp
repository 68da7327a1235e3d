// Running sums.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(cumsum) {
  c.recorded();
  c.add("last axis")
      .attr("axis", -1)
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .recovers({0})
      .ref({1, 3, 6, 4, 9, 15});
  c.add("first axis").attr("axis", 0).in({2, 3}, {1, 2, 3, 4, 5, 6}).ref({1, 2, 3, 5, 7, 9});
  c.add("one row").in({2, 2}, {1, 2, 3, 4}).ref({1, 3, 6, 10});
  c.add("no such axis").attr("axis", 2).in({2, 3}).raises("axis");
}

}  // namespace
}  // namespace symbind
