// BilinearSampler, GridGenerator and SpatialTransformer: recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(BilinearSampler) {
  c.recorded();
  c.add("far outside is nothing")
      .in({1, 1, 2, 2}, {1, 2, 3, 4})
      .in({1, 2, 1, 3}, {1e30, 0, -1, 0, 0, -1})
      .no_grad()
      .dtypes({DType::kFloat32, DType::kFloat64})
      .ref({0, 2.5, 1});
}

OP_CASES(GridGenerator) {
  c.recorded();
  c.add("no size").attr("transform_type", "affine").in({1, 6}).raises("target_shape");
}

OP_CASES(SpatialTransformer) {
  c.recorded();
  c.add("one element reads the corner")
      .attr("transform_type", "affine")
      .attr("sampler_type", "bilinear")
      .attr("target_shape", "(1, 1)")
      .in({1, 1, 2, 2}, {5, 6, 7, 8})
      .in({1, 6}, {1, 0, 0, 0, 1, 0})
      .no_grad()
      .ref({5});
}

}  // namespace
}  // namespace symbind
