// The functions of two operands and their gradients, for host and device alike: those of
// kernels/elementwise_formulas.h and some more, which exist for numbers only.
//
// Decided here, as MXNet does: % has the divisor's sign and gives 0 for divisor 0; an integer
// divided by 0 gives 0.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/elementwise_formulas.h"

#ifdef __CUDACC__
#define SYMBIND_HD __host__ __device__
#else
#define SYMBIND_HD
#endif

namespace symbind::functor {

template <class T>
SYMBIND_HD T divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    return b == -1 ? T(0 - static_cast<std::make_unsigned_t<T>>(a)) : a / b;
  } else {
    return a / b;
  }
}

template <class T>
SYMBIND_HD T modulo(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (std::is_integral_v<T>) {
    if (b == -1) return 0;
    const T r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  } else {
    const T r = std::fmod(a, b);
    return r != T(0) && (r < T(0)) != (b < T(0)) ? r + b : r;
  }
}

template <class T>
SYMBIND_HD T power(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b < 0) {  // all others are fractions; 1 / 0 is infinity as x86 converts it
      if (a == 0) return std::numeric_limits<T>::min();
      return a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? -1 : 0;
    }
    std::make_unsigned_t<T> result = 1, base = static_cast<std::make_unsigned_t<T>>(a);
    for (T e = b; e > 0; e >>= 1, base *= base)
      if (e & 1) result *= base;
    return static_cast<T>(result);
  } else {
    return std::pow(a, b);
  }
}

template <class T>
SYMBIND_HD T hypotenuse(T a, T b) {
  const auto length = std::hypot(a, b);
  if constexpr (std::is_integral_v<T>) {  // the largest value if the length does not fit
    constexpr T kMost = std::numeric_limits<T>::max();
    return length >= static_cast<double>(kMost) ? kMost : static_cast<T>(length);
  } else {
    return length;
  }
}

/// Addition, subtraction and multiplication wrap around for integers.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

template <class T>
SYMBIND_HD T add(T a, T b) {
  return T(Wrapping<T>(a) + Wrapping<T>(b));
}
template <class T>
SYMBIND_HD T subtract(T a, T b) {
  return T(Wrapping<T>(a) - Wrapping<T>(b));
}
template <class T>
SYMBIND_HD T multiply(T a, T b) {
  return T(Wrapping<T>(a) * Wrapping<T>(b));
}
template <class T>
SYMBIND_HD T pick(bool condition, T a, T b) {
  return condition ? a : b;
}

#define SYMBIND_FUNCTOR(name, Functor, expression) \
  struct Functor {                                 \
    template <class T>                             \
    SYMBIND_HD T operator()(T a, T b) const {      \
      return expression;                           \
    }                                              \
  };
SYMBIND_BINARY(SYMBIND_FUNCTOR)
SYMBIND_FUNCTOR(mod, Mod, modulo(a, b))
SYMBIND_FUNCTOR(power, Power, power(a, b))
SYMBIND_FUNCTOR(hypot, Hypot, hypotenuse(a, b))
#undef SYMBIND_FUNCTOR

#define SYMBIND_GRADIENT(Functor, expression)      \
  struct Functor {                                 \
    template <class T>                             \
    SYMBIND_HD T operator()(T g, T a, T b) const { \
      (void)a, (void)b;                            \
      return expression;                           \
    }                                              \
  };
#define SYMBIND_GRADIENTS(name, Left, left, Right, right) \
  SYMBIND_GRADIENT(Left, left)                            \
  SYMBIND_GRADIENT(Right, right)
SYMBIND_BINARY_GRADIENT(SYMBIND_GRADIENTS)
SYMBIND_GRADIENTS(none, Nothing, T(0) * g, NothingRight, T(0) * g)
SYMBIND_GRADIENTS(mod, ModLeft, g, ModRight, -g* std::floor(a / b))
SYMBIND_GRADIENTS(power, PowerLeft, g*(b* std::pow(a, b - T(1))), PowerRight,
                  g*(std::log(a) * std::pow(a, b)))
SYMBIND_GRADIENTS(hypot, HypotLeft, g*(a / std::hypot(a, b)), HypotRight, g*(b / std::hypot(a, b)))
#undef SYMBIND_GRADIENT
#undef SYMBIND_GRADIENTS

}  // namespace symbind::functor
