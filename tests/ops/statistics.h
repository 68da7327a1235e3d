#pragma once
// Statistics for the tests of samplers: moments, and the likelihood of bin counts.

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace symbind {

struct Moments {
  double mean = 0, deviation = 0, lowest = 0, highest = 0;
  explicit Moments(const std::vector<double>& x) : lowest(x.at(0)), highest(x.at(0)) {
    for (const double v : x) {
      mean += v;
      lowest = std::min(lowest, v);
      highest = std::max(highest, v);
    }
    mean /= static_cast<double>(x.size());
    for (const double v : x) deviation += (v - mean) * (v - mean);
    deviation = std::sqrt(deviation / static_cast<double>(x.size()));
  }
};

/// Mean and deviation are those of the distribution, within five of their own deviations (of a
/// distribution whose fourth moment is not far above the normal one's).
inline void expect_moments(const std::vector<double>& x, double mean, double deviation) {
  const Moments m(x);
  const double n = static_cast<double>(x.size());
  EXPECT_NEAR(m.mean, mean, 5 * deviation / std::sqrt(n));
  EXPECT_NEAR(m.deviation, deviation, 10 * deviation / std::sqrt(n));
}

/// Pearson's statistic stays below what one set of counts in some ten thousand exceeds (Wilson and
/// Hilferty's approximation).
inline void expect_counts(const std::vector<double>& counts,
                          const std::vector<double>& probabilities) {
  double n = 0, statistic = 0;
  for (const double c : counts) n += c;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double expected = n * probabilities[k];
    statistic += (counts[k] - expected) * (counts[k] - expected) / expected;
  }
  const double free = static_cast<double>(counts.size()) - 1, w = 2 / (9 * free);
  EXPECT_LT(statistic, free * std::pow(1 - w + 3.75 * std::sqrt(w), 3));
}

/// The samples' places under the distribution function are even.
inline void expect_distribution(const std::vector<double>& x,
                                const std::function<double(double)>& cumulative) {
  std::vector<double> counts(10);
  for (const double v : x) {
    const double at = 10 * cumulative(v);
    ASSERT_TRUE(at >= 0 && at <= 10) << v;
    ++counts[std::min<std::size_t>(static_cast<std::size_t>(at), 9)];
  }
  expect_counts(counts, std::vector<double>(10, 0.1));
}

/// The samples are whole and as frequent as the probabilities of 0, 1, 2, … say; what is rarer than
/// one in a hundred is taken together.
inline void expect_whole_distribution(const std::vector<double>& x,
                                      const std::function<double(double)>& log_probability) {
  std::vector<double> counts, probabilities;
  double rest = 1, others = static_cast<double>(x.size());
  for (double k = 0; k < 500; ++k) {
    const double p = std::exp(log_probability(k));
    if (p < 0.01) continue;
    probabilities.push_back(p);
    counts.push_back(static_cast<double>(std::count(x.begin(), x.end(), k)));
    rest -= p;
    others -= counts.back();
  }
  for (const double v : x) ASSERT_TRUE(v >= 0 && v == std::floor(v)) << v;
  probabilities.push_back(rest);
  counts.push_back(others);
  expect_counts(counts, probabilities);
}

// ---- Distribution functions and probabilities ---------------------------------------------------

inline double normal_cumulative(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// Of the gamma distribution with scale 1: by its series.
inline double gamma_cumulative(double shape, double x) {
  if (x <= 0) return 0;
  double term = 1 / shape, sum = term;
  for (int k = 1; k < 500; ++k) sum += term *= x / (shape + k);
  return sum * std::exp(shape * std::log(x) - x - std::lgamma(shape));
}
inline double poisson_log(double mean, double k) {
  return k * std::log(mean) - mean - std::lgamma(k + 1);
}
inline double negative_binomial_log(double n, double p, double k) {
  return std::lgamma(k + n) - std::lgamma(k + 1) - std::lgamma(n) + n * std::log(p) +
         k * std::log1p(-p);
}

}  // namespace symbind
