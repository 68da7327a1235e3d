#include <cmath>

#include "kernels/vector/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector/softmax_vector.cpp"
#include <hwy/foreach_target.h>
// Included for each target, after those above.
#include "kernels/vector/math-inl.h"
#include "kernels/vector/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kShort = 16;

/// exp((x − top) · scale), at most 1: top is the largest x, or the smallest one for a negative
/// scale.
struct Term {
  F top, scale;
  HWY_INLINE F operator()(F x) const { return exp_of_limited((x - top) * scale); }
};
/// The same for scale 1.
struct PlainTerm {
  F top;
  HWY_INLINE F operator()(F x) const { return exp_of_limited(x - top); }
};
/// Ignores NaN: the terms of NaN are NaN, and so is their sum.
struct LargerNumber {
  HWY_INLINE F operator()(F top, F x) const { return max_or_right(x, top); }
};
struct SmallerNumber {
  HWY_INLINE F operator()(F top, F x) const { return min_or_right(x, top); }
};
struct ShiftAndScale {
  F shift, scale;
  HWY_INLINE F operator()(F x) const { return (x - shift) * scale; }
};
struct ScaleAndShift {
  F top, scale, shift;
  HWY_INLINE F operator()(F x) const { return (x - top) * scale - shift; }
};
/// A quotient, as MXNet computes it, not a product with the inverse: the last digits are the same.
struct DividedBy {
  F divisor;
  HWY_INLINE F operator()(F x) const { return x / divisor; }
};

/// The largest of a row, with four vectors in turn: which one of equal numbers it is changes no
/// term.
template <class Join>
float top_of(const Join& join, float first, const float* x, std::int64_t n) {
  constexpr std::int64_t kLanes = F::kMost, kStep = 4 * kLanes;
  const std::int64_t whole = n / kStep * kStep;
  F tops[4] = {F(first), F(first), F(first), F(first)};
  for (std::int64_t i = 0; i < whole; i += kStep)
    for (std::int64_t k = 0; k < 4; ++k) tops[k] = join(tops[k], F::load(x + i + k * kLanes));
  Sixteen<float> rest = fold(join, first, n - whole, Array<float>{x + whole});
  for (const F& top : tops) rest.part[0] = join(rest.part[0], top);
  return rest.joined(join);
}
float top_of(const float* x, std::int64_t n, float scale) {
  return scale < 0 ? top_of(SmallerNumber{}, kInfinity, x, n)
                   : top_of(LargerNumber{}, -kInfinity, x, n);
}

/// The sum of the terms: rows of up to kShort elements are summed in their order, as MXNet sums
/// them, so that the last digits are the same; longer ones in the order of `fold`. The terms are
/// stored in y if it is not null.
template <class ATerm>
float sum_of_terms(const ATerm& term, const float* x, float* y, std::int64_t n) {
  constexpr std::int64_t kLanes = F::kMost, kGroup = Sixteen<float>::kNumbers;
  if (n <= kShort) {
    HWY_ALIGN float terms[kShort];
    map(term, terms, n, Array<float>{x});
    if (y != nullptr) std::memcpy(y, terms, static_cast<std::size_t>(n) * sizeof(float));
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += terms[i];
    return sum;
  }
  const std::int64_t whole = n / kGroup * kGroup;
  Sixteen<float> sums;
  for (F& p : sums.part) p = F(0.f);
  for (std::int64_t i = 0; i < whole; i += kGroup) {
    __builtin_prefetch(x + n + i, 0, 2);  // the next row, in most calls
    std::size_t k = 0;
    for (std::int64_t at = i; at < i + kGroup; at += kLanes, ++k) {
      const F e = term(F::load(x + at));
      if (y != nullptr) e.store(y + at);
      sums.part[k] = sums.part[k] + e;
    }
  }
  HWY_ALIGN float rest[kGroup];
  map(term, rest, n - whole, Array<float>{x + whole});
  if (y != nullptr)
    std::memcpy(y + whole, rest, static_cast<std::size_t>(n - whole) * sizeof(float));
  return continued(sums, Plus{}, n - whole, Array<float>{rest}).joined(Plus{});
}
float sum_of_terms(const float* x, float* y, std::int64_t n, float top, float scale) {
  return scale == 1 ? sum_of_terms(PlainTerm{F(top)}, x, y, n)
                    : sum_of_terms(Term{F(top), F(scale)}, x, y, n);
}

void row(const float* x, float* y, std::int64_t n, float scale, bool logarithm) {
  const float top = top_of(x, n, scale);
  const float sum = sum_of_terms(x, logarithm ? nullptr : y, n, top, scale);
  if (logarithm)
    map(ScaleAndShift{F(top), F(scale), F(std::log(sum))}, y, n, Array<float>{x});
  else
    map(DividedBy{F(sum)}, y, n, Array<float>{y});
}

