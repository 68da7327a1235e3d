// The loops over vectors of functions of one array, of every instruction set of this CPU, against
// the standard library in double.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/vector/elementwise.h"
#include "tests/kernels/targets.h"

namespace symbind {
namespace {

using Limits = std::numeric_limits<float>;

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double rint_down(double x) {
  return x - std::floor(x) <= std::ceil(x) - x ? std::floor(x) : std::ceil(x);
}

/// What must hold: `f`, and `df` of dy and the saved array; errors in units of the last place. SSE4
/// has no FMA.
struct Row {
  const char* name;
  double (*f)(double);
  double (*df)(double dy, double saved);
  double ulp, ulp_sse4, ulp_df;
};
const Row kRows[] = {
    {"sigmoid",  // 0 where exp(-x) is infinite in float, as in MXNet
     [](double x) {
       return std::exp(-x) > static_cast<double>(Limits::max()) ? 0 : 1 / (1 + std::exp(-x));
     },
     [](double d, double y) { return d * y * (1 - y); }, 3, 3, 3},
    {"tanh", [](double x) { return std::tanh(x); },
     [](double d, double y) { return d * (1 - y * y); }, 2.5, 3, 1e9},
    {"softsign", [](double x) { return x / (1 + std::abs(x)); },
     [](double d, double x) { return d / ((1 + std::abs(x)) * (1 + std::abs(x))); }, 1.5, 1.5, 5},
    {"exp", [](double x) { return std::exp(x); }, [](double d, double y) { return d * y; }, 1, 1.5,
     0.5},
    {"log", [](double x) { return std::log(x); }, [](double d, double x) { return d / x; }, 1, 1.5,
     0.5},
    {"log2", [](double x) { return std::log2(x); },
     [](double d, double x) { return d / (x * std::numbers::ln2); }, 2, 2, 2},
    {"log10", [](double x) { return std::log10(x); },
     [](double d, double x) { return d / (x * std::numbers::ln10); }, 2, 2, 2},
    {"log1p", [](double x) { return std::log1p(x); },
     [](double d, double x) { return d / (1 + x); }, 2, 2, 2},
    {"expm1", [](double x) { return std::expm1(x); },
     [](double d, double x) { return d * std::exp(x); }, 1.5, 1.5, 3},
    {"sqrt", [](double x) { return std::sqrt(x); }, [](double d, double y) { return d * 0.5 / y; },
     0.5, 0.5, 1},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); },
     [](double d, double x) { return d * -0.5 / (x * std::sqrt(x)); }, 1.5, 1.5, 1e9},
    {"reciprocal", [](double x) { return 1 / x; }, [](double d, double x) { return -d / (x * x); },
     0.5, 0.5, 1e9},
    {"degrees", [](double x) { return x * (180 / std::numbers::pi); },
     [](double d, double) { return d * (180 / std::numbers::pi); }, 1.5, 1.5, 1.5},
    {"radians", [](double x) { return x * (std::numbers::pi / 180); },
     [](double d, double) { return d * (std::numbers::pi / 180); }, 1.5, 1.5, 1.5},
    {"erf", [](double x) { return std::erf(x); },
     [](double d, double x) { return d * 2 / std::sqrt(std::numbers::pi) * std::exp(-x * x); }, 1.5,
     2, 1e9},
    {"relu", [](double x) { return x < 0 ? 0 : x; },
     [](double d, double y) { return y > 0    ? d
                                     : y == y ? 0
                                              : y; }, 0, 0, 0},
    {"square", [](double x) { return x * x; }, [](double d, double x) { return 2 * d * x; }, 0.5,
     0.5, 0.5},
    {"abs", [](double x) { return std::abs(x); },
     [](double d, double x) { return x > 0   ? d
                                     : x < 0 ? -d
                                             : 0; }, 0, 0, 0},
    {"negative", [](double x) { return -x; }, [](double d, double) { return -d; }, 0, 0, 0},
    {"sign", sign, [](double d, double) { return d; }, 0, 0, 0},
    {"round", [](double x) { return std::round(x); }, [](double d, double) { return d; }, 0, 0, 0},
    {"rint", rint_down, [](double d, double) { return d; }, 0, 0, 0},
    {"ceil", [](double x) { return std::ceil(x); }, [](double d, double) { return d; }, 0, 0, 0},
    {"floor", [](double x) { return std::floor(x); }, [](double d, double) { return d; }, 0, 0, 0},
    {"trunc", [](double x) { return std::trunc(x); }, [](double d, double) { return d; }, 0, 0, 0},
    {"fix", [](double x) { return std::trunc(x); }, [](double d, double) { return d; }, 0, 0, 0},
    {"logical_not", [](double x) { return x == 0 ? 1.0 : 0.0; }, [](double d, double) { return d; },
     0, 0, 0},
};

