// Correlation: recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(Correlation) {
  c.recorded();
  c.add("in numbers")
      .attr("max_displacement", 0)
      .in({1, 2, 1, 2}, {1, 2, 3, 4})
      .in({1, 2, 1, 2}, {5, 6, 7, 8})
      .recovers({1})
      .ref({13, 22});
  c.add("nothing is left")
      .attr("max_displacement", 2)
      .in({1, 1, 4, 4})
      .in({1, 1, 4, 4})
      .raises("pad");
  c.add("an even patch").attr("kernel_size", 2).in({1, 1, 6, 6}).in({1, 1, 6, 6}).raises("odd");
}

}  // namespace
}  // namespace symbind
