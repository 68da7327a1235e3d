// LayerNorm, InstanceNorm and GroupNorm: recorded, and against the definition at wider rows.

#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// Contiguous rows; gamma and beta by place in the row, or one for each of `parameters` rows.
HostTensor normalise(const HostTensors& in, std::size_t extent, bool by_place, double eps) {
  const HostTensor& x = in[0];
  HostTensor y(x.shape);
  for (std::size_t row = 0; row * extent < x.size(); ++row) {
    const auto at = [&](std::size_t i) { return x[row * extent + i]; };
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < extent; ++i) mean += at(i) / static_cast<double>(extent);
    for (std::size_t i = 0; i < extent; ++i)
      variance += (at(i) - mean) * (at(i) - mean) / static_cast<double>(extent);
    for (std::size_t i = 0; i < extent; ++i) {
      const std::size_t p = by_place ? i : row % in[1].size();
      y[row * extent + i] = (at(i) - mean) / std::sqrt(variance + eps) * in[1][p] + in[2][p];
    }
  }
  return y;
}

void shown_moments_pass_no_gradient(OpCase& c) {
  if (c.attrs().contains("output_mean_var")) c.no_grad();
}

OP_CASES(LayerNorm) {
  c.recorded(shown_moments_pass_no_gradient);
  c.add("wide rows")
      .in({3, 130})
      .in({130}, 0.5, 1.5)
      .in({130})
      .recovers({1, 2})
      .ref([](const HostTensors& in) { return normalise(in, 130, true, double{1e-5f}); });
  c.add("axis out of range").attr("axis", 2).in({2, 3}).in({3}).in({3}).raises("axis 2");
}

OP_CASES(InstanceNorm) {
  c.recorded();
  c.add("wide rows")
      .in({2, 3, 7, 9})
      .in({3}, 0.5, 1.5)
      .in({3})
      .recovers({1, 2})
      .ref([](const HostTensors& in) { return normalise(in, 63, false, double{1e-3f}); });
  c.add("a matrix has no positions").in({2, 3}).in({3}).in({3}).raises("spatial");
}

OP_CASES(GroupNorm) {
  c.recorded(shown_moments_pass_no_gradient);
  c.add("wide rows")
      .attr("num_groups", 2)
      .in({2, 4, 19})
      .in({2}, 0.5, 1.5)
      .in({2})
      .recovers({1, 2})
      .ref([](const HostTensors& in) { return normalise(in, 38, false, double{1e-5f}); });
  c.add("groups do not divide").attr("num_groups", 3).in({2, 4, 2}).in({3}).in({3}).raises("divis");
}

}  // namespace
}  // namespace symbind
