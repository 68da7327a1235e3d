#include "kernels/vector/small_product.h"

#include "kernels/vector/transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector/small_product_vector.cpp"
#include <hwy/foreach_target.h>
// Included for each target, after those above.
#include "kernels/vector/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

// A larger B is beyond the first cache and read in its order.
constexpr std::int64_t kFewestInOrder = 16384;
// With fewer rows or columns, sums of neighbours take less time than a transposed copy of B.
constexpr std::int64_t kFewestRows = 4, kFewestColumns = 16;
constexpr std::int64_t kMostTransposed = 4096;  // numbers on the stack

struct Call {
  GemmShape s;
  float alpha;
  const float *a, *b;
  float beta;
  float* c;

  HWY_INLINE float element(float sum, float before) const {
    return beta == 0 ? alpha * sum : alpha * sum + beta * before;
  }
};

/// `kRows` rows of C from row i on, and `kVectors` vectors of D from column j on.
template <int kRows, int kVectors, class D>
HWY_INLINE void tile(const D d, const Call& call, std::int64_t i, std::int64_t j) {
  const GemmShape& s = call.s;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t next = s.transpose_a ? 1 : s.lda, step = s.transpose_a ? s.lda : 1;
  const float* a = call.a + i * next;
  const float* b = call.b + j;
  hn::Vec<D> sum[kRows][kVectors];
  for (auto& row : sum)
    for (auto& one : row) one = hn::Zero(d);
  for (std::int64_t p = 0; p < s.k; ++p, a += step, b += s.ldb) {
    hn::Vec<D> right[kVectors];
    for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
    for (int r = 0; r < kRows; ++r) {
      const auto left = hn::Set(d, a[r * next]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
  }
  const auto alpha = hn::Set(d, call.alpha), beta = hn::Set(d, call.beta);
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      float* to = call.c + (i + r) * s.ldc + j + v * lanes;
      auto value = hn::Mul(alpha, sum[r][v]);
      if (call.beta != 0) value = hn::Add(value, hn::Mul(beta, hn::LoadU(d, to)));
      hn::StoreU(value, d, to);
    }
}

template <int kRows, int kVectors, class D>
HWY_INLINE std::int64_t tiles(const D d, const Call& call, std::int64_t i, std::int64_t j) {
  const auto columns = kVectors * static_cast<std::int64_t>(hn::Lanes(d));
  for (; j + columns <= call.s.n; j += columns) tile<kRows, kVectors>(d, call, i, j);
  return j;
}

template <int kRows>
void rows(const Call& call, std::int64_t i) {
  std::int64_t j = tiles < kRows, kRows == 1 ? 4 : 2 > (hn::ScalableTag<float>(), call, i, 0);
  j = tiles<kRows, 1>(hn::ScalableTag<float>(), call, i, j);
  j = tiles<kRows, 1>(hn::CappedTag<float, 4>(), call, i, j);
  tiles<kRows, 1>(hn::CappedTag<float, 1>(), call, i, j);
}

/// Rows of A times rows of B: sums of products of neighbours.
template <int kColumns>
HWY_INLINE void dots(const Call& call, std::int64_t i, std::int64_t j) {
  using Sums = Sixteen<float>;
  const GemmShape& s = call.s;
  const Array<float> a{call.a + i * s.lda};
  Sums sums[kColumns];
  for (Sums& one : sums)
    for (auto& part : one.part) part = V<float>(0.f);
  const std::int64_t whole = s.k - s.k % static_cast<std::int64_t>(Sums::kNumbers);
  for (std::int64_t p = 0; p < whole; p += static_cast<std::int64_t>(Sums::kNumbers))
    for (std::size_t v = 0; v < Sums::kVectors; ++v) {
      const std::size_t place = static_cast<std::size_t>(p) + v * V<float>::kMost;
      const V<float> x = a.whole(place);
      for (int q = 0; q < kColumns; ++q)
        sums[q].part[v] =
            fma(x, Array<float>{call.b + (j + q) * s.ldb}.whole(place), sums[q].part[v]);
    }
  for (int q = 0; q < kColumns; ++q) {
    if (whole < s.k)
      sums[q] =
          continued(sums[q], PlusProduct{}, s.k - whole, Array<float>{call.a + i * s.lda + whole},
                    Array<float>{call.b + (j + q) * s.ldb + whole});
    float& to = call.c[i * s.ldc + j + q];
    to = call.element(sums[q].joined(Plus{}), to);
  }
}

void by_dots(const Call& call) {
  for (std::int64_t i = 0; i < call.s.m; ++i) {
    std::int64_t j = 0;
    for (; j + 4 <= call.s.n; j += 4) dots<4>(call, i, j);
    for (; j < call.s.n; ++j) dots<1>(call, i, j);
  }
}

/// With one value of k each row of C is a multiple of B's.
struct Multiple {
  F left, alpha;
  HWY_INLINE F operator()(F right) const { return alpha * (left * right); }
};
struct MultipleAndOld {
  F left, alpha, beta;
  HWY_INLINE F operator()(F right, F old) const { return alpha * (left * right) + beta * old; }
};

void outer(const Call& call) {
  const GemmShape& s = call.s;
  const Array<float> b{call.b};
  for (std::int64_t i = 0; i < s.m; ++i) {
    const F left(call.a[s.transpose_a ? i : i * s.lda]);
    float* c = call.c + i * s.ldc;
    if (call.beta == 0)
      map(Multiple{left, F(call.alpha)}, c, s.n, b);
    else
      map(MultipleAndOld{left, F(call.alpha), F(call.beta)}, c, s.n, b, Array<float>{c});
  }
}

struct PlusMultiples {
  F left[4];
  HWY_INLINE F operator()(F old, F b0, F b1, F b2, F b3) const {
    return fma(left[3], b3, fma(left[2], b2, fma(left[1], b1, fma(left[0], b0, old))));
  }
};
struct PlusMultiple {
  F left;
  HWY_INLINE F operator()(F old, F right) const { return fma(left, right, old); }
};

/// One row of C as the sum of B's rows, which are read one after the other.
void row_by_row(const Call& call) {
  const GemmShape& s = call.s;
  const std::int64_t step = s.transpose_a ? s.lda : 1;
  const auto left = [&](std::int64_t p) { return F(call.a[p * step]); };
  const auto right = [&](std::int64_t p) { return Array<float>{call.b + p * s.ldb}; };
  const Array<float> c{call.c};
  std::memset(call.c, 0, static_cast<std::size_t>(s.n) * sizeof(float));
  std::int64_t p = 0;
  for (; p + 4 <= s.k; p += 4)
    map(PlusMultiples{{left(p), left(p + 1), left(p + 2), left(p + 3)}}, call.c, s.n, c, right(p),
        right(p + 1), right(p + 2), right(p + 3));
  for (; p < s.k; ++p) map(PlusMultiple{left(p)}, call.c, s.n, c, right(p));
}

void by_rows(const Call& call) {
  std::int64_t i = 0;
  for (; i + 4 <= call.s.m; i += 4) rows<4>(call, i);
  for (; i < call.s.m; ++i) rows<1>(call, i);
}

void product(const GemmShape& s, float alpha, const float* a, const float* b, float beta,
             float* c) {
  Call call{s, alpha, a, b, beta, c};
  if (!s.transpose_b) {
    if (s.k == 1) return outer(call);
    const bool plain = alpha == 1 && beta == 0;
    return s.m == 1 && plain && s.n * s.k >= kFewestInOrder ? row_by_row(call) : by_rows(call);
  }
  if (s.m >= kFewestRows && s.n >= kFewestColumns && s.ldb == s.k && s.n * s.k <= kMostTransposed) {
    float transposed[kMostTransposed];
    transposes().best().words(b, transposed, s.n, s.k);
    call.s.ldb = s.n;
    call.b = transposed;
    return by_rows(call);
  }
  if (!s.transpose_a) return by_dots(call);
  gemm_plain(s, alpha, a, b, beta, c);
}

constexpr SmallProducts kTable = {product};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::vector {

const ByIsa<SmallProducts>& small_products() {
  static constexpr ByIsa<SmallProducts> kTables = SYMBIND_BY_ISA(kTable);
  return kTables;
}

}  // namespace symbind::vector
#endif