/// The distance of a result from the exact value, in units of the last place there.
double ulps(float result, double exact) {
  if (std::isnan(exact)) return std::isnan(result) ? 0 : INFINITY;
  const float nearest = static_cast<float>(exact);
  if (std::isinf(nearest) ||
      std::isinf(result))  // half a unit before the largest number is infinity
    return result == nearest || (std::isinf(exact) == false && std::abs(exact) > 3.402e38 &&
                                 std::signbit(result) == std::signbit(nearest))
               ? 0
               : INFINITY;
  const double unit =
      std::max(std::ldexp(1.0, std::ilogb(exact == 0 ? 1e-300 : exact) - 23), 0x1p-149);
  return std::abs(static_cast<double>(result) - exact) / unit;
}

/// Numbers of every exponent and both signs, and those next to the limits of the functions.
std::vector<float> arguments() {
  std::vector<float> all;
  for (std::uint64_t bits = 0; bits < 0x100000000u; bits += 9973)
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (double x = -110; x < 110; x += 0.00137) all.push_back(static_cast<float>(x));
  for (double x = -2; x < 2; x += 0.0000137) all.push_back(static_cast<float>(x));
  for (const float x : {0.f, -0.f, 0.5f, 1.f, 1.5f, 2.5f, 20.f, 88.72283f, 88.72284f, 89.f, 103.97f,
                        104.f, 1e30f, Limits::min(), Limits::denorm_min(), Limits::max(),
                        Limits::infinity(), Limits::quiet_NaN()})
    for (const float sign : {1.f, -1.f}) all.push_back(sign * x);
  return all;
}

const vector::UnaryLoops& loops(const char* name, Isa isa) {
  for (const vector::UnaryLoops& l : vector::unary_loops()[isa].functions)
    if (std::string_view(l.name) == name) return l;
  throw std::runtime_error(name);
}

TEST(VectorUnary, every_function_has_a_row) {
  EXPECT_EQ(vector::unary_loops()[Isa::kSse41].functions.size(), std::size(kRows));
}

TEST(VectorUnary, values_are_those_of_the_standard_library) {
  const std::vector<float> x = arguments();
  const auto n = static_cast<std::int64_t>(x.size());
  for (const Isa isa : available_isas()) {
    for (const Row& row : kRows) {
      std::vector<float> y(x.size());
      loops(row.name, isa).forward(x.data(), y.data(), n);
      double worst = 0;
      float at = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = ulps(y[i], row.f(static_cast<double>(x[i])));
        if (error > worst) worst = error, at = x[i];
      }
      EXPECT_LE(worst, isa == Isa::kSse41 ? row.ulp_sse4 : row.ulp)
          << row.name << " of " << at << ", instruction set " << static_cast<int>(isa);
    }
  }
}

