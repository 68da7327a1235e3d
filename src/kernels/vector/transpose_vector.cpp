// Decided here: squares of 4 × 4 elements in registers, in tiles of 16 × 16, so that every cache
// line that is read or written is used whole while it is near.
#include "kernels/vector/transpose.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector/transpose_vector.cpp"
#include <hwy/foreach_target.h>
// The other targets are compiled by now.
#include <hwy/highway.h>

#include "kernels/vector/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kTile = 16;

void words(const void* from, void* to, std::int64_t rows, std::int64_t columns) {
  const auto* in = static_cast<const float*>(from);
  auto* out = static_cast<float*>(to);
  for (std::int64_t c0 = 0; c0 < columns; c0 += kTile) {
    const std::int64_t right = std::min(columns, c0 + kTile);
    for (std::int64_t r0 = 0; r0 < rows; r0 += kTile) {
      const std::int64_t bottom = std::min(rows, r0 + kTile);
      std::int64_t c = c0;
      for (; c + 4 <= right; c += 4) {
        std::int64_t r = r0;
        for (; r + 4 <= bottom; r += 4)
          transpose_4x4(in + r * columns + c, columns, out + c * rows + r, rows);
        for (; r < bottom; ++r)
          for (std::int64_t k = c; k < c + 4; ++k) out[k * rows + r] = in[r * columns + k];
      }
      for (; c < right; ++c)
        for (std::int64_t r = r0; r < bottom; ++r) out[c * rows + r] = in[r * columns + c];
    }
  }
}

constexpr Transposes kTransposes = {words};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::vector {

const ByIsa<Transposes>& transposes() {
  static constexpr ByIsa<Transposes> kTables = SYMBIND_BY_ISA(kTransposes);
  return kTables;
}

}  // namespace symbind::vector
#endif
