// The distributions of the samplers: names and ranges of their parameters, and one draw.
//
// Decided here: a draw is computed in double whatever the type of the output. Invalid parameters
// (possible in arrays) give NaN, never an endless loop.
#pragma once

#include <limits>

#include "base/check.h"
#include "base/special.h"
#include "ops/random/stream.h"

namespace symbind {

struct DistributionParameter {
  const char* name;
  const char* array_name;  ///< of the input of _sample_…
  float standard;
  const char* doc;
};

constexpr double kNoSample = std::numeric_limits<double>::quiet_NaN();

/// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. Mean shape·scale.
inline double draw_gamma(RandomStream& s, double shape, double scale) {
  if (!(shape > 0) || !(scale >= 0)) return shape == 0 ? 0 : kNoSample;
  if (std::isinf(shape)) return shape * scale;
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  double v = 0;
  for (;;) {
    const double x = s.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    v = root * root * root;
    if (std::log(s.positive()) < 0.5 * x * x + d - d * v + d * std::log(v)) break;
  }
  const double boost = shape < 1 ? std::pow(s.positive(), 1 / shape) : 1;
  return d * v * boost * scale;
}

/// Products of uniforms for small means, Hörmann's "transformed rejection method for generating
/// Poisson random variables" (PTRS, 1993) for others.
inline double draw_poisson(RandomStream& s, double mean) {
  if (!(mean >= 0) || std::isinf(mean)) return mean > 0 ? mean : kNoSample;
  if (mean < 10) {
    const double least = std::exp(-mean);
    int count = 0;
    for (double product = s.positive(); product > least; product *= s.positive()) ++count;
    return count;
  }
  const double root = std::sqrt(mean), log_mean = std::log(mean);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), most = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = s.unit() - 0.5, v = s.positive(), us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= most) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_mean - mean - gammaln(k + 1))
      return k;
  }
}

struct UniformDistribution {
  static constexpr const char* kName = "uniform";
  static constexpr DistributionParameter kParameters[] = {
      {"low", "low", 0, "Lower bound, included."},
      {"high", "high", 1, "Upper bound, not included."}};
  static void check_parameters(const double* p) {
    check(p[0] <= p[1], "uniform: low={} is above high={}", p[0], p[1]);
  }
  static double draw(RandomStream& s, const double* p) { return p[0] + (p[1] - p[0]) * s.unit(); }
};
struct NormalDistribution {
  static constexpr const char* kName = "normal";
  static constexpr DistributionParameter kParameters[] = {
      {"loc", "mu", 0, "The mean."}, {"scale", "sigma", 1, "The standard deviation."}};
  static void check_parameters(const double* p) {
    check(p[1] > 0, "normal: scale={}, but the standard deviation must be positive", p[1]);
  }
  static double draw(RandomStream& s, const double* p) { return p[0] + p[1] * s.normal(); }
};
struct ExponentialDistribution {
  static constexpr const char* kName = "exponential";
  static constexpr DistributionParameter kParameters[] = {
      {"lam", "lam", 1, "The rate: one over the mean."}};
  static void check_parameters(const double* p) {
    check(p[0] > 0, "exponential: lam={}, but the rate must be positive", p[0]);
  }
  static double draw(RandomStream& s, const double* p) { return -std::log(s.positive()) / p[0]; }
};
struct GammaDistribution {
  static constexpr const char* kName = "gamma";
  static constexpr DistributionParameter kParameters[] = {
      {"alpha", "alpha", 1, "The shape."},
      {"beta", "beta", 1, "The scale: the mean is alpha·beta."}};
  static void check_parameters(const double* p) {
    check(p[0] > 0 && p[1] > 0, "gamma: alpha={} and beta={} must be positive", p[0], p[1]);
  }
  static double draw(RandomStream& s, const double* p) { return draw_gamma(s, p[0], p[1]); }
};
struct PoissonDistribution {
  static constexpr const char* kName = "poisson";
  static constexpr DistributionParameter kParameters[] = {{"lam", "lam", 1, "The mean."}};
  static void check_parameters(const double* p) {
    check(p[0] >= 0, "poisson: lam={}, but the mean must not be negative", p[0]);
  }
  static double draw(RandomStream& s, const double* p) { return draw_poisson(s, p[0]); }
};
/// Failures before the k-th success: Poisson with a mean drawn from a gamma distribution.
struct NegativeBinomialDistribution {
  static constexpr const char* kName = "negative_binomial";
  static constexpr DistributionParameter kParameters[] = {
      {"k", "k", 1, "The number of successes that end the count of failures."},
      {"p", "p", 1, "The probability of a success."}};
  static void check_parameters(const double* p) {
    check(p[0] >= 0, "negative_binomial: k={} must not be negative", p[0]);
    check(p[1] > 0 && p[1] <= 1, "negative_binomial: p={} is not a probability of success", p[1]);
  }
  static double draw(RandomStream& s, const double* p) {
    return draw_poisson(s, draw_gamma(s, p[0], (1 - p[1]) / p[1]));
  }
};
/// The same, parametrised by mean and dispersion: the variance is mu + alpha·mu².
struct GeneralizedNegativeBinomialDistribution {
  static constexpr const char* kName = "generalized_negative_binomial";
  static constexpr DistributionParameter kParameters[] = {
      {"mu", "mu", 1, "The mean."}, {"alpha", "alpha", 1, "The dispersion; 0 is Poisson's."}};
  static void check_parameters(const double* p) {
    check(p[0] >= 0 && p[1] >= 0,
          "generalized_negative_binomial: mu={} and alpha={} must not be negative", p[0], p[1]);
  }
  static double draw(RandomStream& s, const double* p) {
    return draw_poisson(s, p[1] == 0 ? p[0] : draw_gamma(s, 1 / p[1], p[0] * p[1]));
  }
};

template <class D>
constexpr int kNumParameters = static_cast<int>(std::size(D::kParameters));

/// Calls f with a value of each distribution's type.
template <class F>
void for_each_distribution(F&& f) {
  f(UniformDistribution{});
  f(NormalDistribution{});
  f(ExponentialDistribution{});
  f(GammaDistribution{});
  f(PoissonDistribution{});
  f(NegativeBinomialDistribution{});
  f(GeneralizedNegativeBinomialDistribution{});
}

}  // namespace symbind
