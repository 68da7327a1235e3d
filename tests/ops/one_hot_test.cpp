// Rows with one place set, in numbers.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(one_hot) {
  c.add("rows").attr("depth", 3).in({2}, {2, 0}).ref({0, 0, 1, 1, 0, 0}).no_grad();
  c.add("out of range").attr("depth", 2).in({3}, {-1, 2, 1}).ref({0, 0, 0, 0, 0, 1}).no_grad();
  c.add("other values")
      .attr("depth", 2)
      .attr("on_value", 8.0)
      .attr("off_value", -1.0)
      .in({2, 1}, {1, 0})
      .ref({-1, 8, 8, -1})
      .no_grad();
  c.add("int32").attr("depth", 2).attr("dtype", "int32").in({1}, {1}).ref({0, 1}).no_grad();
}

}  // namespace
}  // namespace symbind
