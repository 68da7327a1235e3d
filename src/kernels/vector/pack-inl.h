// Packing the right matrix of a product (docs/design/0008-vector.md).
#if defined(SYMBIND_KERNELS_VECTOR_PACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SYMBIND_KERNELS_VECTOR_PACK_INL_H
#undef SYMBIND_KERNELS_VECTOR_PACK_INL_H
#else
#define SYMBIND_KERNELS_VECTOR_PACK_INL_H
#endif

#include <algorithm>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

/// to[q · to_step + i] = from[i · from_step + q] for q and i below 4.
HWY_INLINE void transpose_4x4(const float* from, std::int64_t from_step, float* to,
                              std::int64_t to_step) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::FixedTag<float, 4> f;
  const hn::FixedTag<double, 2> d;
  const auto r0 = hn::LoadU(f, from), r1 = hn::LoadU(f, from + from_step),
             r2 = hn::LoadU(f, from + 2 * from_step), r3 = hn::LoadU(f, from + 3 * from_step);
  const auto low01 = hn::BitCast(d, hn::InterleaveLower(f, r0, r1)),
             low23 = hn::BitCast(d, hn::InterleaveLower(f, r2, r3)),
             high01 = hn::BitCast(d, hn::InterleaveUpper(f, r0, r1)),
             high23 = hn::BitCast(d, hn::InterleaveUpper(f, r2, r3));
  hn::StoreU(hn::BitCast(f, hn::InterleaveLower(d, low01, low23)), f, to);
  hn::StoreU(hn::BitCast(f, hn::InterleaveUpper(d, low01, low23)), f, to + to_step);
  hn::StoreU(hn::BitCast(f, hn::InterleaveLower(d, high01, high23)), f, to + 2 * to_step);
  hn::StoreU(hn::BitCast(f, hn::InterleaveUpper(d, high01, high23)), f, to + 3 * to_step);
}

/// Packs B (k × n, element (p, j) at p · row_step + j · column_step) into panels of `panel`
/// columns, their rows one after the other; the last panel is filled with zeros.
inline void pack_panels(const float* b, std::int64_t row_step, std::int64_t column_step,
                        std::int64_t k, std::int64_t n, std::int64_t panel, float* packed) {
  for (std::int64_t j = 0; j < n; j += panel, packed += k * panel) {
    const float* from = b + j * column_step;
    const std::int64_t columns = std::min(panel, n - j);
    const std::int64_t fours = row_step == 1 ? k / 4 * 4 : 0;
    for (std::int64_t p = 0; p < fours; p += 4) {
      float* to = packed + p * panel;
      std::int64_t i = 0;
      for (; i + 4 <= columns; i += 4)
        transpose_4x4(from + i * column_step + p, column_step, to + i, panel);
      for (std::int64_t q = 0; q < 4; ++q) {
        for (std::int64_t c = i; c < columns; ++c)
          to[q * panel + c] = from[c * column_step + p + q];
        std::fill(to + q * panel + columns, to + (q + 1) * panel, 0.f);
      }
    }
    for (std::int64_t p = fours; p < k; ++p) {
      float* to = packed + p * panel;
      for (std::int64_t i = 0; i < columns; ++i) to[i] = from[p * row_step + i * column_step];
      std::fill(to + columns, to + panel, 0.f);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#endif
