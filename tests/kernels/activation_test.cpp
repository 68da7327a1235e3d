// Functions with parameters over vectors, of every instruction set of this CPU, against the same
// functions in double.

#include "kernels/vector/activation.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/targets.h"

namespace symbind {
namespace {

using Floats = std::vector<float>;

struct Row {
  const char* name;
  double (*f)(double x, double p, double q);
  double (*df)(double dy, double v, double p, double q);
  float p = 0, q = 0;
};

double cumulative(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }

constexpr double kScale = 1.0507009873554804934, kAlpha = 1.6732632423543772848;
const Row kRows[] = {
    {"relu", [](double x, double, double) { return x > 0 || std::isnan(x) ? x : 0; },
     [](double d, double v, double, double) { return v > 0 ? d : 0; }},
    {"sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(-x)); },
     [](double d, double v, double, double) { return d * v * (1 - v); }},
    {"tanh", [](double x, double, double) { return std::tanh(x); },
     [](double d, double v, double, double) { return d * (1 - v * v); }},
    {"softrelu", [](double x, double, double) { return x > 20 ? x : std::log1p(std::exp(x)); },
     [](double d, double v, double, double) { return d * -std::expm1(-v); }},
    {"softsign", [](double x, double, double) { return x / (1 + std::abs(x)); },
     [](double d, double v, double, double) {
       return d / ((1 + std::abs(v)) * (1 + std::abs(v)));
     }},
    {"leaky", [](double x, double p, double) { return x > 0 ? x : x * p; },
     [](double d, double v, double p, double) { return v > 0 ? d : d * p; }, 0.25f},
    {"elu", [](double x, double p, double) { return x > 0 ? x : p * std::expm1(x); },
     [](double d, double v, double p, double) { return v > 0 ? d : d * (v + p); }, 0.5f},
    {"elu_from_input", [](double x, double p, double) { return x > 0 ? x : p * std::expm1(x); },
     [](double d, double v, double p, double) { return v > 0 ? d : d * p * std::exp(v); }, -0.5f},
    {"selu", [](double x, double, double) { return kScale * (x > 0 ? x : kAlpha * std::expm1(x)); },
     [](double d, double v, double, double) { return d * (v > 0 ? kScale : v + kScale * kAlpha); }},
    {"gelu", [](double x, double, double) { return x * cumulative(x); },
     [](double d, double v, double, double) { return d * (cumulative(v) + v * density(v)); }},
    {"clip", [](double x, double p, double q) { return x < p   ? p
                                                       : x > q ? q
                                                               : x; },
     [](double d, double v, double p, double q) { return v < p || v > q ? 0 : d; }, -0.5f, 1.25f},
    {"hard_sigmoid",
     [](double x, double p, double q) {
       return std::isnan(x) ? x : std::min(std::max(p * x + q, 0.0), 1.0);
     },
     [](double d, double v, double p, double q) {
       return p * v + q > 0 && p * v + q < 1 ? d * p : 0;
     },
     0.25f, 0.5f},
    {"smooth_l1",
     [](double x, double p, double) {
       return std::abs(x) < 1 / (p * p) ? 0.5 * x * x * p * p : std::abs(x) - 0.5 / (p * p);
     },
     [](double d, double v, double p, double) {
       return d * (v > 1 / (p * p) ? 1 : v < -1 / (p * p) ? -1 : p * p * v);
     },
     2.f},
};

Floats arguments() {
  Floats x;
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<float>(i) / 397.f);
  for (const float v : {0.f, -0.f, 1e-30f, -1e-42f, 25.f, -25.f, 100.f, -100.f, 1e30f, -1e30f})
    x.push_back(v);
  return x;
}

TEST(VectorActivation, values_and_gradients_are_those_of_the_formulas) {
  const Floats x = arguments();
  const auto n = static_cast<std::int64_t>(x.size());
  for (const Isa isa : available_isas()) {
    const auto functions = vector::activation_loops()[isa].functions;
    ASSERT_EQ(functions.size(), std::size(kRows));
    for (std::size_t k = 0; k < functions.size(); ++k) {
      const Row& row = kRows[k];
      ASSERT_STREQ(functions[k].name, row.name);
      Floats y(x.size()), dx(x.size()), dy(x.size(), 1.5f);
      functions[k].forward(x.data(), y.data(), n, row.p, row.q);
      functions[k].backward(dy.data(), x.data(), dx.data(), n, row.p, row.q);
      const auto p = static_cast<double>(row.p), q = static_cast<double>(row.q);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto at = static_cast<double>(x[i]);
        const double value = row.f(at, p, q), slope = row.df(1.5, at, p, q);
        ASSERT_NEAR(static_cast<double>(y[i]), value, 1e-6 * std::abs(value) + 2e-7)
            << row.name << " of " << x[i];
        if (std::abs(slope) > 3e38) continue;
        ASSERT_NEAR(static_cast<double>(dx[i]), slope, 2e-6 * std::abs(slope) + 3e-6)
            << "gradient of " << row.name << " at " << x[i];
      }
    }
  }
}

