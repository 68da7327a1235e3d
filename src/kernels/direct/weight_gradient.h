// The gradient of a convolution's filters over plain tensors by the packed product.
#pragma once

#include "kernels/direct/plane.h"
#include "kernels/packed/product.h"

namespace symbind::direct {

class WeightGradient {
 public:
  /// `threads` changes no bit.
  WeightGradient(const Plane& plane, int threads, Isa isa = cpu_isa());

  /// In floats.
  std::size_t scratch_size() const;
  /// dw is (out_channels, depth).
  void operator()(const float* x, const float* dy, float* dw, float* scratch) const;

 private:
  std::int64_t padded_filters() const {
    return (plane_.out_channels + products_.lanes - 1) / products_.lanes * products_.lanes;
  }
  /// Filters of one product, at most.
  std::int64_t panel() const { return products_.most_anywhere * products_.lanes; }
  std::size_t slot_scratch() const;
  std::size_t sums_size() const;
  void turn(const float* dy, float* turned) const;
  void add_image(const float* staged, const float* turned, bool is_first, float* sums) const;

  void add_groups(const float* sums, float* dw) const;

  Plane plane_;
  Staging staging_;
  const packed::Products& products_;
  std::int64_t groups_;  ///< of images, each with its own sums
  std::int64_t slots_;   ///< groups that may run at once
};

}  // namespace symbind::direct
