// Functions of one array, each against the C library in double.

#include <cmath>
#include <numbers>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

struct Row {
  const char* name;
  double (*f)(double);
  double lo, hi;
  bool integers = false;  ///< exact on integers too
};

/// By bisection: the reference need not be fast.
double inverse_erf(double y) {
  double lo = -6, hi = 6;
  for (int i = 0; i < 200; ++i) {
    const double mid = (lo + hi) / 2;
    (std::erf(mid) < y ? lo : hi) = mid;
  }
  return (lo + hi) / 2;
}

constexpr Row kRows[] = {
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -3, 3},
    {"tanh", [](double x) { return std::tanh(x); }, -2, 2},
    {"softsign", [](double x) { return x / (1 + std::abs(x)); }, -3, 3},
    {"exp", [](double x) { return std::exp(x); }, -2, 2},
    {"log", [](double x) { return std::log(x); }, 0.25, 4},
    {"log2", [](double x) { return std::log2(x); }, 0.25, 4},
    {"log10", [](double x) { return std::log10(x); }, 0.25, 4},
    {"log1p", [](double x) { return std::log1p(x); }, -0.5, 4},
    {"expm1", [](double x) { return std::expm1(x); }, -2, 2},
    {"sqrt", [](double x) { return std::sqrt(x); }, 0.25, 4},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.25, 4},
    {"cbrt", [](double x) { return std::cbrt(x); }, 0.25, 4},
    {"rcbrt", [](double x) { return 1 / std::cbrt(x); }, 0.25, 4},
    {"reciprocal", [](double x) { return 1 / x; }, 0.25, 4},
    {"sin", [](double x) { return std::sin(x); }, -3, 3},
    {"cos", [](double x) { return std::cos(x); }, -3, 3},
    {"tan", [](double x) { return std::tan(x); }, -1, 1},
    {"arcsin", [](double x) { return std::asin(x); }, -0.875, 0.875},
    {"arccos", [](double x) { return std::acos(x); }, -0.875, 0.875},
    {"arctan", [](double x) { return std::atan(x); }, -3, 3},
    {"sinh", [](double x) { return std::sinh(x); }, -2, 2},
    {"cosh", [](double x) { return std::cosh(x); }, -2, 2},
    {"arcsinh", [](double x) { return std::asinh(x); }, -3, 3},
    {"arccosh", [](double x) { return std::acosh(x); }, 1.25, 4},
    {"arctanh", [](double x) { return std::atanh(x); }, -0.875, 0.875},
    {"degrees", [](double x) { return x * 180 / std::numbers::pi; }, -3, 3},
    {"radians", [](double x) { return x / 180 * std::numbers::pi; }, -180, 180},
    {"erf", [](double x) { return std::erf(x); }, -2, 2},
    {"erfinv", inverse_erf, -0.875, 0.875},
    {"gamma", [](double x) { return std::tgamma(x); }, 0.5, 4},
    {"gammaln", [](double x) { return std::lgamma(x); }, 0.5, 4},
    {"relu", [](double x) { return x > 0 ? x : 0.0; }, -3, 3, true},
    {"square", [](double x) { return x * x; }, -3, 3, true},
    {"abs", [](double x) { return std::abs(x); }, -3, 3, true},
    {"negative", [](double x) { return -x; }, -3, 3, true},
    {"sign", [](double x) { return x > 0   ? 1.0
                                   : x < 0 ? -1.0
                                           : x; }, -3, 3, true},
    {"round", [](double x) { return std::round(x); }, -3, 3, true},
    {"rint", [](double x) { return std::ceil(x - 0.5); }, -3, 3, true},
    {"ceil", [](double x) { return std::ceil(x); }, -3, 3, true},
    {"floor", [](double x) { return std::floor(x); }, -3, 3, true},
    {"trunc", [](double x) { return std::trunc(x); }, -3, 3, true},
    {"fix", [](double x) { return std::trunc(x); }, -3, 3, true},
    {"logical_not", [](double x) { return x == 0 ? 1.0 : 0.0; }, -3, 3, true},
};

OP_FAMILY(unary) {
  for (const Row& r : kRows) {
    c.op(r.name).add("values").in({3, 4}, r.lo, r.hi).ref(r.f).recovers({0});
    c.add("sixteen channels, as blocked layouts have them").in({2, 16, 3, 2}, r.lo, r.hi).ref(r.f);
    if (!r.integers) continue;
    c.add("integers")
        .in({6}, {7, -7, 0, 1, -1, 5})
        .ref(r.f)
        .dtypes({DType::kInt32, DType::kInt64, DType::kInt8});
    if (std::string(r.name) == "negative") continue;  // bytes wrap around
    c.add("bytes").in({4}, {0, 1, 7, 15}).ref(r.f).dtypes({DType::kUint8, DType::kInt32});
  }
}

}  // namespace
}  // namespace symbind
