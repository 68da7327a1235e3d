// 8 bits: recorded from MXNet's own kernels, and the borders of ranges by hand.

#include <limits>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

const std::vector<DType> kFloat = {DType::kFloat32};

OP_CASES(_contrib_quantize) {
  c.recorded();
  c.add("outside of the range")
      .in({4}, {-1, 0.5, 1, 9})
      .in({1}, std::vector<double>{0})
      .in({1}, std::vector<double>{1})
      .dtypes(kFloat)
      .no_grad()
      .ref([](const HostTensors&) {
        return HostTensors{{{4}, {0, 128, 255, 255}}, {{1}, {0}}, {{1}, {1}}};
      });
  const double nan = std::numeric_limits<double>::quiet_NaN();
  c.add("no numbers, and a range of length 0")
      .attr("out_type", "int8")
      .in({3}, {nan, 5, -5})
      .in({1}, std::vector<double>{0})
      .in({1}, std::vector<double>{0})
      .dtypes(kFloat)
      .no_grad()
      .ref([](const HostTensors&) {
        return HostTensors{{{3}, {0, 0, 0}}, {{1}, {0}}, {{1}, {0}}};
      });
}

// The recordings have 255.5 and 127.5 levels: docs/from_mxnet.md.
OP_CASES(_contrib_dequantize) {
  c.add("uint8")
      .in({3}, {0, 51, 255})
      .in({1}, std::vector<double>{-1})
      .in({1}, std::vector<double>{4})
      .dtypes({DType::kUint8})
      .no_grad()
      .tolerance(DType::kUint8, 1e-6)
      .ref({-1, 0, 4});
  c.add("int8")
      .in({3}, {-127, 0, 127})
      .in({1}, std::vector<double>{-1})
      .in({1}, std::vector<double>{4})
      .dtypes({DType::kInt8})
      .no_grad()
      .tolerance(DType::kInt8, 1e-6)
      .ref({-4, 0, 4});
  c.add("floats").in({2}).in({1}).in({1}).dtypes(kFloat).raises("int8 or uint8 is dequantized");
}

OP_CASES(_contrib_requantize) {
  // The ranges are float32.
  c.recorded([](OpCase& recorded) { recorded.tolerance(DType::kInt32, 1e-6); });
}

}  // namespace
}  // namespace symbind
