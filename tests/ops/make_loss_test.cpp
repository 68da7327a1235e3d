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
  c.add("batch, 3-D")
      .attr("normalization", "batch")
      .attr("grad_scale", 2)
      .in({4, 2, 3})
      .ref(same)
      .grad_ref(constant(0.5));
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
