#pragma once
// The functions of two numbers that the families elemwise, broadcast and scalar share, in double.

#include <cmath>

namespace symbind {

struct BinaryRow {
  const char* word;      ///< as in broadcast_<word>
  const char* elemwise;  ///< operator of two arrays of equal shape
  const char* scalar;    ///< operator of an array and a number
  const char* reverse;   ///< the same with the number on the left, where there is one
  double (*f)(double, double);
  double lo, hi;  ///< operands
  bool integers = true;
};

inline double modulo(double a, double b) { return b == 0 ? 0 : a - b * std::floor(a / b); }

inline constexpr BinaryRow kBinaryRows[] = {
    {"add", "elemwise_add", "_plus_scalar", nullptr, [](double a, double b) { return a + b; }, -2,
     2},
    {"sub", "elemwise_sub", "_minus_scalar", "_rminus_scalar",
     [](double a, double b) { return a - b; }, -2, 2},
    {"mul", "elemwise_mul", "_mul_scalar", nullptr, [](double a, double b) { return a * b; }, -2,
     2},
    {"div", "elemwise_div", "_div_scalar", "_rdiv_scalar", [](double a, double b) { return a / b; },
     0.5, 3, false},
    {"mod", "_mod", "_mod_scalar", "_rmod_scalar", modulo, 0.5, 3, false},
    {"power", "_power", "_power_scalar", "_rpower_scalar",
     [](double a, double b) { return std::pow(a, b); }, 0.5, 3, false},
    {"maximum", "_maximum", "_maximum_scalar", nullptr,
     [](double a, double b) { return a > b ? a : b; }, -2, 2},
    {"minimum", "_minimum", "_minimum_scalar", nullptr,
     [](double a, double b) { return a < b ? a : b; }, -2, 2},
    {"hypot", "_hypot", "_hypot_scalar", nullptr,
     [](double a, double b) { return std::hypot(a, b); }, -2, 2, false},
    {"equal", "_equal", "_equal_scalar", nullptr,
     [](double a, double b) { return a == b ? 1.0 : 0.0; }, -2, 2},
    {"not_equal", "_not_equal", "_not_equal_scalar", nullptr,
     [](double a, double b) { return a != b ? 1.0 : 0.0; }, -2, 2},
    {"greater", "_greater", "_greater_scalar", nullptr,
     [](double a, double b) { return a > b ? 1.0 : 0.0; }, -2, 2},
    {"greater_equal", "_greater_equal", "_greater_equal_scalar", nullptr,
     [](double a, double b) { return a >= b ? 1.0 : 0.0; }, -2, 2},
    {"lesser", "_lesser", "_lesser_scalar", nullptr,
     [](double a, double b) { return a < b ? 1.0 : 0.0; }, -2, 2},
    {"lesser_equal", "_lesser_equal", "_lesser_equal_scalar", nullptr,
     [](double a, double b) { return a <= b ? 1.0 : 0.0; }, -2, 2},
    {"logical_and", "_logical_and", "_logical_and_scalar", nullptr,
     [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }, -2, 2},
    {"logical_or", "_logical_or", "_logical_or_scalar", nullptr,
     [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }, -2, 2},
    {"logical_xor", "_logical_xor", "_logical_xor_scalar", nullptr,
     [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }, -2, 2},
};

}  // namespace symbind
