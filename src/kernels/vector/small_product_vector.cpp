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

// With fewer rows or columns, sums of neighbours take less time than a transposed copy of B.
constexpr std::int64_t kFewestRows = 4, kFewestColumns = 16;
constexpr std::int64_t kMostTransposed = 4096;  // numbers on the stack

struct Call {
  GemmShape s;
  float alpha;
  const float *a, *b;
  float beta;
  float* c;

  HWY_INLINE void write(float sum, float* to) const {
    *to = beta == 0 ? alpha * sum : alpha * sum + beta * *to;
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
    call.write(sums[q].joined(Plus{}), call.c + i * s.ldc + j + q);
  }
}

void by_dots(const Call& call) {
  const std::int64_t m = call.s.m, n = call.s.n;
  std::int64_t j = 0;  // outside: B may be much larger than A
  for (; j + 4 <= n; j += 4)
    for (std::int64_t i = 0; i < m; ++i) dots<4>(call, i, j);
  for (; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) dots<1>(call, i, j);
}

/// With one value of k each row of C is a multiple of B's. The sum begins with 0, so 0 · −1 is +0.
struct Multiple {
  F left, alpha;
  HWY_INLINE F operator()(F right) const { return alpha * fma(left, right, F(0.f)); }
};
struct MultipleAndOld {
  F left, alpha, beta;
  HWY_INLINE F operator()(F right, F old) const {
    return alpha * fma(left, right, F(0.f)) + beta * old;
  }
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

void by_rows(const Call& call) {
  std::int64_t i = 0;
  for (; i + 4 <= call.s.m; i += 4) rows<4>(call, i);
  for (; i < call.s.m; ++i) rows<1>(call, i);
}

void product(const GemmShape& s, float alpha, const float* a, const float* b, float beta,
             float* c) {
  Call call{s, alpha, a, b, beta, c};
  if (alpha == 0) {  // A and B are not read, as in BLAS
    call.s.k = 0;
    return by_rows(call);
  }
  if (!s.transpose_a && !s.transpose_b && s.n == 1 && s.ldb == 1) {
    call.s.ldb = s.k;  // a column that is one row
    return by_dots(call);
  }
  if (!s.transpose_b) return s.k == 1 ? outer(call) : by_rows(call);
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
