// Triangular matrices: products, and the systems they solve.

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

const std::vector<DType> kTypes = {DType::kFloat32, DType::kFloat64};

OP_CASES(_linalg_trmm) {
  c.recorded();
  c.add("only the lower triangle is read")
      .in({2, 2}, {2, 9, 1, 3})
      .in({2, 2}, {1, 2, 3, 4})
      .dtypes(kTypes)
      .recovers({0})
      .ref({2, 4, 10, 14});
  c.add("half precision")
      .in({2, 2})
      .in({2, 2})
      .dtypes({DType::kFloat16})
      .raises("float32 or float64");
}
OP_CASES(_linalg_trsm) {
  c.recorded();
  c.add("only the upper triangle is read")
      .attr("lower", false)
      .in({2, 2}, {2, 4, 9, 8})
      .in({2, 1}, {10, 16})
      .dtypes(kTypes)
      .recovers({0})
      .ref({1, 2});
  c.add("no square").in({2, 3}).in({2, 3}).raises("square matrices are needed");
  c.add("does not fit").attr("rightside", true).in({2, 2}).in({2, 3}).raises("fits B");
}
OP_CASES(_linalg_sumlogdiag) {
  c.recorded();
  c.add("in numbers").in({2, 2}, {2, 9, -1, 4}).dtypes(kTypes).ref({std::log(8.0)});
  c.add("no square").in({2, 3}).raises("square matrices are needed");
}

}  // namespace
}  // namespace symbind
