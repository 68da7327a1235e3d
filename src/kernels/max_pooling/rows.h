// Rows of max pooling over plain tensors.
#pragma once

#include <cstdint>

#include "kernels/vector/targets.h"

namespace symbind::max_pooling {

/// Elements after an array that whole vectors may read and write.
inline constexpr std::int64_t kSlack = 16;

/// The windows of one plane.
struct Windows {
  const float* const* taps;  ///< where each tap of the first row begins
  std::int64_t count;        ///< of taps
  std::int64_t step;         ///< of a tap, from one row of windows to the next
  std::int64_t height, width;
  float* best;          ///< height · width, and room for kSlack more
  std::uint8_t* place;  ///< the same, or null
};

struct Rows {
  /// Copies elements 0, 2, 4, … to `even` and 1, 3, 5, … to `odd`.
  void (*split)(const float* row, std::int64_t n, float* even, float* odd);
  /// The largest value under the taps of each window, and the first tap that has it. Only numbers
  /// above the lowest finite one count; without any, the value is that number and the place 0.
  void (*largest)(const Windows& windows);
};

const ByIsa<Rows>& rows();

}  // namespace symbind::max_pooling
