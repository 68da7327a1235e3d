// ROIAlign: recorded, and a bin by hand.

#include <limits>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OpCase& align(OpCase& c, const char* size = "(1, 1)") {
  return c.attr("pooled_size", size).attr("spatial_scale", 1.0);
}

OP_CASES(_contrib_ROIAlign) {
  // Regions get no gradient, and their numbers stay what they are in every type.
  c.recorded([](OpCase& recorded) { recorded.no_grad(1); });
  align(c.add("the middle of four pixels"))
      .attr("sample_ratio", 1)
      .in({1, 1, 2, 2}, {1, 2, 3, 6})
      .in({1, 5}, {0, 0, 0, 1, 1})
      .no_grad(1)
      .ref({3});
  align(c.add("a region of no image"))
      .in({1, 1, 2, 2})
      .in({2, 5}, {-1, 0, 0, 1, 1, 1, 0, 0, 1, 1})
      .no_grad(1)
      .ref({0, 0});
  align(c.add("images without pixels"))
      .in({1, 2, 0, 3})
      .in({1, 5}, {0, 0, 0, 1, 1})
      .no_grad()
      .ref({0, 0});
  align(c.add("more points than pixels"))
      .attr("sample_ratio", 1000000)
      .in({1, 1, 2, 2})
      .in({1, 5}, {0, 0, 0, 1, 1})
      .raises("1000000 points in a bin");
  align(c.add("aligned without a size"))
      .attr("aligned", true)
      .in({1, 1, 2, 2})
      .in({1, 5}, {0, 1, 1, 1, 2})
      .raises("must have a size");
  align(c.add("a region of infinite size"))
      .in({1, 1, 2, 2})
      .in({1, 5}, {0, 0, 0, std::numeric_limits<double>::infinity(), 1})
      .raises("is outside any image");
  align(c.add("no size"), "(0, 2)").in({1, 1, 2, 2}).in({1, 5}).raises("pooled_size (0, 2)");
  align(c.add("channels of no bin"), "(2, 2)")
      .attr("position_sensitive", true)
      .in({1, 6, 2, 2})
      .in({1, 5})
      .raises("6 channels cannot be divided among the 4 bins");
}

}  // namespace
}  // namespace symbind
