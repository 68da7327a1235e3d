// Images unrolled into patches, one under each position of a window, and patches added back.
//
// Patches are (channels · taps of the window, positions): row (c, k) holds, for every position,
// the element under tap k in channel c. One image and one group of channels at a time; elements
// outside are 0.
#pragma once

#include <algorithm>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/convolution_sizes.h"

namespace symbind {

/// Output positions o of one axis for which o·stride + offset is inside [0, in).
struct PatchRange {
  std::int64_t begin, end;
};
inline PatchRange inside(std::int64_t in, std::int64_t out, std::int64_t stride,
                         std::int64_t offset) {
  const std::int64_t begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const std::int64_t end = offset >= in ? 0 : (in - 1 - offset) / stride + 1;
  return {std::min(begin, out), std::clamp<std::int64_t>(end, std::min(begin, out), out)};
}

/// Calls f(row of patches, row of image, output columns) for every pair of matching rows: patch row
/// (k, oz, oy) covers image row (iz, iy).
template <class F>
void each_row(const ConvolutionSizes& s, std::int64_t patch, F&& f) {
  const std::int64_t taps = ConvolutionSizes::product(s.kernel), tap = patch % taps;
  const std::int64_t kx = tap % s.kernel[2], ky = tap / s.kernel[2] % s.kernel[1],
                     kz = tap / (s.kernel[2] * s.kernel[1]);
  const std::int64_t offset_x = kx * s.dilate[2] - s.pad[2];
  const PatchRange columns = inside(s.in[2], s.out[2], s.stride[2], offset_x);
  for (std::int64_t oz = 0; oz < s.out[0]; ++oz) {
    const std::int64_t iz = oz * s.stride[0] - s.pad[0] + kz * s.dilate[0];
    for (std::int64_t oy = 0; oy < s.out[1]; ++oy) {
      const std::int64_t iy = oy * s.stride[1] - s.pad[1] + ky * s.dilate[1];
      const bool in_image = iz >= 0 && iz < s.in[0] && iy >= 0 && iy < s.in[1];
      f((oz * s.out[1] + oy) * s.out[2], in_image ? (iz * s.in[1] + iy) * s.in[2] + offset_x : -1,
        in_image ? columns : PatchRange{0, 0});
    }
  }
}

template <class T>
void unroll(const ConvolutionSizes& s, const T* x, T* patches) {
  const std::int64_t taps = ConvolutionSizes::product(s.kernel), rows = s.group_in() * taps;
  const std::int64_t positions = ConvolutionSizes::product(s.out);
  const std::int64_t image = ConvolutionSizes::product(s.in);
  parallel_for(rows, grain_of(positions), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T* plane = x + r / taps * image;
      T* to = patches + r * positions;
      each_row(s, r, [&](std::int64_t o, std::int64_t i, PatchRange c) {
        std::fill(to + o, to + o + c.begin, T(0));
        for (std::int64_t p = c.begin; p < c.end; ++p) to[o + p] = plane[i + p * s.stride[2]];
        std::fill(to + o + c.end, to + o + s.out[2], T(0));
      });
    }
  });
}

/// Adds the patches back into the image they came from; one thread handles one channel.
template <class T, class Sum>
void fold(const ConvolutionSizes& s, const T* patches, Sum* dx) {
  const std::int64_t taps = ConvolutionSizes::product(s.kernel);
  const std::int64_t positions = ConvolutionSizes::product(s.out);
  const std::int64_t image = ConvolutionSizes::product(s.in);
  parallel_for(s.group_in(), grain_of(taps * positions), [&](std::int64_t begin, std::int64_t end) {
    std::fill(dx + begin * image, dx + end * image, Sum(0));
    for (std::int64_t r = begin * taps; r < end * taps; ++r) {
      Sum* plane = dx + r / taps * image;
      const T* from = patches + r * positions;
      each_row(s, r, [&](std::int64_t o, std::int64_t i, PatchRange c) {
        for (std::int64_t p = c.begin; p < c.end; ++p)
          plane[i + p * s.stride[2]] += static_cast<Sum>(from[o + p]);
      });
    }
  });
}

}  // namespace symbind
