// Products of the matrices in the last axes.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_linalg_gemm2) {
  c.recorded();
  c.add("in numbers").attr("alpha", 2).in({2, 2}, {1, 2, 3, 4}).in({2, 1}, {5, 6}).ref({34, 78});
  c.add("rows along the first axis")
      .attr("axis", 0)
      .in({2, 2, 1}, {1, 2, 3, 4})
      .in({1, 2, 2}, {5, 6, 7, 8})
      .ref({5, 6, 14, 16, 15, 18, 28, 32});
  c.add("unequal").in({2, 3}).in({2, 3}).raises("must be equal");
  c.add("other batches").in({2, 3, 4}).in({1, 4, 1}).raises("must agree on every axis");
  c.add("rows along the columns").attr("axis", -1).in({2, 2}).in({2, 2}).raises("columns");
  c.add("a vector").in({2}).in({2}).raises("2 axes or more");
}
OP_CASES(_linalg_gemm) {
  c.recorded();
  c.add("in numbers")
      .attr("beta", 3)
      .in({1, 2}, {1, 2})
      .in({2, 1}, {3, 4})
      .in({1, 1}, std::vector<double>{10})
      .recovers({2})
      .ref({41});
  c.add("C does not fit").in({1, 2}).in({2, 1}).in({2, 2}).raises("shape of the product");
}
OP_CASES(_linalg_syrk) {
  c.recorded();
  c.add("in numbers").in({2, 2}, {1, 2, 3, 4}).ref({5, 11, 11, 25});
  c.add("transposed").attr("transpose", true).in({2, 2}, {1, 2, 3, 4}).ref({10, 14, 14, 20});
}

}  // namespace
}  // namespace symbind
