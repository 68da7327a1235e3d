// L2Normalization: recorded.

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(L2Normalization) {
  c.recorded();
  c.add("a long row").in({2, 3, 50}).ref([](const HostTensors& in) {
    HostTensor y = in[0];
    for (std::size_t row = 0; row < 2; ++row) {
      double sum = double{1e-10f};
      for (std::size_t i = 0; i < 150; ++i) sum += y[row * 150 + i] * y[row * 150 + i];
      for (std::size_t i = 0; i < 150; ++i) y[row * 150 + i] /= std::sqrt(sum);
    }
    return y;
  });
  c.add("a matrix has no positions").attr("mode", "spatial").in({2, 3}).raises("rank 3");
}

}  // namespace
}  // namespace symbind
