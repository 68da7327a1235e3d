// The gradient of a convolution's data where the data is much larger than the output.
#pragma once

#include "kernels/direct/plane.h"
#include "kernels/packed/product.h"

namespace symbind::direct {

/// For each image and input channel one product gives what every output adds to the data under
/// every tap; then the taps' planes are added to the data, each at its place. A convolution with
/// reversed filters would multiply the zeros around the output as well.
class Scattered {
 public:
  /// Of one filter.
  static constexpr std::int64_t kMostTaps = 256;

  /// `threads`: how many images may be computed at once. It changes no bit.
  Scattered(const Plane& plane, int threads, Isa isa = cpu_isa());

  /// In floats.
  std::size_t scratch_size() const { return weights_size() + slots_ * slot_size(); }
  /// w is (out_channels, in_channels, taps).
  void operator()(const float* dy, const float* w, float* dx, float* scratch) const;

 private:
  std::size_t weights_size() const {
    return static_cast<std::size_t>(plane_.in_channels * plane_.taps() * plane_.out_channels);
  }
  /// The output of one image and the product of one channel.
  std::size_t slot_size() const {
    return static_cast<std::size_t>((plane_.out_channels + plane_.taps()) * padded_);
  }
  void transpose(const float* w, float* rows) const;
  void run_image(const float* dy, const float* rows, float* dx, float* scratch) const;
  void add_taps(const float* parts, float* dx) const;

  Plane plane_;
  const packed::Products& products_;
  std::int64_t padded_;  ///< the output plane in whole vectors
  std::size_t slots_;
  std::vector<std::ptrdiff_t> offsets_;  ///< of blocks of filters, in rows of weights
  std::vector<std::ptrdiff_t> outputs_;  ///< where the outputs of filters begin
};

}  // namespace symbind::direct
