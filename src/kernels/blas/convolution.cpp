#include "kernels/blas/convolution.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/gemm.h"
#include "kernels/patches.h"

namespace symbind::blas {

namespace {

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
  return checked_mul(s.group_in() * ConvolutionSizes::product(s.kernel),
                     ConvolutionSizes::product(s.out), "the patches under a kernel");
}

template <class T>
void convolution(const ConvolutionSizes& s, const T* x, const T* w, const T* bias, T* y,
                 T* patches) {
  const std::int64_t depth = s.group_in() * ConvolutionSizes::product(s.kernel);
  const std::int64_t positions = ConvolutionSizes::product(s.out);
  for (std::int64_t n = 0; n < s.batch; ++n) {
    for (std::int64_t g = 0; g < s.groups; ++g) {
      const Slice at = slice(s, n, g);
      unroll(s, x + at.x, patches);
      for (std::int64_t f = 0; bias && f < s.group_out(); ++f) {
        T* plane = y + at.y + f * positions;
        const T b = bias[g * s.group_out() + f];
        std::fill_n(plane, positions, b);
      }
      gemm({false, false, s.group_out(), positions, depth, depth, positions, positions}, T(1),
           w + at.w, patches, bias ? T(1) : T(0), y + at.y);
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
                          float*);
template void convolution(const ConvolutionSizes&, const double*, const double*, const double*,
                          double*, double*);
template void convolution_backward_data(const ConvolutionSizes&, const float*, const float*, float*,
                                        float*);
template void convolution_backward_data(const ConvolutionSizes&, const double*, const double*,
                                        double*, double*);
template void convolution_backward_weights(const ConvolutionSizes&, const float*, const float*,
                                           float*, float*);
template void convolution_backward_weights(const ConvolutionSizes&, const double*, const double*,
                                           double*, double*);

}  // namespace symbind::blas
