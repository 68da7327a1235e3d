// Factors of matrices: recorded; products of the factors give the matrix again.

#include <gtest/gtest.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

const std::vector<DType> kTypes = {DType::kFloat32, DType::kFloat64};

// The gradient of potrf is symmetric though it reads one triangle: differences of single elements
// do not show it. GoldenOps replays what MXNet gives.
OP_CASES(_linalg_potrf) {
  c.recorded([](OpCase& k) { k.no_grad(); });
  c.add("in numbers")
      .in({2, 2}, {4, 99, 2, 10})
      .dtypes(kTypes)
      .no_grad()
      .recovers({0})
      .ref({2, 0, 1, 3});
  c.add("upper, in numbers")
      .attr("lower", false)
      .in({2, 2}, {4, 99, 2, 10})
      .dtypes(kTypes)
      .no_grad()
      .recovers({0})
      .ref({2, 1, 0, 3});
  c.add("not positive")
      .in({2, 2}, {1, 2, 2, 1})
      .no_grad()
      .raises("matrix 0 is not symmetric and positive definite: its leading minor of order 2");
  c.add("no square").in({2, 3}).raises("square matrices are needed");
  c.add("half precision").in({2, 2}).dtypes({DType::kFloat16}).raises("float32 or float64");
}
OP_CASES(_linalg_potri) {
  c.recorded();
  c.add("in numbers")
      .in({2, 2}, {2, 99, 1, 3})
      .dtypes(kTypes)
      .ref({10.0 / 36, -2.0 / 36, -2.0 / 36, 4.0 / 36});
  c.add("no inverse").in({2, 2}, {1, 0, 2, 0}).no_grad().raises("element 1 of its diagonal is 0");
}
OP_CASES(_linalg_gelqf) {
  c.recorded();
  c.add("L · Q is A, Q · Qᵀ is 1")
      .in({2, 3, 7})
      .dtypes(kTypes)
      .property([](const HostTensors& in, const HostTensors& out) {
        const HostTensor &a = in[0], &q = out[0], &l = out[1];
        for (std::size_t b = 0; b < 2; ++b) {
          for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 7; ++j) {
              double sum = 0;
              for (std::size_t k = 0; k <= i; ++k)
                sum += l[(b * 3 + i) * 3 + k] * q[(b * 3 + k) * 7 + j];
              EXPECT_NEAR(sum, a[(b * 3 + i) * 7 + j], 1e-5);
            }
            for (std::size_t k = 0; k < 3; ++k) {
              double sum = 0;
              for (std::size_t j = 0; j < 7; ++j)
                sum += q[(b * 3 + i) * 7 + j] * q[(b * 3 + k) * 7 + j];
              EXPECT_NEAR(sum, i == k ? 1 : 0, 1e-5);
              if (k > i) {
                EXPECT_EQ(l[(b * 3 + i) * 3 + k], 0);
              }
            }
          }
        }
      });
  c.add("tall").in({3, 2}).raises("transpose the matrix");
}

}  // namespace
}  // namespace symbind
