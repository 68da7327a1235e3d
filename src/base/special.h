// Functions of mathematics the standard library lacks, or has in a form threads must not use.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

namespace symbind {

/// The derivative of gammaln: reflection below 0, recurrence up to 10, then the asymptotic series.
/// At a pole (0, −1, −2, …, −∞) it is the largest double, infinity as a float, as in MXNet.
template <class T>
T digamma(T argument) {
  double x = argument, result = 0;
  if (x <= 0) {
    if (x == std::floor(x))
      return std::is_same_v<T, double> ? std::numeric_limits<T>::max()
                                       : std::numeric_limits<T>::infinity();
    result = -std::numbers::pi / std::tan(std::numbers::pi * x);
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  const double r = 1 / (x * x);
  const double tail =
      r * (1.0 / 12 -
           r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * 691 / 32760)))));
  return static_cast<T>(result + std::log(x) - 0.5 / x - tail);
}

/// The C library's lgamma writes a global sign: threads need the reentrant form.
inline float gammaln(float x) {
  int sign;
  return ::lgammaf_r(x, &sign);
}
inline double gammaln(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

}  // namespace symbind
