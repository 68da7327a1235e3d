// Decided here: places are counted in float lanes, which hold them exactly, and stored as bytes.
#include "kernels/max_pooling/rows.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/max_pooling/rows_vector.cpp"
#include <hwy/foreach_target.h>
// The other targets are compiled by now.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace symbind::max_pooling {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
constexpr std::int64_t kLanes = hn::MaxLanes(Floats());
static_assert(kLanes <= kSlack);

/// Splits from pair i on, a vector of each at a time; returns the next pair.
template <class D>
HWY_INLINE std::int64_t split_by(D d, std::int64_t i, const float* row, std::int64_t n, float* even,
                                 float* odd) {
  constexpr std::int64_t lanes = hn::MaxLanes(D());
  for (; 2 * (i + lanes) <= n; i += lanes) {
    hn::Vec<D> a, b;
    hn::LoadInterleaved2(d, row + 2 * i, a, b);
    hn::StoreU(a, d, even + i);
    hn::StoreU(b, d, odd + i);
  }
  return i;
}

void split(const float* row, std::int64_t n, float* even, float* odd) {
  std::int64_t i = split_by(Floats(), 0, row, n, even, odd);
  i = split_by(hn::FixedTag<float, 4>(), i, row, n, even, odd);
  for (; 2 * i < n; ++i) {
    even[i] = row[2 * i];
    if (2 * i + 1 < n) odd[i] = row[2 * i + 1];
  }
}

// What a vector writes beyond the end of a row is written again by the next row.
template <bool places>
HWY_INLINE void largest_of(const Windows& w) {
  const Floats d;
  const hn::RebindToSigned<Floats> integers;
  const hn::Rebind<std::uint8_t, Floats> bytes;
  const auto lowest = hn::Set(d, std::numeric_limits<float>::lowest());
  for (std::int64_t y = 0; y < w.height; ++y) {
    for (std::int64_t x = 0; x < w.width; x += kLanes) {
      auto value = lowest;
      auto first = hn::Zero(d);
      for (std::int64_t k = 0; k < w.count; ++k) {
        const auto tap = hn::LoadU(d, w.taps[k] + y * w.step + x);
        const auto larger = hn::Gt(tap, value);
        value = hn::IfThenElse(larger, tap, value);
        if constexpr (places)
          first = hn::IfThenElse(larger, hn::Set(d, static_cast<float>(k)), first);
      }
      hn::StoreU(value, d, w.best + y * w.width + x);
      if constexpr (places)
        hn::StoreU(hn::DemoteTo(bytes, hn::ConvertTo(integers, first)), bytes,
                   w.place + y * w.width + x);
    }
  }
}

void largest(const Windows& w) { w.place != nullptr ? largest_of<true>(w) : largest_of<false>(w); }

constexpr Rows kRows = {split, largest};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::max_pooling
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::max_pooling {

const ByIsa<Rows>& rows() {
  static constexpr ByIsa<Rows> kTables = SYMBIND_BY_ISA(kRows);
  return kTables;
}

}  // namespace symbind::max_pooling
#endif
