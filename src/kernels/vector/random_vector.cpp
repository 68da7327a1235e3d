// Decided here: a lane of 64 bits computes one counter, because the product of two words has 64
// bits.
#include "kernels/vector/random.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector/random_vector.cpp"
#include <hwy/foreach_target.h>
// Included for each target, after those above.
#include "kernels/vector/loops-inl.h"

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

/// The upper word in the place of the lower one.
HWY_INLINE Lanes upper(Lanes a) {
  return hn::BitCast(Wide(), hn::Shuffle2301(hn::BitCast(Words(), a)));
}

/// The keys of the rounds; they do not depend on the counter.
struct Keys {
  static constexpr int kRounds = 10;
  Lanes k0[kRounds], k1[kRounds];
  explicit Keys(std::uint64_t key) {
    auto low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < kRounds; ++round) {
      k0[round] = all(low);
      k1[round] = all(high);
      low += 0x9E3779B9;
      high += 0xBB67AE85;
    }
  }
};

/// The four words of as many counters as there are lanes; upper words of lanes are not cleared on
/// the way.
struct Counters {
  Lanes c0, c1, c2, c3;
  HWY_INLINE void round(Lanes k0, Lanes k1) {
    const Lanes a = product(all(0xD2511F53), c0), b = product(all(0xCD9E8D57), c2);
    c0 = hn::Xor3(upper(b), c1, k0);
    c2 = hn::Xor3(upper(a), c3, k1);
    c1 = b;
    c3 = a;
  }
};

/// The lower words of a and b side by side.
HWY_INLINE Lanes side_by_side(Lanes a, Lanes b) {
  return hn::Or(hn::And(a, all(0xffffffff)), hn::ShiftLeft<32>(b));
}

/// Vectors of counters at once: one is computed while the others wait for their products.
/// Four need 32 registers.
constexpr std::size_t kAtOnce = HWY_TARGET == HWY_AVX3 ? 4 : 2;
constexpr std::size_t kLanes = hn::MaxLanes(Wide()), kCounters = kAtOnce * kLanes,
                      kVectors = 2 * kAtOnce, kGroup = 4 * kCounters;
static_assert(kGroup == kVectors * F::kMost);

/// The words of kCounters counters from `first` on.
HWY_INLINE void group(const Keys& keys, std::uint64_t counter_hi, std::uint64_t first,
                      hn::Vec<Words>* words) {
  const Wide d;
  // Counters in such an order that the words of neighbouring lanes are joined in theirs.
  HWY_ALIGN static constexpr std::uint64_t kOrder[] = {
#if HWY_TARGET == HWY_AVX3
    0,
    4,
    1,
    5,
    2,
    6,
    3,
    7
#elif HWY_TARGET == HWY_AVX2
    0,
    2,
    1,
    3
#else
    0,
    1
#endif
  };
  static_assert(sizeof kOrder / sizeof *kOrder == kLanes);
  const Lanes c2 = hn::Set(d, counter_hi & 0xffffffff), c3 = hn::Set(d, counter_hi >> 32);
  Counters counters[kAtOnce];
  Lanes at = hn::Add(hn::Set(d, first), hn::Load(d, kOrder));
  for (Counters& c : counters) {
    c = {at, hn::ShiftRight<32>(at), c2, c3};
    at = hn::Add(at, hn::Set(d, kLanes));
  }
  HWY_UNROLL(10)
  for (int round = 0; round < Keys::kRounds; ++round)
    for (Counters& c : counters) c.round(keys.k0[round], keys.k1[round]);
  for (const Counters& c : counters) {
    const Lanes front = side_by_side(c.c0, c.c1), back = side_by_side(c.c2, c.c3);
    *words++ = hn::BitCast(Words(), hn::InterleaveLower(d, front, back));
    *words++ = hn::BitCast(Words(), hn::InterleaveUpper(d, front, back));
  }
}

/// Values of the mask: unit_float(word) < keep is a comparison of whole numbers.
struct Kept {
  hn::Vec<Words> bound;
  F kept;
  Kept(float keep, float kept_)
      : bound(hn::Set(Words(), static_cast<std::uint32_t>(std::ceil(keep * 0x1p24f)) << 8)),
        kept(kept_) {}
  HWY_INLINE F operator()(hn::Vec<Words> words) const {
    const hn::RebindToFloat<Words> d;
    return F(hn::IfThenElseZero(hn::RebindMask(d, hn::Lt(words, bound)), kept.raw));
  }
};

/// Calls whole(i, the mask in kVectors vectors) and part(i, mask, count) for the elements
/// [first, first + n) of a draw; i begins with 0.
template <class Whole, class Part>
HWY_INLINE void for_masks(const Draw& draw, std::uint64_t first, std::size_t n, const Whole& whole,
                          const Part& part) {
  const Keys keys(draw.key);
  const Kept kept(draw.keep, 1 / draw.keep);
  std::size_t skipped = first % 4, i = 0;
  for (std::uint64_t counter = first / 4; i < n; counter += kCounters) {
    hn::Vec<Words> words[kVectors];
    group(keys, draw.counter_hi, counter, words);
    F masks[kVectors];
    for (std::size_t k = 0; k < kVectors; ++k) masks[k] = kept(words[k]);
    const std::size_t here = HWY_MIN(kGroup - skipped, n - i);
    if (HWY_LIKELY(here == kGroup)) {
      whole(i, masks);
    } else {
      HWY_ALIGN float some[kGroup];
      for (std::size_t k = 0; k < kVectors; ++k) masks[k].store(some + k * F::kMost);
      part(i, some + skipped, here);
    }
    i += here;
    skipped = 0;
  }
}

void mask(const Draw& draw, std::uint64_t first, std::int64_t n, float* mask) {
  for_masks(
      draw, first, static_cast<std::size_t>(n),
      [=](std::size_t i, const F* masks) HWY_ATTR {
        for (std::size_t k = 0; k < kVectors; ++k) masks[k].store(mask + i + k * F::kMost);
      },
      [=](std::size_t i, const float* some, std::size_t count)
          HWY_ATTR { std::memcpy(mask + i, some, count * sizeof(float)); });
}

struct Times {
  HWY_INLINE F operator()(F a, F b) const { return a * b; }
};
template <bool with_mask>
void drop_with(const Draw& draw, std::uint64_t first, std::int64_t n, const float* x, float* mask,
               float* y) {
  for_masks(
      draw, first, static_cast<std::size_t>(n),
      [=](std::size_t i, const F* masks) HWY_ATTR {
        for (std::size_t k = 0; k < kVectors; ++k) {
          const std::size_t at = i + k * F::kMost;
          if (with_mask) masks[k].store(mask + at);
          (F::load(x + at) * masks[k]).store(y + at);
        }
      },
      [=](std::size_t i, const float* some, std::size_t count) HWY_ATTR {
        if (with_mask) std::memcpy(mask + i, some, count * sizeof(float));
        map(Times{}, y + i, static_cast<std::int64_t>(count), Array<float>{x + i},
            Array<float>{some});
      });
}
void drop(const Draw& draw, std::uint64_t first, std::int64_t n, const float* x, float* mask,
          float* y) {
  if (mask == nullptr)
    drop_with<false>(draw, first, n, x, mask, y);
  else
    drop_with<true>(draw, first, n, x, mask, y);
}

constexpr RandomTable kTable = {mask, drop};

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