TEST(VectorUnary, signs_of_zero_are_those_of_the_standard_library) {
  for (const Isa isa : available_isas()) {
    for (const Row& row : kRows) {
      const float x[2] = {0.f, -0.f};
      float y[2];
      loops(row.name, isa).forward(x, y, 2);
      for (int i = 0; i < 2; ++i) {
        if (std::string_view(row.name) == "rint" || std::string_view(row.name) == "sign") continue;
        EXPECT_EQ(std::signbit(y[i]), std::signbit(row.f(static_cast<double>(x[i])))) << row.name;
      }
    }
  }
}

TEST(VectorUnary, gradients_are_those_of_the_formula) {
  const std::vector<float> all = arguments();
  std::vector<float> saved, dy;
  for (const float v : all)
    if (std::abs(v) > 1e-3f && std::abs(v) < 8) saved.push_back(v);
  for (std::size_t i = 0; i < saved.size(); ++i)
    dy.push_back(0.5f + 0.37f * static_cast<float>(i % 11) - 2.f * static_cast<float>(i % 2));
  for (const Isa isa : available_isas()) {
    for (const Row& row : kRows) {
      std::vector<float> dx(saved.size());
      loops(row.name, isa)
          .backward(dy.data(), saved.data(), dx.data(), static_cast<std::int64_t>(dx.size()));
      for (std::size_t i = 0; i < dx.size(); ++i) {
        const double exact = row.df(static_cast<double>(dy[i]), static_cast<double>(saved[i]));
        // Differences such as 1 − y² lose bits that the formula in float does not have.
        const double allowed = row.ulp_df < 1e6 ? 1e-30 : 4e-6 * (std::abs(exact) + 1);
        const double limit = row.ulp_df < 1e6 ? row.ulp_df : 40;
        if (std::isnan(exact)) {
          ASSERT_TRUE(std::isnan(dx[i])) << row.name << " at " << saved[i];
        } else {
          ASSERT_TRUE(ulps(dx[i], exact) <= limit ||
                      std::abs(static_cast<double>(dx[i]) - exact) <= allowed)
              << row.name << " at " << saved[i] << ": " << dx[i] << ", not " << exact;
        }
      }
    }
  }
}

TEST(VectorUnary, lengths_and_positions_change_nothing) {
  const std::vector<float> all = arguments();
  for (const Isa isa : available_isas()) {
    for (const Row& row : kRows) {
      std::vector<float> whole(2048);
      loops(row.name, isa).forward(all.data(), whole.data(), 2048);
      for (const std::int64_t n : {0, 1, 3, 15, 16, 17, 1023}) {
        for (const std::size_t first : {0, 1, 5}) {
          std::vector<float> part(static_cast<std::size_t>(n) + 1, -7.f);
          loops(row.name, isa).forward(all.data() + first, part.data(), n);
          for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
            ASSERT_EQ(std::bit_cast<std::uint32_t>(part[i]),
                      std::bit_cast<std::uint32_t>(whole[first + i]))
                << row.name;
          ASSERT_EQ(part.back(), -7.f) << row.name;
        }
      }
    }
  }
}

TEST(VectorUnary, avx2_and_avx512_give_equal_bits) {
  const std::vector<float> x = arguments();
  const auto n = static_cast<std::int64_t>(x.size());
  for (const Row& row : kRows) {
    std::vector<std::vector<float>> forward, backward;
    for (const Isa isa : isas_with_fma()) {
      forward.emplace_back(x.size());
      backward.emplace_back(x.size());
      loops(row.name, isa).forward(x.data(), forward.back().data(), n);
      loops(row.name, isa).backward(x.data(), x.data(), backward.back().data(), n);
    }
    for (std::size_t k = 1; k < forward.size(); ++k) {
      EXPECT_EQ(std::memcmp(forward[0].data(), forward[k].data(), x.size() * 4), 0) << row.name;
      EXPECT_EQ(std::memcmp(backward[0].data(), backward[k].data(), x.size() * 4), 0) << row.name;
    }
  }
}

}  // namespace
}  // namespace symbind
