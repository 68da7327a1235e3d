// The gradient of 3×3 filters by Winograd's method: the filters' taps are the outputs of F(3×3,
// m×m).
#pragma once

#include "kernels/packed/product.h"
#include "kernels/winograd/squares.h"

namespace symbind::winograd {

class WeightGradient {
 public:
  explicit WeightGradient(const Squares& squares);

  /// Of the scratch memory, in floats.
  std::size_t scratch_size() const;
  /// Filter (o, i) has its 9 taps at dw + (o · in_channels + i) · 9.
  void operator()(const float* x, const float* dy, float* dw, float* scratch) const;

 private:
  struct Memory {
    float *v, *d, *sums;
    std::ptrdiff_t v_step, d_step, sums_step;  ///< between positions
  };
  void transform(const float* x, const float* dy, std::int64_t first, std::int64_t count,
                 const Memory& memory) const;
  void multiply(std::int64_t count, bool is_first, const Memory& memory) const;
  std::int64_t panels() const { return (s_.out_blocks() + 1) / 2; }
  std::int64_t panel_vectors(std::int64_t panel) const {
    return std::min<std::int64_t>(2, s_.out_blocks() - 2 * panel);
  }

  Squares s_;
  const Transforms& transforms_;
  const packed::Products& products_;
  std::int64_t groups_;  ///< of squares
};

}  // namespace symbind::winograd
