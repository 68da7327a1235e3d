// Joining and cutting: recorded; blocked layouts where the channels have whole blocks.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

HostTensor join_channels(const HostTensors& in) {
  Shape shape = in[0].shape;
  shape[1] = 0;
  for (const HostTensor& x : in) shape[1] += x.shape[1];
  HostTensor y(shape);
  std::size_t at = 0;
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (const HostTensor& x : in) {
      const auto row = static_cast<std::size_t>(x.shape.count(1));
      for (std::size_t i = 0; i < row; ++i) y[at++] = x[static_cast<std::size_t>(n) * row + i];
    }
  return y;
}

OP_CASES(Concat) {
  c.recorded();
  c.add("whole blocks").attr("num_args", 2).in({2, 16, 3, 2}).in({2, 32, 3, 2}).ref(join_channels);
  c.add("a part of a block")
      .attr("num_args", 2)
      .in({2, 16, 3, 2})
      .in({2, 5, 3, 2})
      .ref(join_channels);
  c.add("eights")
      .attr("num_args", 3)
      .in({1, 8, 2, 2})
      .in({1, 24, 2, 2})
      .in({1, 8, 2, 2})
      .ref(join_channels);
  c.add("another height")
      .attr("num_args", 2)
      .in({2, 3, 8, 8})
      .in({2, 3, 7, 7})
      .raises("every axis but axis 1");
}
OP_CASES(_rnn_param_concat) {
  c.add("vectors")
      .attr("num_args", 3)
      .attr("dim", 0)
      .in({2}, {1, 2})
      .in({2}, {3, 4})
      .in({3}, {5, 6, 7})
      .ref({1, 2, 3, 4, 5, 6, 7});
  c.add("another rank").attr("num_args", 2).attr("dim", 0).in({2}).in({2, 1}).raises("ranks");
}
OP_CASES(stack) {
  c.add("in front")
      .attr("num_args", 2)
      .in({2}, {1, 2})
      .in({2}, {3, 4})
      .ref({1, 2, 3, 4})
      .recovers({0, 1});
  c.add("at the end")
      .attr("num_args", 2)
      .attr("axis", -1)
      .in({2}, {1, 2})
      .in({2}, {3, 4})
      .ref({1, 3, 2, 4});
  c.add("between")
      .attr("num_args", 3)
      .attr("axis", 1)
      .in({2, 2}, {1, 2, 3, 4})
      .in({2, 2}, {5, 6, 7, 8})
      .in({2, 2}, {9, 10, 11, 12})
      .ref({1, 2, 5, 6, 9, 10, 3, 4, 7, 8, 11, 12});
  c.add("another shape").attr("num_args", 2).in({2}).in({3}).raises("(3,)");
}
OP_CASES(SliceChannel) {
  c.recorded();
  c.add("whole blocks").attr("num_outputs", 2).in({2, 32, 3, 2}).ref([](const HostTensors& in) {
    HostTensors parts;
    for (const std::int64_t first : {0, 1}) {
      Shape half = in[0].shape;
      half[1] /= 2;
      parts.push_back(from_coordinates(half, [&](Coordinates at) {
        at[1] += first * half[1];
        return in[0].at(at);
      }));
    }
    return parts;
  });
  c.add("no equal parts").attr("num_outputs", 2).in({2, 3}).raises("2 equal parts");
}

}  // namespace
}  // namespace symbind
