// Eigenvalues: recorded, and a matrix by hand.

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

// Reading one triangle, its gradient is symmetric: differences of single elements do not show it.
// GoldenOps replays what MXNet gives.
OP_CASES(_linalg_syevd) {
  c.recorded([](OpCase& k) { k.no_grad(); });
  const double r = std::sqrt(0.5);
  c.add("in numbers")
      .in({2, 2}, {2, 99, 1, 2})
      .dtypes({DType::kFloat32, DType::kFloat64})
      .no_grad()
      .ref([r](const HostTensors&) {
        return HostTensors{{{2, 2}, {r, -r, r, r}}, {{2}, {1, 3}}};
      });
  c.add("no square").in({2, 3}).raises("square matrices are needed");
}

}  // namespace
}  // namespace symbind
