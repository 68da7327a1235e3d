// Functions of one array, each against the C library in double.

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include <symbind/executor.h>

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

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMax = std::numeric_limits<double>::max();

struct Poles {
  const char* name;
  std::array<double, 5> y, dx;  // at 0, 1, −1, ∞ and −∞, from MXNet 1.9.1 in float64
};
constexpr double kHalfPi = std::numbers::pi / 2, kPerLn2 = std::numbers::log2e,
                 kPerLn10 = std::numbers::log10e, kThird = 1.0 / 3, kEuler = std::numbers::egamma;
constexpr Poles kPoles[] = {
    {"log", {-kInf, 0, kNan, kInf, kNan}, {kInf, 1, -1, 0, 0}},
    {"log2", {-kInf, 0, kNan, kInf, kNan}, {kInf, kPerLn2, -kPerLn2, 0, 0}},
    {"log10", {-kInf, 0, kNan, kInf, kNan}, {kInf, kPerLn10, -kPerLn10, 0, 0}},
    {"log1p", {0, std::numbers::ln2, -kInf, kInf, kNan}, {1, 0.5, kInf, 0, 0}},
    {"sqrt", {0, 1, kNan, kInf, kNan}, {kInf, 0.5, kNan, 0, kNan}},
    {"rsqrt", {kInf, 1, kNan, 0, kNan}, {-kInf, -0.5, kNan, 0, kNan}},
    {"cbrt", {0, 1, -1, kInf, -kInf}, {kInf, kThird, kThird, 0, 0}},
    {"rcbrt", {kInf, 1, -1, 0, 0}, {-kInf, -kThird, -kThird, 0, 0}},
    {"reciprocal", {kInf, 1, -1, 0, 0}, {-kInf, -1, -1, 0, 0}},
    {"arcsin", {0, kHalfPi, -kHalfPi, kNan, kNan}, {1, kInf, kInf, kNan, kNan}},
    {"arccos", {kHalfPi, 0, 2 * kHalfPi, kNan, kNan}, {-1, -kInf, -kInf, kNan, kNan}},
    {"arccosh", {kNan, 0, kNan, kInf, kNan}, {kNan, kInf, kInf, 0, 0}},
    {"arctanh", {0, kInf, -kInf, kNan, kNan}, {1, kInf, kInf, 0, 0}},
    {"erfinv", {0, kInf, -kInf, kNan, kNan}, {0.886226952076, kInf, kInf, kNan, kNan}},
    {"gamma", {kInf, 1, kNan, kInf, kNan}, {kInf, -kEuler, kNan, kInf, kNan}},
    {"gammaln", {kInf, 0, kInf, kInf, kInf}, {kMax, -kEuler, kMax, kInf, kMax}},
};

TEST(Unary, poles_and_their_gradients_are_mxnets) {
  for (const DType type : {DType::kFloat64, DType::kFloat32}) {
    // MXNet computes the largest double there; as a float it is infinite.
    const double most = type == DType::kFloat64 ? kMax : kInf;
    for (const Poles& row : kPoles) {
      const NDArray x =
          NDArray::from_vector(std::vector<double>{0, 1, -1, kInf, -kInf}, {5}).astype(type);
      NDArray dx = NDArray::zeros({5}).astype(type);
      Executor e = make_symbol(row.name, "f", std::vector{Variable("x")})
                       .bind(cpu(), NDArrayMap{{"x", x}}, {.args_grad = NDArrayMap{{"x", dx}}});
      const NDArray y = e.forward(true).at(0);
      e.backward({NDArray::ones({5}).astype(type)});
      const auto same = [&](const NDArray& got, const std::array<double, 5>& want) {
        const auto values = got.astype(DType::kFloat64).to_vector<double>();
        for (std::size_t i = 0; i < 5; ++i) {
          SCOPED_TRACE(std::string(row.name) + " at place " + std::to_string(i));
          const double wanted = want[i] == kMax ? most : want[i];
          if (std::isfinite(wanted) && wanted != kMax)
            EXPECT_NEAR(values[i], wanted, 3e-7);
          else
            EXPECT_TRUE(std::isnan(wanted) ? std::isnan(values[i]) : values[i] == wanted)
                << values[i];
        }
      };
      same(y, row.y);
      same(dx, row.dx);
    }
  }
}

}  // namespace
}  // namespace symbind
