#pragma once
// Loops between float32 and the bits of IEEE half precision.

#include <cstdint>

namespace symbind {

struct HalfLoops {
  void (*encode)(const float* from, std::uint16_t* to, std::int64_t n);
  void (*decode)(const std::uint16_t* from, float* to, std::int64_t n);
  void (*add)(const std::uint16_t* from, float* to, std::int64_t n);  ///< to += from
};

/// The fastest loops of this processor. All give the same bits.
const HalfLoops& half_loops();
/// Those with the conversions of AVX2 processors.
HalfLoops half_loops_avx2();

}  // namespace symbind
