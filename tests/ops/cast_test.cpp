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

OP_CASES(amp_cast) {
  // What goes into float16 has another gradient than float64, which stays: the replay compares it.
  c.recorded([](OpCase& r) { r.no_grad(); });
  c.add("to float32").attr("dtype", "float32").in({2, 3}).ref([](double x) { return x; });
  c.add("float64 stays")  // else 1 + 2^-30 would be 1
      .attr("dtype", "float32")
      .in({2}, {1 + 0x1p-30, 2})
      .dtypes({DType::kFloat64})
      .ref({1 + 0x1p-30, 2});
}
OP_CASES(amp_multicast) {
  c.recorded([](OpCase& r) { r.no_grad(); });
  c.add("both as they are")
      .attr("num_outputs", 2)
      .in({2, 3})
      .in({4})
      .ref([](const HostTensors& in) { return in; })
      .dtypes({DType::kFloat32, DType::kFloat16, DType::kFloat64});
}

}  // namespace
}  // namespace symbind
