// Loops between float32 and the 16-bit floating point types.
#pragma once

#include <cstdint>

#include "base/half.h"
#include "kernels/vector/targets.h"

namespace symbind::vector {

/// All instruction sets give the bits of base/half.h.
struct Conversions {
  void (*half_to_float)(const Half* from, float* to, std::int64_t n);
  void (*float_to_half)(const float* from, Half* to, std::int64_t n);
  void (*bfloat16_to_float)(const BFloat16* from, float* to, std::int64_t n);
  void (*float_to_bfloat16)(const float* from, BFloat16* to, std::int64_t n);
  void (*add_half)(const Half* from, float* to, std::int64_t n);  ///< to += from
};

const ByIsa<Conversions>& conversions();

}  // namespace symbind::vector
