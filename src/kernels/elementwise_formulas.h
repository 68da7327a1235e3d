// The formulas of the elementwise functions, as lists that other files expand.
//
// A formula is written in operators and functions that exist for a number and for a vector: T is
// float, double or a vector of them (kernels/vector/vector-inl.h). pick(c, a, b) is c ? a : b.
// Functions of integers are written next to it, or in kernels/elementwise_functors.h.
#pragma once

// X(name, needs, y = f(x), dx = f'(dy, x or y)). `needs` says which of x and y the derivative
// reads: the other one may be freed before backward.
#define SYMBIND_UNARY(X)                                                             \
  X(sigmoid, kOutput, sigmoid(x), dy* y*(T(1) - y))                                  \
  X(tanh, kOutput, tanh(x), dy*(T(1) - y * y))                                       \
  X(softsign, kInput, x / (T(1) + abs(x)), dy / ((T(1) + abs(x)) * (T(1) + abs(x)))) \
  X(exp, kOutput, exp(x), dy* y)                                                     \
  X(log, kInput, log(x), dy / x)                                                     \
  X(log2, kInput, log2(x), dy / (x * T(kLn2)))                                       \
  X(log10, kInput, log10(x), dy / (x * T(kLn10)))                                    \
  X(log1p, kInput, log1p(x), dy / (T(1) + x))                                        \
  X(expm1, kInput, expm1(x), dy* exp(x))                                             \
  X(sqrt, kOutput, sqrt(x), dy* T(0.5f) / y)                                         \
  X(rsqrt, kInput, T(1) / sqrt(x), dy * T(-0.5f) / (x * sqrt(x)))                    \
  X(reciprocal, kInput, T(1) / x, -dy / (x * x))                                     \
  X(degrees, kHeadOnly, x*(T(180) / T(kPi)), dy*(T(180) / T(kPi)))                   \
  X(radians, kHeadOnly, x*(T(kPi) / T(180)), dy*(T(kPi) / T(180)))                   \
  X(erf, kInput, erf(x), dy*((T(2) * T(kInvSqrtPi)) * exp(T(0) - x * x)))

// The same for functions of whole numbers: X(name, needs, y, dx, y for integers).
#define SYMBIND_UNARY_EXACT(X)                                                                   \
  X(relu, kOutput, pick(x < T(0), T(0), x), pick(y > T(0), dy, pick(y == y, T(0), y)),           \
    x > 0 ? x : 0)                                                                               \
  X(square, kInput, x* x, dy*(T(2) * x), T(std::uint64_t(x) * std::uint64_t(x)))                 \
  X(abs, kInput, abs(x), pick(x > T(0), dy, pick(x < T(0), -dy, T(0))),                          \
    x < 0 ? T(0 - std::uint64_t(x)) : x)                                                         \
  X(negative, kHeadOnly, -x, -dy, T(0 - std::uint64_t(x)))                                       \
  X(sign, kNothing, pick(x > T(0), T(1), pick(x < T(0), T(-1), T(0))), dy, T((x > 0) - (x < 0))) \
  X(round, kNothing, round(x), dy, x)                                                            \
  X(rint, kNothing, rint_down(x), dy, x)                                                         \
  X(ceil, kNothing, ceil(x), dy, x)                                                              \
  X(floor, kNothing, floor(x), dy, x)                                                            \
  X(trunc, kNothing, trunc(x), dy, x)                                                            \
  X(fix, kNothing, trunc(x), dy, x)                                                              \
  X(logical_not, kNothing, pick(x == T(0), T(1), T(0)), dy, T(x == 0))

