// Cast: recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(Cast) {
  c.recorded();
  c.add("gradients come back in the input's type")
      .attr("dtype", "float64")
      .in({2, 3})
      .ref([](double x) { return x; })
      .dtypes({DType::kFloat32, DType::kFloat16});
}

}  // namespace
}  // namespace symbind
