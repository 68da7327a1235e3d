// Boxes from anchors, recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_box_decode) {
  c.recorded([](OpCase& recorded) { recorded.no_grad(); });
  c.add("in numbers")
      .attr("std0", 0.5)
      .in({1, 1, 4}, {1, -1, 0, 0})
      .in({1, 1, 4}, {2, 3, 4, 2})
      .no_grad()
      .recovers({1})
      .ref({2, 0, 6, 2});
  c.add("other anchors").in({2, 3, 4}).in({1, 2, 4}).raises("the same anchors for every image");
}

}  // namespace
}  // namespace symbind
