// Deconvolution: recorded, and against the definition at blocked sizes.

#include <gtest/gtest.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// 4×4 with stride 2, pad 1: every extent doubles.
HostTensor double_size(const HostTensors& in) {
  const HostTensor &x = in[0], &w = in[1];
  HostTensor y(Shape{x.shape[0], w.shape[1], 2 * x.shape[2], 2 * x.shape[3]});
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t f = 0; f < w.shape[1]; ++f)
      for (std::int64_t i = 0; i < y.shape[2]; ++i)
        for (std::int64_t j = 0; j < y.shape[3]; ++j) {
          double sum = in.size() > 2 ? in[2][static_cast<std::size_t>(f)] : 0;
          for (std::int64_t c = 0; c < x.shape[1]; ++c)
            for (std::int64_t k = 0; k < 16; ++k) {
              const std::int64_t row = i + 1 - k / 4, column = j + 1 - k % 4;
              if (row < 0 || column < 0 || row % 2 != 0 || column % 2 != 0) continue;
              if (row / 2 >= x.shape[2] || column / 2 >= x.shape[3]) continue;
              sum += x.at({n, c, row / 2, column / 2}) * w.at({c, f, k / 4, k % 4});
            }
          y.at({n, f, i, j}) = sum;
        }
  return y;
}

OP_CASES(Deconvolution) {
  c.recorded();
  const auto doubled = [&](const std::string& name, bool bias) -> OpCase& {
    return c.add(name)
        .attr("kernel", "(4, 4)")
        .attr("stride", "(2, 2)")
        .attr("pad", "(1, 1)")
        .attr("num_filter", 16)
        .attr("no_bias", !bias)
        .in({2, 32, 3, 4})
        .in({32, 16, 4, 4}, -0.25, 0.25);
  };
  doubled("blocked sizes", false).recovers({1}).ref(double_size);
  doubled("blocked sizes, bias", true).in({16}).recovers({1, 2}).ref(double_size);
  const auto bad = [&](const std::string& name) -> OpCase& {
    return c.add(name).attr("num_filter", 2).in({1, 2, 3, 3});
  };
  bad("adj of the stride")
      .attr("kernel", "(3, 3)")
      .attr("stride", "(2, 2)")
      .attr("adj", "(2, 1)")
      .in({2, 2, 3, 3})
      .raises("adj (2, 1)");
  bad("a target too big")
      .attr("kernel", "(3, 3)")
      .attr("target_shape", "(9, 9)")
      .in({2, 2, 3, 3})
      .raises("target_shape (9, 9) is too big");
  bad("a kernel of another rank").attr("kernel", "(3,)").in({2, 2, 3}).raises("1-D");
}

}  // namespace
}  // namespace symbind
