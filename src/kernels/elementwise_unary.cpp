// The table of the unary functions: one line each, with the derivative.
//
// A derivative is written in dy and in x, or in dy and y = f(x), whichever the column `needs`
// names: the other one may be freed before backward. Functions that map integers to integers
// (SYMBIND_EXACT) have an integer loop; the others compute integers in double and truncate.
#include <cmath>
#include <numbers>

#include "base/special.h"
#include "kernels/elementwise.h"

namespace symbind {
namespace {

using Needs = UnaryFunction::Needs;

/// Giles' approximation, then two steps of Newton: exact to the type.
template <class T>
T erfinv(T x) {
  if (!(x > T(-1) && x < T(1)))
    return std::abs(x) == T(1) ? x * std::numeric_limits<T>::infinity()
                               : std::numeric_limits<T>::quiet_NaN();
  const double v = x;
  double w = -std::log((1.0 - v) * (1.0 + v)), p;
  if (w < 5.0) {
    w -= 2.5;
    p = 2.81022636e-08;
    for (const double c : {3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                           -0.00125372503, -0.00417768164, 0.246640727, 1.50140941})
      p = c + p * w;
  } else {
    w = std::sqrt(w) - 3.0;
    p = -0.000200214257;
    for (const double c : {0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                           -0.0076224613, 0.00943887047, 1.00167406, 2.83297682})
      p = c + p * w;
  }
  double y = p * v;
  for (int step = 0; step < 2; ++step)
    y -= (std::erf(y) - v) / (2.0 * std::numbers::inv_sqrtpi * std::exp(-y * y));
  return static_cast<T>(y);
}

template <class T>
T sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

/// Rounds half down, as MXNet's rint.
template <class T>
T rint_down(T x) {
  const T low = std::floor(x), high = std::ceil(x);
  return x - low <= high - x ? low : high;
}

template <class T>
constexpr T kPi = std::numbers::pi_v<T>;
template <class T>
constexpr T kInvSqrtPi = std::numbers::inv_sqrtpi_v<T>;
template <class T>
constexpr T kLn2 = std::numbers::ln2_v<T>;
template <class T>
constexpr T kLn10 = std::numbers::ln10_v<T>;

template <class F, class T>
void forward_loop(const void* in, void* out, std::int64_t n) {
  const auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = F::template f<T>(x[i]);
}

template <class F, class T>
void backward_loop(const void* head, const void* saved, void* out, std::int64_t n) {
  const auto* dy = static_cast<const T*>(head);
  const auto* v = static_cast<const T*>(saved);
  auto* dx = static_cast<T*>(out);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) dx[i] = F::template df<T>(dy[i], v[i]);
}

// X(name, needs, y = f(x), dx = f'(dy, x or y))
#define SYMBIND_UNARY(X)                                                    \
  X(sigmoid, kOutput, sigmoid(x), dy* y*(T(1) - y))                         \
  X(tanh, kOutput, std::tanh(x), dy*(T(1) - y * y))                         \
  X(softsign, kInput, x / (T(1) + std::abs(x)),                             \
    dy / ((T(1) + std::abs(x)) * (T(1) + std::abs(x))))                     \
  X(exp, kOutput, std::exp(x), dy* y)                                       \
  X(log, kInput, std::log(x), dy / x)                                       \
  X(log2, kInput, std::log2(x), dy / (x * kLn2<T>))                         \
  X(log10, kInput, std::log10(x), dy / (x * kLn10<T>))                      \
  X(log1p, kInput, std::log1p(x), dy / (T(1) + x))                          \
  X(expm1, kInput, std::expm1(x), dy* std::exp(x))                          \
  X(sqrt, kOutput, std::sqrt(x), dy* T(0.5) / y)                            \
  X(rsqrt, kInput, T(1) / std::sqrt(x), dy * T(-0.5) / (x * std::sqrt(x)))  \
  X(cbrt, kOutput, std::cbrt(x), dy / (T(3) * y * y))                       \
  X(rcbrt, kInput, T(1) / std::cbrt(x), -dy / (T(3) * x * std::cbrt(x)))    \
  X(reciprocal, kInput, T(1) / x, -dy / (x * x))                            \
  X(sin, kInput, std::sin(x), dy* std::cos(x))                              \
  X(cos, kInput, std::cos(x), -dy* std::sin(x))                             \
  X(tan, kOutput, std::tan(x), dy*(y * y + T(1)))                           \
  X(arcsin, kInput, std::asin(x), dy / std::sqrt(T(1) - x * x))             \
  X(arccos, kInput, std::acos(x), -dy / std::sqrt(T(1) - x * x))            \
  X(arctan, kInput, std::atan(x), dy / (x * x + T(1)))                      \
  X(sinh, kInput, std::sinh(x), dy* std::cosh(x))                           \
  X(cosh, kInput, std::cosh(x), dy* std::sinh(x))                           \
  X(arcsinh, kInput, std::asinh(x), dy / std::sqrt(x * x + T(1)))           \
  X(arccosh, kInput, std::acosh(x), dy / std::sqrt(x * x - T(1)))           \
  X(arctanh, kInput, std::atanh(x), dy / (T(1) - x * x))                    \
  X(degrees, kHeadOnly, x*(T(180) / kPi<T>), dy*(T(180) / kPi<T>))          \
  X(radians, kHeadOnly, x*(kPi<T> / T(180)), dy*(kPi<T> / T(180)))          \
  X(erf, kInput, std::erf(x), dy*(T(2) * kInvSqrtPi<T>)*std::exp(-x* x))    \
  X(erfinv, kOutput, erfinv(x), dy*(T(0.5) / kInvSqrtPi<T>)*std::exp(y* y)) \
  X(gamma, kInput, std::tgamma(x), dy* std::tgamma(x) * digamma(x))         \
  X(gammaln, kInput, gammaln(x), dy* digamma(x))

// X(name, needs, y, dx, y for integers)
#define SYMBIND_EXACT(X)                                                                 \
  X(relu, kOutput, x<T(0) ? T(0) : x, y> T(0) ? dy : y == y ? T(0) : y, x > 0 ? x : 0)   \
  X(square, kInput, x* x, T(2) * dy * x, T(std::uint64_t(x) * std::uint64_t(x)))         \
  X(abs, kInput, std::abs(x),                                                            \
    x > T(0)   ? dy                                                                      \
    : x < T(0) ? -dy                                                                     \
               : T(0),                                                                   \
    x < 0 ? T(0 - std::uint64_t(x)) : x)                                                 \
  X(negative, kHeadOnly, -x, -dy, T(0 - std::uint64_t(x)))                               \
  X(sign, kNothing, x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0), dy, T((x > 0) - (x < 0))) \
  X(round, kNothing, std::round(x), dy, x)                                               \
  X(rint, kNothing, rint_down(x), dy, x)                                                 \
  X(ceil, kNothing, std::ceil(x), dy, x)                                                 \
  X(floor, kNothing, std::floor(x), dy, x)                                               \
  X(trunc, kNothing, std::trunc(x), dy, x)                                               \
  X(fix, kNothing, std::trunc(x), dy, x)                                                 \
  X(logical_not, kNothing, x == T(0) ? T(1) : T(0), dy, T(x == 0))

