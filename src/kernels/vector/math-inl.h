// exp, log and their relatives for vectors of float.
//
// Decided here: every function gives the limits of the standard library's (infinity, NaN, signed
// zero, subnormal numbers); the error is below 3 ulp with FMA (tests/kernels/math_test.cpp). The
// polynomials are minimax approximations that were computed for these intervals. Nothing is looked
// up in tables and there are no branches.
#if defined(SYMBIND_KERNELS_VECTOR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SYMBIND_KERNELS_VECTOR_MATH_INL_H
#undef SYMBIND_KERNELS_VECTOR_MATH_INL_H
#else
#define SYMBIND_KERNELS_VECTOR_MATH_INL_H
#endif

#include <limits>

#include "kernels/vector/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

/// c[0] + c[1]·x + … by Horner's rule.
template <class... C>
HWY_INLINE F polynomial(F x, float first, C... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return F(first);
  } else {
    return fma(polynomial(x, rest...), x, F(first));
  }
}

HWY_INLINE F as_float(I x) { return F(hn::BitCast(F::Tag(), x.raw)); }
HWY_INLINE I as_bits(F x) { return I(hn::BitCast(I::Tag(), x.raw)); }
/// 2ⁿ for −126 ≤ n ≤ 127.
HWY_INLINE F power_of_two(I n) { return as_float(I(hn::ShiftLeft<23>((n + I(127)).raw))); }

/// x = n·ln 2 + r with |r| ≤ ln 2 / 2; `minus_1` is eʳ − 1.
struct Reduced {
  I n;
  F minus_1;
};
HWY_INLINE Reduced reduce_exp(F x, F low_part) {
  Reduced r;
  r.n = I(hn::NearestInt((x * F(1.44269504f)).raw));
  const F n = F(hn::ConvertTo(F::Tag(), r.n.raw));
  // ln 2 in two parts; n times the first one is exact.
  F rest = fma(n, F(-0.693359375f), x);
  rest = fma(n, F(2.12194440e-4f), rest) + low_part;
  const F p = polynomial(rest, 0.5f, 0.16666667163372f, 0.041666354984045f, 0.00833327323198f,
                         0.001394110266119f, 0.000199143018108f);
  r.minus_1 = fma(p, rest * rest, rest);
  return r;
}

/// exp(x + low_part), |low_part| ≪ 1.
HWY_INLINE F exp_of_sum(F x, F low_part) {
  x = min_or_right(F(89.f), max_or_right(F(-104.f), x));
  const Reduced r = reduce_exp(x, low_part);
  // 2ⁿ in two factors: the first product has an ordinary exponent even if the result overflows or
  // is subnormal.
  const I first = I(hn::ShiftRight<1>(r.n.raw));
  return ((F(1.f) + r.minus_1) * power_of_two(first)) * power_of_two(r.n - first);
}
HWY_INLINE F exp(F x) { return exp_of_sum(x, F(0.f)); }

/// exp(x) − 1 for x ≤ 89, without the sign of zero.
HWY_INLINE F expm1_of_limited(F x) {
  const Reduced r = reduce_exp(max_or_right(F(-20.f), x), F(0.f));
  // 2ⁿ⁻¹, because 2¹²⁸ is too large.
  const F half = power_of_two(r.n - I(1));
  const F whole = fma(half, r.minus_1, half - F(0.5f));
  return pick(M<float>{hn::RebindMask(F::Tag(), (r.n == I(0)).raw)}, r.minus_1, whole + whole);
}
HWY_INLINE F expm1(F x) { return copysign(expm1_of_limited(min_or_right(F(89.f), x)), x); }

HWY_INLINE F tanh(F x) {
  const F t = expm1_of_limited(F(-2.f) * abs(x));
  return copysign(t / (t + F(2.f)), x);
}

HWY_INLINE F sigmoid(F x) { return F(1.f) / (F(1.f) + exp(-x)); }

