// The masks of Dropout from the random bits of base/philox.h, vector by vector: exactly the same
// bits.
#pragma once

#include <cstdint>

#include "kernels/vector/targets.h"

namespace symbind::vector {

/// Element i of a draw comes from word i mod 4 of philox(key, counter_hi, i / 4): the mask is
/// 1 / keep where unit_float(word) < keep, else 0; 0 < keep < 1.
struct Draw {
  std::uint64_t key, counter_hi;
  float keep;
};

struct RandomTable {
  /// The mask of elements [first, first + n).
  void (*mask)(const Draw& draw, std::uint64_t first, std::int64_t n, float* mask);
  /// The same, and y = x · mask; y may be x. The mask may be null: it is not stored then.
  void (*drop)(const Draw& draw, std::uint64_t first, std::int64_t n, const float* x, float* mask,
               float* y);
};
const ByIsa<RandomTable>& random_kernels();

}  // namespace symbind::vector
