// Decided here: SSE4 has no instruction for halves, so they are converted by integer operations
// there.
#include "kernels/vector/convert.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector/convert_vector.cpp"
#include <hwy/foreach_target.h>
// The other targets are compiled by now.
#include <hwy/highway.h>

#include "kernels/vector/bfloat16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToUnsigned<Floats>;
using Shorts = hn::Rebind<std::uint16_t, Floats>;

struct HalfToFloat {
  using From = std::uint16_t;
  using To = float;
  static hn::Vec<Floats> load(const From* from) {
    const Floats d;
    const Shorts d16;
#if HWY_TARGET == HWY_SSE4
    // The exponent is moved by a multiplication, which is exact for subnormals too.
    const Words d32;
    const auto all = hn::PromoteTo(d32, hn::LoadU(d16, from));
    const auto magnitude = hn::And(all, hn::Set(d32, 0x7fffu));
    const auto sign = hn::ShiftLeft<16>(hn::Sub(all, magnitude));
    const auto scaled = hn::BitCast(
        d32, hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112f)));
    // Infinity and NaN have the largest exponent; a NaN is made quiet.
    const auto special = hn::Or(hn::ShiftLeft<13>(magnitude), hn::Set(d32, 0x7f800000u));
    const auto quiet = hn::Or(special, hn::Set(d32, 0x400000u));
    const auto infinite = hn::Set(d32, 0x7c00u);
    const auto value = hn::IfThenElse(hn::Gt(magnitude, infinite), quiet,
                                      hn::IfThenElse(hn::Eq(magnitude, infinite), special, scaled));
    return hn::BitCast(d, hn::Or(value, sign));
#else
    const hn::Rebind<hwy::float16_t, Floats> half;
    return hn::PromoteTo(d, hn::BitCast(half, hn::LoadU(d16, from)));
#endif
  }
  static void apply(const From* from, To* to) { hn::StoreU(load(from), Floats(), to); }
};

struct AddHalf {
  using From = std::uint16_t;
  using To = float;
  static void apply(const From* from, To* to) {
    const Floats d;
    hn::StoreU(hn::Add(hn::LoadU(d, to), HalfToFloat::load(from)), d, to);
  }
};

struct FloatToHalf {
  using From = float;
  using To = std::uint16_t;
  static void apply(const From* from, To* to) {
    const Floats d;
    const Shorts d16;
    const auto x = hn::LoadU(d, from);
#if HWY_TARGET == HWY_SSE4
    const Words d32;
    const auto all = hn::BitCast(d32, x);
    const auto magnitude = hn::And(all, hn::Set(d32, 0x7fffffffu));
    const auto sign = hn::ShiftRight<16>(hn::Sub(all, magnitude));
    // Half the distance to the next value is added, less one for ties to an even value.
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 1u));
    const auto rounded = hn::Add(hn::Sub(magnitude, hn::Set(d32, 0x38000000u - 0xfffu)), odd);
    const auto normal = hn::Min(hn::ShiftRight<13>(rounded), hn::Set(d32, 0x7c00u));
    // Below 2^-14, the addition of 0.5 rounds at the last bit of a subnormal half.
    const auto subnormal =
        hn::Sub(hn::BitCast(d32, hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f))),
                hn::Set(d32, 0x3f000000u));
    const auto nan =
        hn::Or(hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 0x3ffu)), hn::Set(d32, 0x7e00u));
    auto value = hn::IfThenElse(hn::Gt(hn::Set(d32, 0x38800000u), magnitude), subnormal, normal);
    value = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d32, 0x7f800000u)), nan, value);
    const hn::RebindToSigned<Words> i32;
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(i32, hn::Or(value, sign))), d16, to);
#else
    const hn::Rebind<hwy::float16_t, Floats> half;
    hn::StoreU(hn::BitCast(d16, hn::DemoteTo(half, x)), d16, to);
#endif
  }
};

struct BFloat16ToFloat {
  using From = std::uint16_t;
  using To = float;
  static void apply(const From* from, To* to) { hn::StoreU(load_bfloat16(from), Floats(), to); }
};

struct FloatToBFloat16 {
  using From = float;
  using To = std::uint16_t;
  static void apply(const From* from, To* to) { store_bfloat16(hn::LoadU(Floats(), from), to); }
};

/// Elements of 16 bits are accessed as integers: Half and BFloat16 have the same size and
/// alignment.
template <class F, class From, class To>
void convert(const From* from, To* to, std::int64_t n) {
  const std::size_t lanes = hn::Lanes(Floats());
  const auto* x = reinterpret_cast<const typename F::From*>(from);
  auto* y = reinterpret_cast<typename F::To*>(to);
  const auto count = static_cast<std::size_t>(n);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) F::apply(x + i, y + i);
  if (i == count) return;
  typename F::From from_part[hn::MaxLanes(Floats())] = {};
  typename F::To to_part[hn::MaxLanes(Floats())] = {};
  std::memcpy(from_part, x + i, (count - i) * sizeof(*x));
  std::memcpy(to_part, y + i, (count - i) * sizeof(*y));
  F::apply(from_part, to_part);
  std::memcpy(y + i, to_part, (count - i) * sizeof(*y));
}

constexpr Conversions kConversions = {convert<HalfToFloat>, convert<FloatToHalf>,
                                      convert<BFloat16ToFloat>, convert<FloatToBFloat16>,
                                      convert<AddHalf>};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::vector {

const ByIsa<Conversions>& conversions() {
  static constexpr ByIsa<Conversions> kTables = SYMBIND_BY_ISA(kConversions);
  return kTables;
}

}  // namespace symbind::vector
#endif
