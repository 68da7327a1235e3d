// Sums in 16 partial sums, whatever the width of a vector (docs/design/0008-vector.md).
#if defined(SYMBIND_KERNELS_VECTOR_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SYMBIND_KERNELS_VECTOR_SUMS_INL_H
#undef SYMBIND_KERNELS_VECTOR_SUMS_INL_H
#else
#define SYMBIND_KERNELS_VECTOR_SUMS_INL_H
#endif

#include "kernels/vector/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

struct Plus {
  template <class T>
  HWY_INLINE V<T> operator()(V<T> a, V<T> b) const {
    return a + b;
  }
};
/// NaN propagates, ties go to the left.
struct Larger {
  template <class T>
  HWY_INLINE V<T> operator()(V<T> a, V<T> b) const {
    return pick((a > b) | (a != a), a, b);
  }
};
struct Smaller {
  template <class T>
  HWY_INLINE V<T> operator()(V<T> a, V<T> b) const {
    return pick((a < b) | (a != a), a, b);
  }
};
struct PlusProduct {
  template <class T>
  HWY_INLINE V<T> operator()(V<T> sum, V<T> a, V<T> b) const {
    return fma(a, b, sum);
  }
};

/// 16 partial sums, in as many vectors as that takes.
template <class T>
struct Sixteen {
  static constexpr std::size_t kNumbers = 16, kVectors = kNumbers / V<T>::kMost;
  static_assert(kVectors >= 1);
  V<T> part[kVectors];

  /// Partial sums k and k + 8 are joined first, then k and k + 4, k + 2, k + 1.
  template <class Join>
  HWY_INLINE T joined(const Join& join) const {
    V<T> sums[kVectors];
    for (std::size_t k = 0; k < kVectors; ++k) sums[k] = part[k];
    for (std::size_t half = kVectors / 2; half > 0; half /= 2)
      for (std::size_t k = 0; k < half; ++k) sums[k] = join(sums[k], sums[k + half]);
    V<T> all = sums[0];
#if HWY_TARGET == HWY_AVX3
    all = join(all, V<T>(hn::ConcatUpperUpper(typename V<T>::Tag(), all.raw, all.raw)));
#endif
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    all = join(all, V<T>(hn::SwapAdjacentBlocks(all.raw)));
#endif
    if constexpr (sizeof(T) == 4) {
      all = join(all, V<T>(hn::Shuffle1032(all.raw)));
      all = join(all, V<T>(hn::Shuffle2301(all.raw)));
    } else {
      all = join(all, V<T>(hn::Shuffle01(all.raw)));
    }
    return hn::GetLane(all.raw);
  }
};

/// The sums after step(sum, operands[i]…) over all i.
template <class T, class Step, class... Operands>
HWY_INLINE Sixteen<T> continued(Sixteen<T> sums, const Step& step, std::int64_t size,
                                const Operands&... x) {
  constexpr std::size_t kLanes = V<T>::kMost;
  const auto n = static_cast<std::size_t>(size);
  std::size_t i = 0;
  for (; i + Sixteen<T>::kNumbers <= n; i += Sixteen<T>::kNumbers)
    for (std::size_t k = 0; k < Sixteen<T>::kVectors; ++k)
      sums.part[k] = step(sums.part[k], x.whole(i + k * kLanes)...);
  for (std::size_t k = 0; i < n; ++k, i += kLanes) {
    if (i + kLanes <= n) {
      sums.part[k] = step(sums.part[k], x.whole(i)...);
    } else {
      const M<T> here{hn::FirstN(typename V<T>::Tag(), n - i)};
      sums.part[k] = pick(here, step(sums.part[k], x.part(i, n - i)...), sums.part[k]);
    }
  }
  return sums;
}
/// Partial sums of step(sum, operands[i]…) over all i; they begin with `first`.
template <class T, class Step, class... Operands>
HWY_INLINE Sixteen<T> fold(const Step& step, T first, std::int64_t size, const Operands&... x) {
  Sixteen<T> sums;
  for (V<T>& p : sums.part) p = V<T>(first);
  return continued(sums, step, size, x...);
}

/// Floats as doubles.
struct Widened {
  const float* at;
  using Narrow = hn::Rebind<float, V<double>::Tag>;
  HWY_INLINE V<double> whole(std::size_t i) const {
    return V<double>(hn::PromoteTo(V<double>::Tag(), hn::LoadU(Narrow(), at + i)));
  }
  HWY_INLINE V<double> part(std::size_t i, std::size_t n) const {
    HWY_ALIGN float some[V<double>::kMost] = {};
    std::memcpy(some, at + i, n * sizeof(float));
    return V<double>(hn::PromoteTo(V<double>::Tag(), hn::Load(Narrow(), some)));
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#endif
