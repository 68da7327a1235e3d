// Borders, in numbers.

#include <string>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// One row above, two columns to the right, by reflection.
HostTensor reflected(const HostTensors& in) {
  const Shape& x = in[0].shape;
  return from_coordinates({x[0], x[1], x[2] + 1, x[3] + 2}, [&](Coordinates at) {
    at[2] = at[2] == 0 ? 1 : at[2] - 1;
    if (at[3] >= x[3]) at[3] = 2 * (x[3] - 1) - at[3];
    return in[0].at(at);
  });
}

OP_CASES(Pad) {
  const std::string width = "(0, 0, 0, 0, 1, 0, 0, 2)";
  c.add("constant")
      .attr("mode", "constant")
      .attr("pad_width", width)
      .attr("constant_value", 9.0)
      .in({1, 1, 2, 2}, {1, 2, 3, 4})
      .ref({9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9, 9});
  c.add("edge")
      .attr("mode", "edge")
      .attr("pad_width", width)
      .in({1, 1, 2, 2}, {1, 2, 3, 4})
      .ref({1, 2, 2, 2, 1, 2, 2, 2, 3, 4, 4, 4});
  c.add("reflect")
      .attr("mode", "reflect")
      .attr("pad_width", width)
      .in({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6})
      .ref({4, 5, 6, 5, 4, 1, 2, 3, 2, 1, 4, 5, 6, 5, 4});
  c.add("planes")
      .attr("mode", "edge")
      .attr("pad_width", "(0, 0, 0, 0, 0, 0, 1, 0)")
      .in({1, 2, 1, 2}, {1, 2, 3, 4})
      .ref({1, 1, 2, 3, 3, 4});
  c.add("five axes")
      .attr("mode", "constant")
      .attr("pad_width", "(0, 0, 0, 0, 1, 0, 0, 0, 0, 1)")
      .in({1, 1, 1, 1, 2}, {1, 2})
      .ref({0, 0, 0, 1, 2, 0});
  for (const std::int64_t channels : {8, 32})
    c.add("blocks of " + std::to_string(channels) + " channels")
        .attr("mode", "reflect")
        .attr("pad_width", width)
        .in({2, channels, 3, 4})
        .ref(reflected);
  c.add("channels")
      .attr("mode", "edge")
      .attr("pad_width", "(0, 0, 1, 0, 0, 0, 0, 0)")
      .in({1, 1, 2, 2})
      .raises("axes 2 and up");
  c.add("two axes")
      .attr("mode", "edge")
      .attr("pad_width", "(1, 1, 1, 1)")
      .in({2, 2})
      .raises("rank 4 or 5");
}

}  // namespace
}  // namespace symbind
