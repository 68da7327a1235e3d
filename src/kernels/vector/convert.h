// Loops between float32 and the 16-bit floating point types.
#pragma once

#include <cstdint>

#include "kernels/vector/targets.h"

namespace symbind::vector {

/// n contiguous elements; the arrays do not overlap. All instruction sets give the bits of
/// base/half.h.
using ConvertLoop = void (*)(const void* from, void* to, std::int64_t n);
struct Conversions {
  ConvertLoop half_to_float, float_to_half, bfloat16_to_float, float_to_bfloat16;
  ConvertLoop add_half;  ///< adds halves to floats
};

const ByIsa<Conversions>& conversions();

}  // namespace symbind::vector