struct ColumnTerm {
  F scale;
  HWY_INLINE F operator()(F x, F top) const { return Term{top, scale}(x); }
};
struct PlusColumn {
  ColumnTerm term;
  HWY_INLINE F operator()(F sum, F x, F top) const { return sum + term(x, top); }
};
struct ColumnLogarithm {
  F scale;
  HWY_INLINE F operator()(F x, F top, F sum) const { return (x - top) * scale - sum; }
};
struct Quotient {
  HWY_INLINE F operator()(F a, F b) const { return a / b; }
};

void columns(const float* x, float* y, std::int64_t n, std::int64_t extent, std::int64_t stride,
             float scale, bool logarithm) {
  HWY_ALIGN float top[kTile], sum[kTile] = {};
  const Array<float> tops{top}, sums{sum};
  for (std::int64_t i = 0; i < n; ++i) top[i] = scale < 0 ? kInfinity : -kInfinity;
  for (std::int64_t k = 0; k < extent; ++k) {
    const Array<float> at{x + k * stride};
    if (scale < 0)
      map(SmallerNumber{}, top, n, tops, at);
    else
      map(LargerNumber{}, top, n, tops, at);
  }
  for (std::int64_t k = 0; k < extent; ++k) {
    const float* from = x + k * stride;
    float* to = y + k * stride;
    if (logarithm) {
      map(PlusColumn{{F(scale)}}, sum, n, sums, Array<float>{from}, tops);
    } else {
      map(ColumnTerm{F(scale)}, to, n, Array<float>{from}, tops);
      map(Plus{}, sum, n, sums, Array<float>{to});
    }
  }
  if (logarithm)
    for (std::int64_t i = 0; i < n; ++i) sum[i] = std::log(sum[i]);
  for (std::int64_t k = 0; k < extent; ++k) {
    float* to = y + k * stride;
    if (logarithm)
      map(ColumnLogarithm{F(scale)}, to, n, Array<float>{x + k * stride}, tops, sums);
    else
      map(Quotient{}, to, n, Array<float>{to}, sums);
  }
}

struct Backward {
  F sum, scale;
  HWY_INLINE F operator()(F dy, F y) const { return y * (dy - sum) * scale; }
};
struct LogBackward {
  F sum, scale;
  HWY_INLINE F operator()(F dy, F y) const { return (dy - exp(y) * sum) * scale; }
};

void row_backward(const float* dy, const float* y, float* dx, std::int64_t n, float scale,
                  bool logarithm) {
  const Array<float> heads{dy}, outputs{y};
  if (logarithm) {
    const float sum = fold(Plus{}, 0.f, n, heads).joined(Plus{});
    return map(LogBackward{F(sum), F(scale)}, dx, n, heads, outputs);
  }
  const float sum = fold(PlusProduct{}, 0.f, n, heads, outputs).joined(Plus{});
  map(Backward{F(sum), F(scale)}, dx, n, heads, outputs);
}

struct ColumnBackward {
  F scale;
  HWY_INLINE F operator()(F dy, F y, F sum) const { return y * (dy - sum) * scale; }
};
struct ColumnLogBackward {
  F scale;
  HWY_INLINE F operator()(F dy, F y, F sum) const { return (dy - exp(y) * sum) * scale; }
};

void columns_backward(const float* dy, const float* y, float* dx, std::int64_t n,
                      std::int64_t extent, std::int64_t stride, float scale, bool logarithm) {
  HWY_ALIGN float sum[kTile] = {};
  const Array<float> sums{sum};
  for (std::int64_t k = 0; k < extent; ++k) {
    const Array<float> head{dy + k * stride}, output{y + k * stride};
    if (logarithm)
      map(Plus{}, sum, n, sums, head);
    else
      map(PlusProduct{}, sum, n, sums, head, output);
  }
  for (std::int64_t k = 0; k < extent; ++k) {
    const Array<float> head{dy + k * stride}, output{y + k * stride};
    if (logarithm)
      map(ColumnLogBackward{F(scale)}, dx + k * stride, n, head, output, sums);
    else
      map(ColumnBackward{F(scale)}, dx + k * stride, n, head, output, sums);
  }
}

void shift_and_scale(const float* x, float* y, std::int64_t n, float shift, float scale) {
  map(ShiftAndScale{F(shift), F(scale)}, y, n, Array<float>{x});
}

constexpr SoftmaxTable kTable = {row, columns, row_backward, columns_backward, shift_and_scale};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::vector {

const ByIsa<SoftmaxTable>& softmax_kernels() {
  static constexpr ByIsa<SoftmaxTable> kTables = SYMBIND_BY_ISA(kTable);
  return kTables;
}

}  // namespace symbind::vector
#endif
