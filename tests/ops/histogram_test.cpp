// Bins: recorded, and counted one by one.

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_histogram) {
  c.recorded();
  const double nan = std::nan("");
  c.add("ends, outside, NaN")
      .attr("bin_cnt", 2)
      .attr("range", "(0, 4)")
      .in({7}, {0, 2, 4, 4.5, -1, nan, 1})
      .no_grad()
      .ref([](const HostTensors&) {
        return HostTensors{HostTensor(Shape{2}, {2, 2}), HostTensor(Shape{3}, {0, 2, 4})};
      });
  c.add("many")
      .in({300, 400}, 0, 1)
      .in({3}, {0.0, 0.5, 1.0})
      .no_grad()
      .dtypes({DType::kFloat32, DType::kFloat64})
      .ref([](const HostTensors& in) {
        HostTensor counts(Shape{2});
        for (std::size_t i = 0; i < in[0].size(); ++i) counts[in[0][i] < 0.5 ? 0 : 1] += 1;
        return HostTensors{counts, in[1]};
      });
  c.add("range alone").attr("range", "(0, 1)").in({3}).raises("belong together");
  c.add("falling range")
      .attr("bin_cnt", 2)
      .attr("range", "(1, 0)")
      .in({3})
      .raises("must not descend");
  c.add("no bins").attr("bin_cnt", 0).attr("range", "(0, 1)").in({3}).raises("bin_cnt");
  c.add("one bound").in({3}).in({1}).raises("two bounds");
}

}  // namespace
}  // namespace symbind
