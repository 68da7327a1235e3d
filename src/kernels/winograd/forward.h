// A 3×3 convolution by Winograd's method; with transposed and flipped filters, the gradient of its
// data.
#pragma once

#include <symbind/dtype.h>

#include "kernels/packed/product.h"
#include "kernels/winograd/squares.h"

namespace symbind::winograd {

/// Any number of threads may run one object at once, each with its own scratch memory.
class Forward {
 public:
  /// `threads`: how many parts may be computed at once. It changes no bit.
  Forward(const Squares& squares, int threads);

  /// Of the transformed filters, in floats.
  std::size_t weight_size() const;
  /// Filter (o, i) has its taps at w + o · out_step + i · in_step, in reverse order where flipped.
  void transform(const float* w, std::ptrdiff_t out_step, std::ptrdiff_t in_step, bool flipped,
                 float* u) const;

  /// Of the scratch memory, in floats.
  std::size_t scratch_size() const;
  struct Operands {
    const void* x;
    const float* u;
    void* y;
    const float* bias = nullptr;
    const float* add = nullptr;  ///< added to the output; may be the output
    float low, high;             ///< limits of the output
    bool nan_is_low = false;     ///< a NaN becomes `low`; else it stays
    DType x_dtype = DType::kFloat32, y_dtype = DType::kFloat32;  ///< or bfloat16
  };
  void operator()(const Operands& operands, float* scratch) const;

 private:
  struct Part;
  void run(const Part& part, const Operands& o, float* scratch) const;
  std::size_t part_scratch() const;
  std::int64_t panels() const { return (s_.out_blocks() + 1) / 2; }

  Squares s_;
  const Transforms& transforms_;
  const packed::Products& products_;
  std::int64_t groups_;         ///< of squares
  std::int64_t column_groups_;  ///< of panels of output channels
  std::int64_t slots_;          ///< parts that may run at once
  bool filters_once_;           ///< each thread reads its filters once, and they are large
};

}  // namespace symbind::winograd
