// The functions of two operands and their gradients, for host and device alike.
//
// Decided here, as MXNet does: a comparison gives 0 or 1 in the operands' type; % has the divisor's
// sign and gives 0 for divisor 0; ties of maximum and minimum go to the left; NaN propagates.
// An integer divided by 0 gives 0.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

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

#define SYMBIND_BINARY(Name, expression)      \
  struct Name {                               \
    template <class T>                        \
    SYMBIND_HD T operator()(T a, T b) const { \
      return T(expression);                   \
    }                                         \
  };
SYMBIND_BINARY(Add, Wrapping<T>(a) + Wrapping<T>(b))
SYMBIND_BINARY(Sub, Wrapping<T>(a) - Wrapping<T>(b))
SYMBIND_BINARY(Mul, Wrapping<T>(a) * Wrapping<T>(b))
SYMBIND_BINARY(Div, divide(a, b))
SYMBIND_BINARY(Mod, modulo(a, b))
SYMBIND_BINARY(Power, power(a, b))
SYMBIND_BINARY(Maximum, (a > b || a != a) ? a : b)
SYMBIND_BINARY(Minimum, (a < b || a != a) ? a : b)
SYMBIND_BINARY(Hypot, hypotenuse(a, b))
SYMBIND_BINARY(Equal, a == b ? T(1) : T(0))
SYMBIND_BINARY(NotEqual, a != b ? T(1) : T(0))
SYMBIND_BINARY(Greater, a > b ? T(1) : T(0))
SYMBIND_BINARY(GreaterEqual, a >= b ? T(1) : T(0))
SYMBIND_BINARY(Lesser, a < b ? T(1) : T(0))
SYMBIND_BINARY(LesserEqual, a <= b ? T(1) : T(0))
SYMBIND_BINARY(LogicalAnd, (a != T(0)) & (b != T(0)) ? T(1) : T(0))
SYMBIND_BINARY(LogicalOr, (a != T(0)) | (b != T(0)) ? T(1) : T(0))
SYMBIND_BINARY(LogicalXor, (a != T(0)) != (b != T(0)) ? T(1) : T(0))
#undef SYMBIND_BINARY

#define SYMBIND_GRADIENT(Name, expression)         \
  struct Name {                                    \
    template <class T>                             \
    SYMBIND_HD T operator()(T g, T a, T b) const { \
      (void)a, (void)b;                            \
      return T(expression);                        \
    }                                              \
  };
SYMBIND_GRADIENT(DivLeft, g / b)
SYMBIND_GRADIENT(DivRight, -g* a / (b * b))
SYMBIND_GRADIENT(Nothing, T(0) * g)
SYMBIND_GRADIENT(ModLeft, g)
SYMBIND_GRADIENT(ModRight, -g* std::floor(a / b))
SYMBIND_GRADIENT(PowerLeft, g* b* std::pow(a, b - T(1)))
SYMBIND_GRADIENT(PowerRight, g* std::log(a) * std::pow(a, b))
SYMBIND_GRADIENT(MaximumLeft, a >= b ? g : T(0))
SYMBIND_GRADIENT(MaximumRight, a < b ? g : T(0))
SYMBIND_GRADIENT(MinimumLeft, a <= b ? g : T(0))
SYMBIND_GRADIENT(MinimumRight, a > b ? g : T(0))
SYMBIND_GRADIENT(HypotLeft, g* a / std::hypot(a, b))
SYMBIND_GRADIENT(HypotRight, g* b / std::hypot(a, b))
#undef SYMBIND_GRADIENT

}  // namespace symbind::functor
