// The transforms of Winograd's convolution, for vectors of channels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/vector/targets.h"

namespace symbind::winograd {

/// Where a transform reads or writes spatial data: `rows` × `columns` of `size` × `size` pixels
/// exist, from (first_row, first_column) of the square on. Pixels that do not exist count as zeros
/// or are not written.
struct Window {
  std::int64_t first_row, rows, first_column, columns;
};

/// What happens to an output: bias and `add` are added, then it is limited to [low, high].
struct Finish {
  const float* bias;  ///< of one vector of channels, or null
  const float* add;   ///< at the output's position, with its steps, or null
  float low, high;
  bool nan_is_low;  ///< a NaN becomes `low`; else it stays
};

/// F(m×m, 3×3): squares of m×m outputs from squares of (m+2)×(m+2) inputs, by (m+2)² products. A
/// pixel is one vector of channels. `row_step` is from one row of pixels to the next in memory;
/// transformed squares have `position_step` between their (m+2)² values.
struct Transforms {
  std::int64_t lanes;
  /// Input square → V. `x` is the address of the square's first pixel, whether it exists or not.
  void (*input)(const float* x, std::ptrdiff_t row_step, const Window& window, float* v,
                std::ptrdiff_t position_step);
  void (*input_bfloat16)(const std::uint16_t* x, std::ptrdiff_t row_step, const Window& window,
                         float* v, std::ptrdiff_t position_step);
  /// 3×3 filters → U: tap k of lane i is at w + i · lane_step + (flipped ? 8 − k : k).
  void (*weight)(const float* w, std::ptrdiff_t lane_step, std::int64_t lanes, bool flipped,
                 float* u, std::ptrdiff_t position_step);
  /// M → output square.
  void (*output)(const float* products, std::ptrdiff_t position_step, const Finish& finish,
                 float* y, std::ptrdiff_t row_step, const Window& window);
  void (*output_bfloat16)(const float* products, std::ptrdiff_t position_step, const Finish& finish,
                          std::uint16_t* y, std::ptrdiff_t row_step, const Window& window);
  /// Square of the output's gradient (m×m) → the operand of the weights' gradient.
  void (*output_gradient)(const float* dy, std::ptrdiff_t row_step, const Window& window, float* u,
                          std::ptrdiff_t position_step);
  /// Sums of products → 3×3 gradients: tap k of lane i is written to dw + i · lane_step + k.
  void (*weight_gradient)(const float* products, std::ptrdiff_t position_step, float* dw,
                          std::ptrdiff_t lane_step, std::int64_t lanes);
};

/// For m = 4 and m = 2.
const ByIsa<Transforms>& transforms(int m);

}  // namespace symbind::winograd
