// Overlaps of boxes, recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_box_iou) {
  c.recorded([](OpCase& recorded) { recorded.no_grad(); });
  c.add("in numbers")
      .in({2, 4}, {0.5, 0.5, 1, 1, 0, 0, 0.5, 0.5})
      .in({1, 4}, {0.25, 0.25, 0.75, 0.75})
      .no_grad()
      .ref({1.0 / 7, 1.0 / 7});
  c.add("three numbers").in({2, 3}).in({2, 4}).raises("lhs (2, 3) must be boxes of four numbers");
}

}  // namespace
}  // namespace symbind
