// The sizes of a Winograd convolution: 3×3 filters, stride 1, tensors in blocks of one vector of
// channels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/winograd/transforms.h"

namespace symbind::winograd {

/// `m` × `m` outputs are one square; squares are numbered image by image, row by row.
struct Squares {
  int m = 4;
  Isa isa = cpu_isa();
  std::int64_t lanes = transforms(4)[isa].lanes;
  std::int64_t batch = 0, in_channels = 0, out_channels = 0;
  std::int64_t in_height = 0, in_width = 0, out_height = 0, out_width = 0;
  std::int64_t pad_top = 0, pad_left = 0;

  std::int64_t size() const { return m + 2; }
  std::int64_t positions() const { return size() * size(); }
  std::int64_t down() const { return (out_height + m - 1) / m; }
  std::int64_t across() const { return (out_width + m - 1) / m; }
  std::int64_t count() const { return batch * down() * across(); }
  std::int64_t in_blocks() const { return in_channels / lanes; }
  std::int64_t out_blocks() const { return out_channels / lanes; }

  /// The same filters seen from the output: of the data's gradient.
  Squares transposed() const {
    Squares t = *this;
    std::swap(t.in_channels, t.out_channels);
    std::swap(t.in_height, t.out_height);
    std::swap(t.in_width, t.out_width);
    t.pad_top = 2 - pad_top;
    t.pad_left = 2 - pad_left;
    return t;
  }
};

/// One square in a tensor: the offset of its first pixel in channel block 0, and which of its
/// pixels exist.
struct Place {
  std::ptrdiff_t offset;
  Window window;
};

/// `side` pixels from (top, left) of image n, which has `blocks` channel blocks.
inline Place place_of(std::int64_t n, std::int64_t blocks, std::int64_t height, std::int64_t width,
                      std::int64_t lanes, std::int64_t top, std::int64_t left, std::int64_t side) {
  const std::int64_t first_row = std::max<std::int64_t>(0, -top),
                     first_column = std::max<std::int64_t>(0, -left);
  return {((n * blocks * height + top) * width + left) * lanes,
          {first_row, std::max<std::int64_t>(0, std::min(side, height - top) - first_row),
           first_column, std::max<std::int64_t>(0, std::min(side, width - left) - first_column)}};
}

inline Place input_place(const Squares& s, std::int64_t square) {
  const std::int64_t j = square % s.across(), i = square / s.across() % s.down(),
                     n = square / s.across() / s.down();
  return place_of(n, s.in_blocks(), s.in_height, s.in_width, s.lanes, i * s.m - s.pad_top,
                  j * s.m - s.pad_left, s.size());
}

inline Place output_place(const Squares& s, std::int64_t square) {
  const std::int64_t j = square % s.across(), i = square / s.across() % s.down(),
                     n = square / s.across() / s.down();
  return place_of(n, s.out_blocks(), s.out_height, s.out_width, s.lanes, i * s.m, j * s.m, s.m);
}

/// Values of one transformed square are that far apart: `elements`, and one cache line more, so
/// that they do not all fall into one set of the cache.
inline std::ptrdiff_t position_step(std::int64_t elements) {
  return static_cast<std::ptrdiff_t>(elements) + 16;
}

/// Values of k of one call of the product: a panel of that depth stays in the L1 cache.
inline constexpr std::int64_t kDepth = 256;

}  // namespace symbind::winograd
