#include "tests/ops/elementwise_rows.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

const std::vector<double>& pairs(int side) {
  static const std::vector<double> left = {7, -7, 7, 0, 3, -2, 0}, right = {2, 2, -3, 5, 3, -2, 0};
  return side == 0 ? left : right;
}

OP_FAMILY(binary) {
  for (const BinaryRow& r : kBinaryRows) {
    c.op(r.elemwise)
        .add("values")
        .in({3, 4}, r.lo, r.hi)
        .in({3, 4}, r.lo, r.hi)
        .ref(r.f)
        .recovers({1});
    c.add("sixteen channels, as blocked layouts have them")
        .in({2, 16, 3, 2}, r.lo, r.hi)
        .in({2, 16, 3, 2}, r.lo, r.hi)
        .ref(r.f);
    c.add("unequal shapes").in({2, 3}).in({2, 1}).raises("needs operands of equal shape");
    if (!r.integers) continue;
    c.add("integers, ties")
        .in({7}, pairs(0))
        .in({7}, pairs(1))
        .ref(r.f)
        .dtypes({DType::kInt32, DType::kInt64, DType::kInt8});
  }
  c.op("_grad_add").add("values").in({3, 4}).in({3, 4}).ref([](double a, double b) {
    return a + b;
  });
  c.op("elemwise_div")
      .add("integers are cut")
      .in({4}, {7, -7, 7, 6})
      .in({4}, {2, 2, -2, 3})
      .ref([](double a, double b) { return std::trunc(a / b); })
      .dtypes({DType::kInt32, DType::kInt64});
  c.op("_mod")
      .add("integers have the divisor's sign")
      .in({4}, {7, -7, 7, -7})
      .in({4}, {2, 2, -2, -2})
      .ref(modulo)
      .dtypes({DType::kInt32, DType::kInt64});
}

}  // namespace
}  // namespace symbind
