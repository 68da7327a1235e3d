// Boxes left of those that overlap: recordings of MXNet, and rows by hand.

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_box_nms) {
  // No difference quotient shows these gradients (GoldenOps replays them): a box changes its format
  // in the output alone, and a class is a kink.
  c.recorded([](OpCase& recorded) {
    for (const char* key : {"in_format", "out_format", "id_index"})
      if (recorded.attrs().contains(key)) recorded.no_grad();
  });
  const std::vector<double> rows = {0, 0.5,   0.125, 0.125, 0.25,   0.25,   //
                                    1, 0.25,  0.125, 0.125, 0.25,   0.25,   //
                                    2, 0.75,  0.5,   0.5,   0.75,   0.875,  //
                                    0, 0.125, 0.125, 0.125, 0.1875, 0.1875};
  c.add("in numbers")
      .attr("id_index", 0)
      .attr("overlap_thresh", 0.125)
      .in({4, 6}, rows)
      .no_grad()
      .recovers({0})
      .ref({2, 0.75, 0.5,   0.5,   0.75, 0.875, 0,  0.5, 0.125, 0.125, 0.25, 0.25,
            1, 0.25, 0.125, 0.125, 0.25, 0.25,  -1, -1,  -1,    -1,    -1,   -1});
  c.add("a box beyond the edge changes its format as well")
      .attr("out_format", "center")
      .in({1, 6}, {0, 0.5, -0.5, -0.25, 0.5, 0.25})
      .no_grad()
      .ref({0, 0.5, 0, 0, 1, 0.5});
  c.add("a score that is no number is no object")
      .in({2, 6}, {0, std::nan(""), 0, 0, 1, 1, 0, 0.5, 0, 0, 1, 1})
      .no_grad()
      .ref({0, 0.5, 0, 0, 1, 1, -1, -1, -1, -1, -1, -1});
  c.add("no boxes").in({2, 0, 6}).no_grad().ref(std::vector<double>{});
  c.add("a vector").in({6}).raises("(…, boxes, width)");
  c.add("narrow rows").in({2, 5}).raises("coordinates 2 to 5 are outside a row of 5");
  c.add("no such score").attr("score_index", 6).in({2, 6}).raises("score_index 6 is outside");
  c.add("a coordinate as class").attr("id_index", 3).in({2, 6}).raises("one of the coordinates");
  c.add("the score as class").attr("id_index", 1).in({2, 6}).raises("are both 1");
}

}  // namespace
}  // namespace symbind
