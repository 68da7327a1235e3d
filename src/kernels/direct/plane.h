// The sizes of a convolution over plain tensors at stride 1, and its staged data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace symbind::direct {

/// One or two spatial axes; stride 1, no groups.
struct Plane {
  std::int64_t batch = 0, in_channels = 0, out_channels = 0;
  std::int64_t in_height = 1, in_width = 1, out_height = 1, out_width = 1;
  std::int64_t kernel_height = 1, kernel_width = 1, dilate_height = 1, dilate_width = 1;
  std::int64_t pad_top = 0, pad_left = 0;

  std::int64_t taps() const { return kernel_height * kernel_width; }
  /// Values of k: input channels · taps, in the order of the weights.
  std::int64_t depth() const { return in_channels * taps(); }
  std::int64_t in_plane() const { return in_height * in_width; }
  std::int64_t out_plane() const { return out_height * out_width; }

  /// Rows of outputs are staged with a multiple of 8 columns: the last ones are zeros.
  std::int64_t columns() const { return (out_width + 7) / 8 * 8; }
  /// Positions of the staged output plane.
  std::int64_t positions() const { return out_height * columns(); }
  std::int64_t staged_rows() const { return out_height + (kernel_height - 1) * dilate_height; }

  /// The convolution that is the gradient of the data: from the output's shape to the input's.
  Plane transposed() const;
};

/// An image for the product: for each column of taps, all channels, shifted so that output (i, j)
/// reads row i + tap row, column j of it. Pixels outside the image are zeros. So one vector of
/// neighbouring outputs reads one vector, also across the ends of rows.
class Staging {
 public:
  explicit Staging(const Plane& plane);
  /// In floats; the last ones are read by vectors that reach over the end.
  std::size_t size() const { return size_; }
  void stage(const float* image, float* staged) const;
  /// Where the values of k = (channel, tap row, tap column) begin.
  const std::vector<std::ptrdiff_t>& offsets() const { return offsets_; }

 private:
  Plane plane_;
  std::size_t size_;
  std::vector<std::ptrdiff_t> offsets_;
};

}  // namespace symbind::direct
