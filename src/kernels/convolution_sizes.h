// The extents of a convolution, whatever its number of spatial axes.
#pragma once

#include <array>
#include <cstdint>

namespace symbind {

/// Data (batch, in_channels, in…), weight (out_channels, in_channels / groups, kernel…), output
/// (batch, out_channels, out…). Of three spatial axes the last `spatial` are used; the others
/// are 1.
struct ConvolutionSizes {
  using Axes = std::array<std::int64_t, 3>;
  int spatial = 2;
  std::int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  Axes in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilate{1, 1, 1}, pad{0, 0, 0};
  bool bias = false;

  static std::int64_t product(const Axes& a) { return a[0] * a[1] * a[2]; }
  std::int64_t group_in() const { return in_channels / groups; }
  std::int64_t group_out() const { return out_channels / groups; }
  /// Multiplications for one plane of the output, for one of the data, for the taps of one filter
  /// in one channel.
  double out_plane_work() const { return plane_work() * static_cast<double>(group_in()); }
  double in_plane_work() const { return plane_work() * static_cast<double>(group_out()); }
  double tap_work() const { return plane_work() * static_cast<double>(batch); }

 private:
  double plane_work() const {
    return static_cast<double>(product(out)) * static_cast<double>(product(kernel));
  }
};

}  // namespace symbind
