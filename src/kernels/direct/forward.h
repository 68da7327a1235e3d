// A convolution over plain tensors by the packed product; with flipped filters, the gradient of its
// data.
#pragma once

#include "kernels/direct/plane.h"
#include "kernels/packed/product.h"

namespace symbind::direct {

/// Any number of threads may run one object at once, each with its own scratch memory.
class Forward {
 public:
  /// `threads`: how many parts may be computed at once. It changes no bit.
  Forward(const Plane& plane, int threads, Isa isa = cpu_isa());

  struct Operands {
    const float* x;
    const float* w;  ///< (out_channels, depth)
    float* y;
    const float* bias = nullptr;
    const float* add = nullptr;  ///< added to the output; may be the output
    float low, high;             ///< limits of the output
    bool nan_is_low = false;     ///< a NaN becomes `low`; else it stays
  };
  /// In floats.
  std::size_t scratch_size() const { return part_scratch() * static_cast<std::size_t>(slots_); }
  void operator()(const Operands& operands, float* scratch) const;

 private:
  std::size_t part_scratch() const;
  bool has_padding() const { return plane_.columns() != plane_.out_width; }
  void multiply(const Operands& o, std::int64_t image, std::int64_t first, std::int64_t end,
                const float* staged, float* padded) const;
  void copy_rows(const Operands& o, std::int64_t image, std::int64_t first, std::int64_t end,
                 const float* padded) const;

  Plane plane_;
  Staging staging_;
  const packed::Products& products_;
  std::int64_t parts_;  ///< of one image, in output rows
  std::int64_t slots_;  ///< parts that may run at once
};

}  // namespace symbind::direct
