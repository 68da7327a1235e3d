// DeformableConvolution: recorded, without offsets, and moved by hand.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_DeformableConvolution) {
  // Offsets of the recordings are drawn; a tap on a pixel's border is improbable.
  c.recorded();
  c.add("one tap, moved by a pixel and a half")
      .attr("kernel", "(1, 1)")
      .attr("num_filter", 1)
      .attr("no_bias", true)
      .in({1, 1, 2, 3}, {1, 2, 3, 10, 20, 30})
      .in({1, 2, 2, 3}, {0, 0, 0, 0, 0, 0, 1.5, 0.25, 0, -0.5, 0, 0.5})
      .in({1, 1, 1, 1}, std::vector<double>{2})
      .no_grad(1)
      .ref({5, 4.5, 6, 0, 40, 60});
  c.add("offsets that are far away are outside")
      .attr("kernel", "(1, 1)")
      .attr("num_filter", 1)
      .attr("no_bias", true)
      .in({1, 1, 1, 2})
      .in({1, 2, 1, 2}, {1e30, 0, 0, -1e30})
      .in({1, 1, 1, 1})
      .dtypes({DType::kFloat32, DType::kFloat64})
      .no_grad(1)
      .ref({0, 0});
  c.add("offsets of another size")
      .attr("kernel", "(2, 2)")
      .attr("num_filter", 1)
      .attr("no_bias", true)
      .in({1, 1, 3, 3})
      .in({1, 6, 2, 2})
      .in({1, 1, 2, 2})
      .raises("num_deformable_group");
  c.add("channels that are not divisible")
      .attr("kernel", "(1, 1)")
      .attr("num_filter", 1)
      .attr("no_bias", true)
      .attr("num_deformable_group", 2)
      .in({1, 3, 2, 2})
      .in({1, 4, 2, 2})
      .in({1, 3, 1, 1})
      .raises("num_deformable_group 2");
}

}  // namespace
}  // namespace symbind