/// x = 2ᵉ·(1 + f) with √½ ≤ 1 + f < √2; `log1p` is log(1 + f) in the sum high + low.
struct Split {
  F exponent, high, low;
};
HWY_INLINE Split split_log(F x) {
  const M<float> tiny = x < F(std::numeric_limits<float>::min());
  const I bits = as_bits(pick(tiny, x * F(0x1p23f), x));
  const I e = I(hn::ShiftRight<23>((bits - I(0x3f3504f3)).raw));
  const F f = as_float(bits - I(hn::ShiftLeft<23>(e.raw))) - F(1.f);
  const F square = f * f;
  const F p = polynomial(f, 0.3333331048488617f, -0.24999986588954926f, 0.20002226531505585f,
                         -0.16669252514839172f, 0.14218664169311523f, -0.12384334951639175f,
                         0.11872926354408264f, -0.11789865791797638f, 0.06915540248155594f);
  Split s;
  s.exponent = F(hn::ConvertTo(F::Tag(), e.raw)) - pick(tiny, F(23.f), F(0.f));
  s.high = f;
  s.low = fma(F(-0.5f), square, p * (square * f));
  return s;
}
/// The values of a logarithm at 0, below 0 and at infinity.
HWY_INLINE F with_limits_of_log(F x, F y) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  y = pick(x < F(kInfinity), y, x);
  const F outside = pick(x == F(0.f), F(-kInfinity), F(std::numeric_limits<float>::quiet_NaN()));
  return pick(x > F(0.f), y, outside);
}

HWY_INLINE F log(F x) {
  const Split s = split_log(x);
  const F low = fma(s.exponent, F(-2.12194440e-4f), s.low);
  return with_limits_of_log(x, fma(s.exponent, F(0.693359375f), s.high + low));
}
HWY_INLINE F log2(F x) {
  const Split s = split_log(x);
  // log₂ e = 1 + 0.442…: the sum of the parts keeps the bits of `high`.
  constexpr float kRest = 0.44269504088896340736f;
  const F low = fma(s.low, F(kRest), s.low) + s.high * F(kRest);
  return with_limits_of_log(x, s.exponent + (s.high + low));
}
HWY_INLINE F log10(F x) {
  const Split s = split_log(x);
  const F y = (s.high + s.low) * F(0.43429448190325182765f);
  const F low = fma(s.exponent, F(4.605038981195214e-06f), y);
  return with_limits_of_log(x, fma(s.exponent, F(0.301025390625f), low));
}
HWY_INLINE F log1p(F x) {
  const F u = F(1.f) + x;
  // What the sum above lost, relative to it.
  const F lost = pick(x > F(1.f), F(1.f) - (u - x), x - (u - F(1.f)));
  const F y = log(u) + lost / u;
  const F with_limits =
      pick((u > F(0.f)) & (u < F(std::numeric_limits<float>::infinity())), y, log(u));
  return pick(u == F(1.f), x, with_limits);
}

/// erfc for x ≥ 0: exp(−x²)·erfcx(x).
HWY_INLINE F erfc_of_positive(F x) {
  x = min_or_right(F(10.25f), x);
  const F at = (x - F(3.f)) / (x + F(3.f));
  const F p = polynomial(at, 1.2530080080032349f, -0.13562114536762238f, -0.04756239801645279f,
                         0.1296464204788208f, -0.11927097290754318f, 0.06829576939344406f,
                         -0.02379753068089485f, 0.0025673762429505587f, 0.0020018124487251043f,
                         -0.0007775822887197137f, -0.00026812730357050896f);
  // The square in two parts: that of 12 bits is exact.
  const F high = as_float(I(hn::And(as_bits(x).raw, hn::Set(I::Tag(), ~0xfff))));
  const F low = (x - high) * (x + high);
  return p * exp_of_sum(-(high * high), -low) / fma(F(2.f), x, F(1.f));
}
HWY_INLINE F erfc(F x) {
  const F y = erfc_of_positive(abs(x));
  return pick(x < F(0.f), F(2.f) - y, y);
}
HWY_INLINE F erf(F x) {
  const F square = x * x;
  const F near = fma(x,
                     polynomial(square, 0.12837916612625122f, -0.3761262595653534f,
                                0.11283600330352783f, -0.026854444295167923f, 0.005189535673707724f,
                                -0.0008020842215046287f, 7.889122935011983e-05f),
                     x);
  const F far = copysign(F(1.f) - erfc_of_positive(abs(x)), x);
  return pick(square < F(1.f), near, far);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#endif
