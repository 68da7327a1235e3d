#include "kernels/blas/convolution.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/gemm.h"

namespace symbind::blas {

namespace {

/// Output positions o of one axis for which o·stride − pad + k·dilate lies inside [0, in).
struct Range {
  std::int64_t begin, end;
};
Range inside(std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t offset) {
  const std::int64_t begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const std::int64_t end = offset >= in ? 0 : (in - 1 - offset) / stride + 1;
  return {std::min(begin, out), std::clamp<std::int64_t>(end, std::min(begin, out), out)};
}

/// Calls f(row of patches, row of image, output columns, offset) for every pair of rows that belong
/// together: patch row (k, oz, oy) lies along image row (iz, iy).
template <class F>
void each_row(const ConvolutionSizes& s, std::int64_t patch, F&& f) {
  const std::int64_t taps = ConvolutionSizes::product(s.kernel), tap = patch % taps;
  const std::int64_t kx = tap % s.kernel[2], ky = tap / s.kernel[2] % s.kernel[1],
                     kz = tap / (s.kernel[2] * s.kernel[1]);
  const std::int64_t offset_x = kx * s.dilate[2] - s.pad[2];
  const Range columns = inside(s.in[2], s.out[2], s.stride[2], offset_x);
  for (std::int64_t oz = 0; oz < s.out[0]; ++oz) {
    const std::int64_t iz = oz * s.stride[0] - s.pad[0] + kz * s.dilate[0];
    for (std::int64_t oy = 0; oy < s.out[1]; ++oy) {
      const std::int64_t iy = oy * s.stride[1] - s.pad[1] + ky * s.dilate[1];
      const bool in_image = iz >= 0 && iz < s.in[0] && iy >= 0 && iy < s.in[1];
      f((oz * s.out[1] + oy) * s.out[2], in_image ? (iz * s.in[1] + iy) * s.in[2] + offset_x : -1,
        in_image ? columns : Range{0, 0}, in_image);
    }
  }
}

template <class T>
void unroll(const ConvolutionSizes& s, const T* x, T* patches) {
  const std::int64_t taps = ConvolutionSizes::product(s.kernel), rows = s.group_in() * taps;
  const std::int64_t positions = ConvolutionSizes::product(s.out);
  const std::int64_t image = ConvolutionSizes::product(s.in);
  parallel_for(rows, std::max<std::int64_t>(1, kElementGrain / (positions + 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t r = begin; r < end; ++r) {
                   const T* plane = x + r / taps * image;
                   T* to = patches + r * positions;
                   each_row(s, r, [&](std::int64_t o, std::int64_t i, Range c, bool) {
                     std::fill(to + o, to + o + c.begin, T(0));
                     for (std::int64_t p = c.begin; p < c.end; ++p)
                       to[o + p] = plane[i + p * s.stride[2]];
                     std::fill(to + o + c.end, to + o + s.out[2], T(0));
                   });
                 }
               });
}

/// Adds the patches back into the image they came from; one channel belongs to one thread.
template <class T>
void fold(const ConvolutionSizes& s, const T* patches, T* dx) {
  const std::int64_t taps = ConvolutionSizes::product(s.kernel);
  const std::int64_t positions = ConvolutionSizes::product(s.out);
  const std::int64_t image = ConvolutionSizes::product(s.in);
  parallel_for(s.group_in(), std::max<std::int64_t>(1, kElementGrain / (taps * positions + 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 std::fill(dx + begin * image, dx + end * image, T(0));
                 for (std::int64_t r = begin * taps; r < end * taps; ++r) {
                   T* plane = dx + r / taps * image;
                   const T* from = patches + r * positions;
                   each_row(s, r, [&](std::int64_t o, std::int64_t i, Range c, bool) {
                     for (std::int64_t p = c.begin; p < c.end; ++p)
                       plane[i + p * s.stride[2]] += from[o + p];
                   });
                 }
               });
}

/// Where image n and group g begin in data, output and weight.
struct Slice {
  std::int64_t x, y, w;
};
Slice slice(const ConvolutionSizes& s, std::int64_t n, std::int64_t g) {
  return {(n * s.in_channels + g * s.group_in()) * ConvolutionSizes::product(s.in),
          (n * s.out_channels + g * s.group_out()) * ConvolutionSizes::product(s.out),
          g * s.group_out() * s.group_in() * ConvolutionSizes::product(s.kernel)};
}

}  // namespace

std::int64_t patch_elements(const ConvolutionSizes& s) {
  return s.group_in() * ConvolutionSizes::product(s.kernel) * ConvolutionSizes::product(s.out);
}

template <class T>
void convolution(const ConvolutionSizes& s, const T* x, const T* w, const T* bias, T* y, T* patches,
                 bool add) {
  const std::int64_t depth = s.group_in() * ConvolutionSizes::product(s.kernel);
  const std::int64_t positions = ConvolutionSizes::product(s.out);
  for (std::int64_t n = 0; n < s.batch; ++n) {
    for (std::int64_t g = 0; g < s.groups; ++g) {
      const Slice at = slice(s, n, g);
      unroll(s, x + at.x, patches);
      for (std::int64_t f = 0; bias && f < s.group_out(); ++f) {
        T* plane = y + at.y + f * positions;
        const T b = bias[g * s.group_out() + f];
        for (std::int64_t o = 0; o < positions; ++o) plane[o] = add ? plane[o] + b : b;
      }
      gemm({false, false, s.group_out(), positions, depth, depth, positions, positions}, T(1),
           w + at.w, patches, bias || add ? T(1) : T(0), y + at.y);
    }
  }
}

template <class T>
void convolution_backward_data(const ConvolutionSizes& s, const T* dy, const T* w, T* dx,
                               T* patches) {
  const std::int64_t depth = s.group_in() * ConvolutionSizes::product(s.kernel);
  const std::int64_t positions = ConvolutionSizes::product(s.out);
  for (std::int64_t n = 0; n < s.batch; ++n) {
    for (std::int64_t g = 0; g < s.groups; ++g) {
      const Slice at = slice(s, n, g);
      gemm({true, false, depth, positions, s.group_out(), depth, positions, positions}, T(1),
           w + at.w, dy + at.y, T(0), patches);
      fold(s, patches, dx + at.x);
    }
  }
}

template <class T>
void convolution_backward_weights(const ConvolutionSizes& s, const T* dy, const T* x, T* dw,
                                  T* patches) {
  const std::int64_t depth = s.group_in() * ConvolutionSizes::product(s.kernel);
  const std::int64_t positions = ConvolutionSizes::product(s.out);
  if (s.batch == 0) std::fill_n(dw, s.groups * s.group_out() * depth, T(0));
  for (std::int64_t n = 0; n < s.batch; ++n) {
    for (std::int64_t g = 0; g < s.groups; ++g) {
      const Slice at = slice(s, n, g);
      unroll(s, x + at.x, patches);
      gemm({false, true, s.group_out(), depth, positions, positions, positions, depth}, T(1),
           dy + at.y, patches, n == 0 ? T(0) : T(1), dw + at.w);
    }
  }
}

template void convolution(const ConvolutionSizes&, const float*, const float*, const float*, float*,
                          float*, bool);
template void convolution(const ConvolutionSizes&, const double*, const double*, const double*,
                          double*, double*, bool);
template void convolution_backward_data(const ConvolutionSizes&, const float*, const float*, float*,
                                        float*);
template void convolution_backward_data(const ConvolutionSizes&, const double*, const double*,
                                        double*, double*);
template void convolution_backward_weights(const ConvolutionSizes&, const float*, const float*,
                                           float*, float*);
template void convolution_backward_weights(const ConvolutionSizes&, const double*, const double*,
                                           double*, double*);

}  // namespace symbind::blas
