#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <symbind/executor.h>

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

// With a head gradient of 2 and operands near the largest float. MXNet 1.9.1 prints these numbers.
TEST(BinaryGradient, the_head_gradient_makes_nothing_infinite_before_a_division) {
  const struct {
    const char* op;
    float a, b, da, db;
  } rows[] = {{"elemwise_div", 3e38F, 3e38F, 2 / 3e38F, 0},
              {"_hypot", 3e38F, 1, 2, 2 / 3e38F},
              {"_hypot", 1, 3e38F, 2 / 3e38F, 2},
              {"_power", 0, 3e38F, 0, std::numeric_limits<float>::quiet_NaN()}};
  for (const auto& r : rows) {
    SCOPED_TRACE(r.op);
    Executor e = make_symbol(r.op, "y", std::vector<Symbol>{Variable("a"), Variable("b")})
                     .simple_bind(cpu(), {{"a", {1}}, {"b", {1}}}, {.grad_req = "write"});
    e.arg_dict().at("a").set(r.a);
    e.arg_dict().at("b").set(r.b);
    e.forward(true);
    e.backward({NDArray::full({1}, 2)});
    const auto gradient = [&](const char* name) {
      return e.grad_dict().at(name).to_vector<float>()[0];
    };
    EXPECT_NEAR(gradient("a"), r.da, 1e-5 * r.da);
    if (std::isnan(r.db))
      EXPECT_TRUE(std::isnan(gradient("b"))) << "0 · log 0";
    else
      EXPECT_NEAR(gradient("b"), r.db, 1e-5 * r.db);
  }
}

}  // namespace
}  // namespace symbind