TEST(VectorActivation, gelu_keeps_the_digits_of_its_tail) {
  const Floats x = {-3, -5, -8, -10};
  for (const Isa isa : available_isas()) {
    for (const vector::ActivationLoops& f : vector::activation_loops()[isa].functions) {
      if (std::string_view(f.name) != "gelu") continue;
      Floats y(4);
      f.forward(x.data(), y.data(), 4, 0, 0);
      for (std::size_t i = 0; i < 4; ++i) {
        const double exact = static_cast<double>(x[i]) * cumulative(static_cast<double>(x[i]));
        EXPECT_NEAR(static_cast<double>(y[i]), exact, 2e-5 * std::abs(exact)) << x[i];
      }
    }
  }
}

TEST(VectorActivation, nan_stays_nan) {
  const Floats x(19, std::numeric_limits<float>::quiet_NaN());
  for (const Isa isa : available_isas()) {
    for (const vector::ActivationLoops& f : vector::activation_loops()[isa].functions) {
      Floats y(19);
      f.forward(x.data(), y.data(), 19, 0.5f, 0.75f);
      for (const float v : y) EXPECT_TRUE(std::isnan(v)) << f.name;
    }
  }
}

TEST(VectorActivation, avx2_and_avx512_give_equal_bits) {
  const Floats x = arguments();
  const auto n = static_cast<std::int64_t>(x.size());
  for (std::size_t k = 0; k < std::size(kRows); ++k) {
    std::vector<Floats> forward, backward;
    for (const Isa isa : isas_with_fma()) {
      const vector::ActivationLoops& f = vector::activation_loops()[isa].functions[k];
      forward.emplace_back(x.size());
      backward.emplace_back(x.size());
      f.forward(x.data(), forward.back().data(), n, kRows[k].p, kRows[k].q);
      f.backward(x.data(), x.data(), backward.back().data(), n, kRows[k].p, kRows[k].q);
      EXPECT_EQ(std::memcmp(forward[0].data(), forward.back().data(), x.size() * 4), 0)
          << kRows[k].name;
      EXPECT_EQ(std::memcmp(backward[0].data(), backward.back().data(), x.size() * 4), 0)
          << kRows[k].name;
    }
  }
}

TEST(VectorActivation, prelu_has_a_slope_per_column) {
  for (const Isa isa : available_isas()) {
    const vector::Prelu& f = vector::activation_loops()[isa].prelu;
    for (const std::int64_t columns : {1, 8, 16, 37}) {
      constexpr std::int64_t kRowsOf = 70;
      Floats x, dy, slopes;
      for (std::int64_t i = 0; i < kRowsOf * columns; ++i) {
        x.push_back(static_cast<float>(i * 37 % 101) / 25.f - 2.f);
        dy.push_back(static_cast<float>(i * 53 % 97) / 50.f - 1.f);
      }
      for (std::int64_t c = 0; c < columns; ++c)
        slopes.push_back(0.01f * static_cast<float>(c + 1));
      Floats y(x.size()), dx(x.size());
      f.forward(x.data(), slopes.data(), y.data(), kRowsOf, columns);
      f.backward(dy.data(), x.data(), slopes.data(), dx.data(), kRowsOf, columns);
      std::vector<double> sums(slopes.size()), exact(slopes.size());
      f.slope_gradients(dy.data(), x.data(), sums.data(), kRowsOf, columns, columns);
      double total = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t c = i % static_cast<std::size_t>(columns);
        EXPECT_EQ(y[i], x[i] > 0 ? x[i] : x[i] * slopes[c]);
        EXPECT_EQ(dx[i], x[i] > 0 ? dy[i] : dy[i] * slopes[c]);
        const double part = x[i] > 0 ? 0 : static_cast<double>(dy[i]) * static_cast<double>(x[i]);
        exact[c] += part;
        total += part;
      }
      for (std::size_t c = 0; c < sums.size(); ++c) EXPECT_NEAR(sums[c], exact[c], 1e-5);
      EXPECT_NEAR(f.slope_gradient(dy.data(), x.data(), kRowsOf * columns), total, 1e-4);
    }
  }
}

}  // namespace
}  // namespace symbind
