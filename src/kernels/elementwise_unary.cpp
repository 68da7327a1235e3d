// The table of the unary functions: loops over numbers, and for float32 those over vectors where
// they exist.
//
// Functions that map integers to integers (SYMBIND_UNARY_EXACT) have an integer loop; the others
// compute integers in double and truncate.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/special.h"
#include "kernels/elementwise.h"
#include "kernels/elementwise_formulas.h"
#include "kernels/vector/elementwise.h"

namespace symbind {
namespace {

using std::abs, std::ceil, std::erf, std::exp, std::expm1, std::floor, std::log, std::log10,
    std::log1p, std::log2, std::round, std::sqrt, std::tanh, std::trunc;
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
  return T(1) / (T(1) + exp(-x));
}

/// Rounds half down, as MXNet's rint.
template <class T>
T rint_down(T x) {
  const T low = floor(x), high = ceil(x);
  return x - low <= high - x ? low : high;
}

template <class T>
T pick(bool condition, T a, T b) {
  return condition ? a : b;
}

constexpr long double kPi = std::numbers::pi_v<long double>,
                      kInvSqrtPi = std::numbers::inv_sqrtpi_v<long double>,
                      kLn2 = std::numbers::ln2_v<long double>,
                      kLn10 = std::numbers::ln10_v<long double>;

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

// Functions that exist for numbers only: X(name, needs, y = f(x), dx = f'(dy, x or y)).
#define SYMBIND_UNARY_NUMBERS(X)                                               \
  X(cbrt, kOutput, std::cbrt(x), dy / (T(3) * y * y))                          \
  X(rcbrt, kInput, T(1) / std::cbrt(x), -dy / (T(3) * x * std::cbrt(x)))       \
  X(sin, kInput, std::sin(x), dy* std::cos(x))                                 \
  X(cos, kInput, std::cos(x), -dy* std::sin(x))                                \
  X(tan, kOutput, std::tan(x), dy*(y * y + T(1)))                              \
  X(arcsin, kInput, std::asin(x), dy / std::sqrt(T(1) - x * x))                \
  X(arccos, kInput, std::acos(x), -dy / std::sqrt(T(1) - x * x))               \
  X(arctan, kInput, std::atan(x), dy / (x * x + T(1)))                         \
  X(sinh, kInput, std::sinh(x), dy* std::cosh(x))                              \
  X(cosh, kInput, std::cosh(x), dy* std::sinh(x))                              \
  X(arcsinh, kInput, std::asinh(x), dy / std::sqrt(x * x + T(1)))              \
  X(arccosh, kInput, std::acosh(x), dy / std::sqrt(x * x - T(1)))              \
  X(arctanh, kInput, std::atanh(x), dy / (T(1) - x * x))                       \
  X(erfinv, kOutput, erfinv(x), dy*(T(0.5) / T(kInvSqrtPi)) * std::exp(y * y)) \
  X(gamma, kInput, std::tgamma(x), dy* std::tgamma(x) * digamma(x))            \
  X(gammaln, kInput, gammaln(x), dy* digamma(x))

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
SYMBIND_UNARY_NUMBERS(FUNCTOR)
SYMBIND_UNARY_EXACT(EXACT_FUNCTOR)

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

constexpr UnaryFunction kFunctions[] = {
    // clang-format off
    SYMBIND_UNARY(ENTRY)
    SYMBIND_UNARY_NUMBERS(ENTRY)
    SYMBIND_UNARY_EXACT(EXACT_ENTRY)
    // clang-format on
};
static_assert(std::size(kFunctions) == kNumUnaryFunctions);

/// The table above with the loops that exist for vectors.
auto functions_of_this_cpu() {
  constexpr std::size_t kFloat = static_cast<std::size_t>(Compute::kFloat);
  std::array<UnaryFunction, kNumUnaryFunctions> table;
  std::copy(std::begin(kFunctions), std::end(kFunctions), table.begin());
  for (UnaryFunction& f : table)
    for (const vector::UnaryLoops& v : vector::unary_loops().best().functions)
      if (std::string_view(v.name) == f.name) {
        f.forward[kFloat] = v.forward;
        f.backward[kFloat] = v.backward;
      }
  return table;
}

}  // namespace

const std::array<UnaryFunction, kNumUnaryFunctions>& unary_functions() {
  static const auto kTable = functions_of_this_cpu();
  return kTable;
}

#undef SYMBIND_UNARY_NUMBERS
#undef FUNCTOR
#undef EXACT_FUNCTOR
#undef GRADIENTS
#undef ENTRY
#undef EXACT_ENTRY

}  // namespace symbind
