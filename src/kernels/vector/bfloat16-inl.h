// Vectors of bfloat16 as vectors of float32 (docs/design/0008-vector.md).
#if defined(SYMBIND_KERNELS_VECTOR_BFLOAT16_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SYMBIND_KERNELS_VECTOR_BFLOAT16_INL_H
#undef SYMBIND_KERNELS_VECTOR_BFLOAT16_INL_H
#else
#define SYMBIND_KERNELS_VECTOR_BFLOAT16_INL_H
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

using AllFloats = hwy::HWY_NAMESPACE::ScalableTag<float>;

HWY_INLINE hwy::HWY_NAMESPACE::Vec<AllFloats> load_bfloat16(const std::uint16_t* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<AllFloats> d32;
  const hn::Rebind<std::uint16_t, AllFloats> d16;
  return hn::BitCast(AllFloats(), hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, from))));
}

/// Rounds to the nearest, of two to the even one; a NaN stays one and becomes quiet.
HWY_INLINE void store_bfloat16(hwy::HWY_NAMESPACE::Vec<AllFloats> x, std::uint16_t* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<AllFloats> d32;
  const hn::RebindToSigned<decltype(d32)> i32;
  const hn::Rebind<std::uint16_t, AllFloats> d16;
  const auto all = hn::BitCast(d32, x);
  const auto odd = hn::And(hn::ShiftRight<16>(all), hn::Set(d32, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(all, hn::Set(d32, 0x7fffu)), odd));
  const auto quiet = hn::Or(hn::ShiftRight<16>(all), hn::Set(d32, 0x40u));
  const auto nan = hn::Gt(hn::And(all, hn::Set(d32, 0x7fffffffu)), hn::Set(d32, 0x7f800000u));
  const auto value = hn::BitCast(i32, hn::IfThenElse(nan, quiet, rounded));
  hn::StoreU(hn::DemoteTo(d16, value), d16, to);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#endif