#define FUNCTOR(name, needs, forward, backward)      \
  struct F_##name {                                  \
    template <class T>                               \
    static T f(T x) {                                \
      return forward;                                \
    }                                                \
    template <class T>                               \
    static T df(T dy, [[maybe_unused]] T saved) {    \
      [[maybe_unused]] const T x = saved, y = saved; \
      return backward;                               \
    }                                                \
  };
#define EXACT_FUNCTOR(name, needs, forward, backward, exact) \
  FUNCTOR(name, needs, forward, backward)                    \
  struct I_##name {                                          \
    template <class T>                                       \
    static T f(T x) {                                        \
      return exact;                                          \
    }                                                        \
  };
SYMBIND_UNARY(FUNCTOR)
SYMBIND_EXACT(EXACT_FUNCTOR)

#define GRADIENTS(name) \
  { backward_loop<F_##name, float>, backward_loop<F_##name, double>, nullptr }
#define ENTRY(name, needs, ...)                                              \
  {#name,                                                                    \
   {forward_loop<F_##name, float>, forward_loop<F_##name, double>, nullptr}, \
   GRADIENTS(name),                                                          \
   Needs::needs},
#define EXACT_ENTRY(name, needs, ...)                              \
  {#name,                                                          \
   {forward_loop<F_##name, float>, forward_loop<F_##name, double>, \
    forward_loop<I_##name, std::int64_t>},                         \
   GRADIENTS(name),                                                \
   Needs::needs},

}  // namespace

const UnaryFunction kUnaryFunctions[] = {SYMBIND_UNARY(ENTRY) SYMBIND_EXACT(EXACT_ENTRY)};
static_assert(std::size(kUnaryFunctions) == kNumUnaryFunctions);

#undef SYMBIND_UNARY
#undef SYMBIND_EXACT
#undef FUNCTOR
#undef EXACT_FUNCTOR
#undef GRADIENTS
#undef ENTRY
#undef EXACT_ENTRY

}  // namespace symbind
