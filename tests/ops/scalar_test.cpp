#include "tests/ops/elementwise_rows.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_FAMILY(scalar) {
  for (const BinaryRow& r : kBinaryRows) {
    for (const double s : {1.5, 2.0, 0.75}) {
      const std::string name = "with " + std::to_string(s);
      c.op(r.scalar)
          .add(name)
          .attr("scalar", s)
          .in({3, 4}, r.lo, r.hi)
          .ref([f = r.f, s](double x) { return f(x, s); })
          .recovers({0});
      if (r.reverse == nullptr) continue;
      c.op(r.reverse)
          .add(name)
          .attr("scalar", s)
          .in({3, 4}, r.lo, r.hi)
          .ref([f = r.f, s](double x) { return f(s, x); })
          .recovers({0});
    }
    c.op(r.scalar)
        .add("sixteen channels, as blocked layouts have them")
        .attr("scalar", 1.25)
        .in({2, 16, 3, 2}, r.lo, r.hi)
        .ref([f = r.f](double x) { return f(x, 1.25); });
    c.op(r.scalar)
        .add("zeros")
        .attr("scalar", 0)
        .in({5}, {-3, -1, 0, 1, 2})
        .no_grad()
        .ref([f = r.f](double x) { return f(x, 0); });
    if (!r.integers) continue;
    c.op(r.scalar)
        .add("integers")
        .attr("scalar", 3)
        .in({5}, {7, -7, 2, 0, 3})
        .ref([f = r.f](double x) { return f(x, 3); })
        .dtypes({DType::kInt32, DType::kInt64, DType::kInt8});
  }
  c.op("_mul_scalar")
      .add("an integer array cuts the number first")
      .attr("scalar", 1.5)
      .in({2}, {7, -7})
      .ref({7, -7})
      .dtypes({DType::kInt32});
}

}  // namespace
}  // namespace symbind
