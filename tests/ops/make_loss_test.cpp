// MakeLoss: recorded, and what counts as valid.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

HostTensor same(const HostTensors& in) { return in[0]; }

OP_CASES(MakeLoss) {
  c.recorded();
  const auto constant = [](double value) {
    return [value](const HostTensors& in) {
      HostTensor d(in[0].shape);
      for (double& v : d.values) v = value;
      return HostTensors{d};
    };
  };
  // The rows of the data flattened to a matrix, as MXNet 1.9.1 counts them.
  const std::pair<Shape, double> rows[] = {{{4}, 1},    {{1}, 1},        {{4, 3}, 4},
                                           {{5, 1}, 5}, {{4, 3, 2}, 12}, {{2, 3, 4, 5}, 24}};
  for (const auto& [shape, count] : rows) {
    c.add("batch, " + shape.str())
        .attr("normalization", "batch")
        .attr("grad_scale", 2)
        .in(shape)
        .ref(same)
        .grad_ref(constant(2 / count));
  }
  c.add("the threshold itself is not above it")
      .attr("normalization", "valid")
      .attr("valid_thresh", 0.5)
      .in({5}, {0.5, 0.75, 1, -1, 0.25})
      .ref(same)
      .grad_ref(constant(0.5));
  c.add("nothing valid divides by 1")
      .attr("normalization", "valid")
      .in({3}, {-1, -2, 0})
      .ref(same)
      .grad_ref(constant(1));
}

}  // namespace
}  // namespace symbind
