// Decided here: a lane of 64 bits computes one counter, because the product of two words has 64
// bits.
#include "kernels/vector/random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector/random_vector.cpp"
#include <hwy/foreach_target.h>
// Included for each target, after those above.
#include "kernels/vector/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

using Wide = hn::ScalableTag<std::uint64_t>;
using Words = hn::Repartition<std::uint32_t, Wide>;
using Lanes = hn::Vec<Wide>;

HWY_INLINE Lanes all(std::uint32_t word) { return hn::Set(Wide(), word); }
/// Of the lower words of two lanes.
HWY_INLINE Lanes product(Lanes a, Lanes b) {
  return hn::MulEven(hn::BitCast(Words(), a), hn::BitCast(Words(), b));
}

/// Four words of as many counters as there are lanes; upper words of lanes are not cleared on the
/// way.
HWY_INLINE void rounds(std::uint64_t key, Lanes& c0, Lanes& c1, Lanes& c2, Lanes& c3) {
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  const Lanes m0 = all(0xD2511F53), m1 = all(0xCD9E8D57);
  for (int round = 0; round < 10; ++round) {
    const Lanes a = product(m0, c0), b = product(m1, c2);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(b), c1), all(k0));
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(a), c3), all(k1));
    c1 = b;
    c3 = a;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
}

/// The lower words of a and b side by side.
HWY_INLINE Lanes side_by_side(Lanes a, Lanes b) {
  return hn::Or(hn::And(a, all(0xffffffff)), hn::ShiftLeft<32>(b));
}

void bits(std::uint64_t key, std::uint64_t counter_hi, std::uint64_t first, std::int64_t counters,
          std::uint32_t* words) {
  const Wide d;
  constexpr std::size_t kLanes = hn::MaxLanes(Wide());
  const auto n = static_cast<std::size_t>(counters);
  HWY_ALIGN std::uint64_t low[kLanes], high[kLanes];
  for (std::size_t i = 0; i < n; i += kLanes) {
    const Lanes counter = hn::Add(hn::Set(d, first + i), hn::Iota(d, 0));
    Lanes c0 = counter, c1 = hn::ShiftRight<32>(counter), c2 = hn::Set(d, counter_hi & 0xffffffff),
          c3 = hn::Set(d, counter_hi >> 32);
    rounds(key, c0, c1, c2, c3);
    hn::Store(side_by_side(c0, c1), d, low);
    hn::Store(side_by_side(c2, c3), d, high);
    const std::size_t here = n - i < kLanes ? n - i : kLanes;
    for (std::size_t k = 0; k < here; ++k) {
      std::memcpy(words + 4 * (i + k), low + k, 8);
      std::memcpy(words + 4 * (i + k) + 2, high + k, 8);
    }
  }
}

void mask(const std::uint32_t* words, float keep, float kept, float* mask, std::int64_t size) {
  const F::Tag d;
  const hn::RebindToUnsigned<F::Tag> d32;
  const hn::RebindToSigned<F::Tag> i32;
  const F unit(0x1p-24f), bound(keep), value(kept), zero(0.f);
  const auto n = static_cast<std::size_t>(size);
  const auto of = [&](auto drawn) HWY_ATTR {
    const F u(hn::ConvertTo(d, hn::BitCast(i32, hn::ShiftRight<8>(drawn))));
    return pick(u * unit < bound, value, zero);
  };
  std::size_t i = 0;
  for (; i + F::kMost <= n; i += F::kMost) of(hn::LoadU(d32, words + i)).store(mask + i);
  if (i == n) return;
  HWY_ALIGN std::uint32_t rest[F::kMost] = {};
  std::memcpy(rest, words + i, (n - i) * sizeof(std::uint32_t));
  store_first(of(hn::Load(d32, rest)), mask + i, n - i);
}

constexpr RandomTable kTable = {bits, mask};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::vector {

const ByIsa<RandomTable>& random_kernels() {
  static constexpr ByIsa<RandomTable> kTables = SYMBIND_BY_ISA(kTable);
  return kTables;
}

}  // namespace symbind::vector
#endif
