// The extents of a pooling, whatever its number of spatial axes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace symbind {

enum class PoolKind { kMax, kAverage, kSum, kLp };

/// Of three spatial axes the last `spatial` are used; the others are 1. `pad` is the padding before
/// an axis, `pad_after` what is counted as padding after it.
struct PoolingSizes {
  using Axes = std::array<std::int64_t, 3>;
  int spatial = 2;
  PoolKind kind = PoolKind::kMax;
  bool count_padding = true;
  int p = 2;
  std::int64_t batch = 0, channels = 0;
  Axes in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, pad{0, 0, 0},
      pad_after{0, 0, 0};

  static std::int64_t product(const Axes& a) { return a[0] * a[1] * a[2]; }
  /// Elements of one image and channel.
  std::int64_t plane() const { return product(in); }
};

}  // namespace symbind
