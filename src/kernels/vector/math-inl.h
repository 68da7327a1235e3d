// exp, log and their relatives for vectors of float.
//
// Decided here: every function gives the limits of the standard library's (infinity, NaN, signed
// zero, subnormal numbers); the error is below 3 ulp with FMA (tests/kernels/math_test.cpp). The
// polynomials are minimax approximations that were computed for these intervals. Nothing is looked
// up in tables. log has one branch, for vectors with limits in them.
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
HWY_INLINE I as_int(F whole) { return I(hn::ConvertTo(I::Tag(), whole.raw)); }
HWY_INLINE F power_of_two(I n) { return as_float(I(hn::ShiftLeft<23>((n + I(127)).raw))); }

/// 2ⁿ for a whole number −126 ≤ n ≤ 127.
HWY_INLINE F power_of_two(F n) {
#if HWY_TARGET == HWY_AVX3
  return F(F::Raw{_mm512_scalef_ps(F(1.f).raw.raw, n.raw.raw)});
#else
  return power_of_two(as_int(n));
#endif
}
/// x · 2ⁿ with one rounding, for a whole number −252 ≤ n ≤ 254 and ½ ≤ |x| ≤ 2.
HWY_INLINE F times_power_of_two(F x, F n) {
#if HWY_TARGET == HWY_AVX3
  return F(F::Raw{_mm512_scalef_ps(x.raw.raw, n.raw.raw)});
#else
  // Two factors: the first product has an ordinary exponent even if the result overflows or is
  // subnormal.
  const I whole = as_int(n), first = I(hn::ShiftRight<1>(whole.raw));
  return (x * power_of_two(first)) * power_of_two(whole - first);
#endif
}

/// x + low_part = n·ln 2 + r with |r| ≤ ln 2 / 2 and a whole number n; `minus_1` is eʳ − 1.
struct Reduced {
  F n, minus_1;
};
template <class... LowPart>
HWY_INLINE Reduced reduce_exp(F x, LowPart... low_part) {
  Reduced r;
  r.n = F(hn::Round((x * F(1.44269504f)).raw));
  // ln 2 in two parts; n times the first one is exact.
  F rest = fma(r.n, F(-0.693359375f), x);
  rest = (fma(r.n, F(2.12194440e-4f), rest) + ... + low_part);
  const F p = polynomial(rest, 0.5f, 0.16666667163372f, 0.041666354984045f, 0.00833327323198f,
                         0.001394110266119f, 0.000199143018108f);
  r.minus_1 = fma(p, rest * rest, rest);
  return r;
}

/// exp(x + low_part), x ≤ 89, |low_part| ≪ 1.
template <class... LowPart>
HWY_INLINE F exp_of_limited(F x, LowPart... low_part) {
  const Reduced r = reduce_exp(max_or_right(F(-104.f), x), low_part...);
  return times_power_of_two(F(1.f) + r.minus_1, r.n);
}
HWY_INLINE F exp(F x) { return exp_of_limited(min_or_right(F(89.f), x)); }

HWY_INLINE F expm1(F x) {
  const Reduced r = reduce_exp(max_or_right(F(-20.f), min_or_right(F(89.f), x)));
  // 2ⁿ⁻¹, because 2¹²⁸ is too large.
  const F half = power_of_two(r.n - F(1.f));
  const F whole = fma(half, r.minus_1, half - F(0.5f));
  return copysign(pick(r.n == F(0.f), r.minus_1, whole + whole), x);
}

HWY_INLINE F tanh(F x) {
  const Reduced r = reduce_exp(max_or_right(F(-20.f), F(-2.f) * abs(x)));
  const F scale = power_of_two(r.n), t = fma(scale, r.minus_1, scale - F(1.f));
  return copysign(t / (t + F(2.f)), x);
}

HWY_INLINE F sigmoid(F x) { return F(1.f) / (F(1.f) + exp(-x)); }

/// x = 2ᵉ·(1 + f) with √½ ≤ 1 + f < √2 for an ordinary x; log(1 + f) is the sum high + low.
struct Split {
  F exponent, high, low;
};
HWY_INLINE Split split_log(F x) {
  const I bits = as_bits(x);
  const I e = I(hn::ShiftRight<23>((bits - I(0x3f3504f3)).raw));
  const F f = as_float(bits - I(hn::ShiftLeft<23>(e.raw))) - F(1.f);
  const F square = f * f;
  const F p = polynomial(f, 0.3333331048488617f, -0.24999986588954926f, 0.20002226531505585f,
                         -0.16669252514839172f, 0.14218664169311523f, -0.12384334951639175f,
                         0.11872926354408264f, -0.11789865791797638f, 0.06915540248155594f);
  return {F(hn::ConvertTo(F::Tag(), e.raw)), f, fma(F(-0.5f), square, p * (square * f))};
}

/// A logarithm that join(Split) makes. Vectors of positive, finite, not subnormal numbers skip what
/// the others need; the bits of an element are the same.
template <class Join>
HWY_INLINE F logarithm(F x, const Join& join) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const M<float> tiny = x < F(std::numeric_limits<float>::min());
  if (HWY_LIKELY(hn::AllTrue(F::Tag(), (!tiny & (x < F(kInfinity))).raw)))
    return join(split_log(x));
  Split s = split_log(pick(tiny, x * F(0x1p23f), x));
  s.exponent = s.exponent - pick(tiny, F(23.f), F(0.f));
  const F y = pick(x < F(kInfinity), join(s), x);
  const F outside = pick(x == F(0.f), F(-kInfinity), F(std::numeric_limits<float>::quiet_NaN()));
  return pick(x > F(0.f), y, outside);
}

HWY_INLINE F log(F x) {
  return logarithm(x, [](const Split& s) HWY_ATTR {
    const F low = fma(s.exponent, F(-2.12194440e-4f), s.low);
    return fma(s.exponent, F(0.693359375f), s.high + low);
  });
}
HWY_INLINE F log2(F x) {
  return logarithm(x, [](const Split& s) HWY_ATTR {
    // log₂ e = 1 + 0.442…: the sum of the parts keeps the bits of `high`.
    constexpr float kRest = 0.44269504088896340736f;
    const F low = fma(s.low, F(kRest), s.low) + s.high * F(kRest);
    return s.exponent + (s.high + low);
  });
}
HWY_INLINE F log10(F x) {
  return logarithm(x, [](const Split& s) HWY_ATTR {
    const F y = (s.high + s.low) * F(0.43429448190325182765f);
    const F low = fma(s.exponent, F(4.605038981195214e-06f), y);
    return fma(s.exponent, F(0.301025390625f), low);
  });
}
HWY_INLINE F log1p(F x) {
  const F u = F(1.f) + x;
  // What the sum above lost, relative to it.
  const F lost = pick(x > F(1.f), F(1.f) - (u - x), x - (u - F(1.f)));
  const F near = log(u);
  const M<float> inside = (u > F(0.f)) & (u < F(std::numeric_limits<float>::infinity()));
  const F with_limits = pick(inside, near + lost / u, near);
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
  return p * exp_of_limited(-(high * high), -low) / fma(F(2.f), x, F(1.f));
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
