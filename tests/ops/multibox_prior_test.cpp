// Anchors, against recordings of MXNet.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_MultiBoxPrior) {
  c.recorded();
  c.add("in numbers")
      .attr("sizes", "(0.5, 1)")
      .attr("ratios", "(1, 4)")
      .in({1, 1, 1, 1})
      .no_grad()
      .ref({0.25, 0.25, 0.75, 0.75, 0, 0, 1, 1, 0, 0.375, 1, 0.625});
  c.add("no sizes").attr("sizes", "()").in({1, 1, 2, 2}).raises("sizes and ratios");
  c.add("no ratio").attr("ratios", "(1, 0)").in({1, 1, 2, 2}).raises("ratio 0 is not positive");
  c.add("one step").attr("steps", "(0.5, -1)").in({1, 1, 2, 2}).raises("steps");
}

}  // namespace
}  // namespace symbind
