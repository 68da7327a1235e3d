// The loops over vectors of functions of two operands, of every instruction set of this CPU,
// against the same functions in double.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/vector/elementwise.h"
#include "tests/kernels/targets.h"

namespace symbind {
namespace {

struct Row {
  const char* name;
  double (*f)(double, double);
};
constexpr Row kRows[] = {
    {"add", [](double a, double b) { return a + b; }},
    {"sub", [](double a, double b) { return a - b; }},
    {"mul", [](double a, double b) { return a * b; }},
    {"div", [](double a, double b) { return a / b; }},
    {"maximum", [](double a, double b) { return std::isnan(a) || a > b ? a : b; }},
    {"minimum", [](double a, double b) { return std::isnan(a) || a < b ? a : b; }},
    {"equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
    {"not_equal", [](double a, double b) { return a != b ? 1.0 : 0.0; }},
    {"greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
    {"greater_equal", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {"lesser", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {"lesser_equal", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {"logical_and", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
    {"logical_or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
    {"logical_xor", [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }},
};

/// Every pair of these.
void operands(std::vector<float>& a, std::vector<float>& b) {
  using Limits = std::numeric_limits<float>;
  constexpr float kNumbers[] = {0.f,
                                -0.f,
                                1.f,
                                -1.f,
                                0.1f,
                                3.f,
                                -2.5f,
                                1e-40f,
                                1e-20f,
                                3e38f,
                                -3e38f,
                                Limits::denorm_min(),
                                Limits::infinity(),
                                -Limits::infinity(),
                                Limits::quiet_NaN(),
                                7.7f};
  for (const float x : kNumbers)
    for (const float y : kNumbers) a.push_back(x), b.push_back(y);
}

bool same(float result, double exact) {
  if (std::isnan(exact)) return std::isnan(result);
  return result == static_cast<float>(exact);
}

TEST(VectorBinary, values_are_rounded_once) {
  std::vector<float> a, b;
  operands(a, b);
  for (const Isa isa : available_isas()) {
    const auto functions = vector::binary_loops()[isa].functions;
    ASSERT_EQ(functions.size(), std::size(kRows));
    for (std::size_t k = 0; k < functions.size(); ++k) {
      ASSERT_STREQ(functions[k].name, kRows[k].name);
      for (const std::size_t n : {a.size(), std::size_t{17}, std::size_t{3}, std::size_t{0}}) {
        std::vector<float> y(n + 1, -7.f);
        functions[k].loops[0](a.data(), b.data(), y.data(), static_cast<std::int64_t>(n));
        for (std::size_t i = 0; i < n; ++i)
          EXPECT_TRUE(same(y[i], kRows[k].f(static_cast<double>(a[i]), static_cast<double>(b[i]))))
              << kRows[k].name << "(" << a[i] << ", " << b[i] << ") = " << y[i];
        EXPECT_EQ(y[n], -7.f);
      }
    }
  }
}

TEST(VectorBinary, one_operand_may_be_a_single_value) {
  std::vector<float> a, b;
  operands(a, b);
  const auto n = static_cast<std::int64_t>(a.size()) - 1;
  for (const Isa isa : available_isas()) {
    const auto functions = vector::binary_loops()[isa].functions;
    for (std::size_t k = 0; k < functions.size(); ++k) {
      const float value = 0.1f;
      std::vector<float> right(a.size()), left(a.size());
      functions[k].loops[1](a.data() + 1, &value, right.data(), n);
      functions[k].loops[2](&value, b.data() + 1, left.data(), n);
      for (std::size_t i = 0; i + 1 < a.size(); ++i) {
        EXPECT_TRUE(
            same(right[i], kRows[k].f(static_cast<double>(a[i + 1]), static_cast<double>(value))));
        EXPECT_TRUE(
            same(left[i], kRows[k].f(static_cast<double>(value), static_cast<double>(b[i + 1]))));
      }
    }
  }
}

TEST(VectorBinary, gradients_of_ties_go_to_the_left) {
  const std::vector<float> g = {2, 3, 5}, a = {1, 4, 6}, b = {1, 8, 2};
  for (const Isa isa : available_isas()) {
    for (const vector::GradientLoops& l : vector::binary_loops()[isa].gradients) {
      std::vector<float> left(3), right(3);
      l.left[0](g.data(), a.data(), b.data(), left.data(), 3);
      l.right[0](g.data(), a.data(), b.data(), right.data(), 3);
      if (std::string_view(l.name) == "maximum") {
        EXPECT_EQ(left, (std::vector<float>{2, 0, 5}));
        EXPECT_EQ(right, (std::vector<float>{0, 3, 0}));
      } else if (std::string_view(l.name) == "minimum") {
        EXPECT_EQ(left, (std::vector<float>{2, 3, 0}));
        EXPECT_EQ(right, (std::vector<float>{0, 0, 5}));
      } else {
        EXPECT_EQ(left, (std::vector<float>{2, 0.375f, 2.5f}));
        EXPECT_EQ(right, (std::vector<float>{-2, -0.1875f, -7.5f}));
      }
    }
  }
}

TEST(VectorBinary, all_instruction_sets_give_equal_bits) {
  std::vector<float> a, b;
  operands(a, b);
  for (std::size_t k = 0; k < std::size(kRows); ++k) {
    std::vector<std::vector<float>> results;
    for (const Isa isa : available_isas()) {
      results.emplace_back(a.size());
      vector::binary_loops()[isa].functions[k].loops[0](a.data(), b.data(), results.back().data(),
                                                        static_cast<std::int64_t>(a.size()));
      EXPECT_EQ(std::memcmp(results[0].data(), results.back().data(), a.size() * 4), 0)
          << kRows[k].name;
    }
  }
}

}  // namespace
}  // namespace symbind