// X(name, functor, f(a, b)). Decided here, as MXNet does: a comparison gives 0 or 1 in the
// operands' type; ties of maximum and minimum go to the left; NaN propagates. add, subtract,
// multiply and divide wrap around for integers.
#define SYMBIND_BINARY(X)                                                 \
  X(add, Add, add(a, b))                                                  \
  X(sub, Sub, subtract(a, b))                                             \
  X(mul, Mul, multiply(a, b))                                             \
  X(div, Div, divide(a, b))                                               \
  X(maximum, Maximum, pick((a > b) | (a != a), a, b))                     \
  X(minimum, Minimum, pick((a < b) | (a != a), a, b))                     \
  X(equal, Equal, pick(a == b, T(1), T(0)))                               \
  X(not_equal, NotEqual, pick(a != b, T(1), T(0)))                        \
  X(greater, Greater, pick(a > b, T(1), T(0)))                            \
  X(greater_equal, GreaterEqual, pick(a >= b, T(1), T(0)))                \
  X(lesser, Lesser, pick(a < b, T(1), T(0)))                              \
  X(lesser_equal, LesserEqual, pick(a <= b, T(1), T(0)))                  \
  X(logical_and, LogicalAnd, pick((a != T(0)) & (b != T(0)), T(1), T(0))) \
  X(logical_or, LogicalOr, pick((a != T(0)) | (b != T(0)), T(1), T(0)))   \
  X(logical_xor, LogicalXor, pick((a != T(0)) ^ (b != T(0)), T(1), T(0)))

// X(name, functors of g · ∂f/∂a and g · ∂f/∂b with their formulas). Decided here: except in g / b,
// g is multiplied last, as in MXNet, so that it makes no number infinite before a division.
#define SYMBIND_BINARY_GRADIENT(X)                                                   \
  X(div, DivLeft, g / b, DivRight, g * (-a / (b * b)))                               \
  X(maximum, MaximumLeft, pick(a >= b, g, T(0)), MaximumRight, pick(a < b, g, T(0))) \
  X(minimum, MinimumLeft, pick(a <= b, g, T(0)), MinimumRight, pick(a > b, g, T(0)))

// Activation functions and others with up to two parameters p and q, of floating point types only:
// X(name, y = f(x, p, q), dx = f'(dy, v, p, q)); v is x or y, as the operator says.
#define SYMBIND_ACTIVATION(X)                                                              \
  X(relu, pick((x > T(0)) | (x != x), x, T(0)), dy* pick(v > T(0), T(1), T(0)))            \
  X(sigmoid, sigmoid(x), dy*(v * (T(1) - v)))                                              \
  X(tanh, tanh(x), dy*(T(1) - v * v))                                                      \
  /* Beyond 20 adding 1 has no effect in float, and exp would eventually overflow. */      \
  X(softrelu, pick(x > T(20), x, log1p(exp(x))), dy*(-expm1(-v)))                          \
  X(softsign, x / (T(1) + abs(x)), dy / ((T(1) + abs(v)) * (T(1) + abs(v))))               \
  X(leaky, pick(x > T(0), x, x * p), dy* pick(v > T(0), T(1), p))                          \
  X(elu, pick(x > T(0), x, p * expm1(x)), dy* pick(v > T(0), T(1), v + p))                 \
  X(elu_from_input, pick(x > T(0), x, p * expm1(x)), dy* pick(v > T(0), T(1), p * exp(v))) \
  X(selu, T(kSeluScale) * pick(x > T(0), x, T(kSeluAlpha) * expm1(x)),                     \
    dy * pick(v > T(0), T(kSeluScale), v + T(kSeluScale * kSeluAlpha)))                    \
  X(gelu, T(0.5f) * x * erfc(-x * T(kSqrtHalf)),                                           \
    dy * (T(0.5f) * erfc(-v * T(kSqrtHalf)) +                                              \
          v * (exp(T(-0.5f) * v * v) * T(kInvSqrtPi * kSqrtHalf))))                        \
  X(clip, pick(x < p, p, pick(x > q, q, x)), /* NaN passes dy through, as in MXNet */      \
    pick((v < p) | (v > q), T(0), dy))                                                     \
  X(hard_sigmoid, pick(p* x + q < T(0), T(0), pick(p * x + q > T(1), T(1), p * x + q)),    \
    pick((p * v + q > T(0)) & (p * v + q < T(1)), dy * p, T(0)))                           \
  X(smooth_l1,                                                                             \
    pick(abs(x) < T(1) / (p * p), T(0.5f) * x * x * (p * p), abs(x) - T(0.5f) / (p * p)),  \
    dy* pick(v > T(1) / (p * p), T(1), pick(v < T(-1) / (p * p), T(-1), p * p * v)))
