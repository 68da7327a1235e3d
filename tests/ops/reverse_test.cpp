// Axes run backwards.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(reverse) {
  c.recorded();
  c.add("negative axis")
      .attr("axis", "(-1,)")
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .recovers({0})
      .ref({3, 2, 1, 6, 5, 4});
  c.add("twice").attr("axis", "(1, 1)").in({2, 2}, {1, 2, 3, 4}).ref({1, 2, 3, 4});
  c.add("integers")
      .attr("axis", 0)
      .in({3}, {1, 2, 3})
      .dtypes({DType::kInt8})
      .no_grad()
      .ref({3, 2, 1});
  c.add("no such axis").attr("axis", 2).in({2, 3}).raises("axis");
}

}  // namespace
}  // namespace symbind
