// The sums of a convolution by their definition, plane by plane: every other kernel is tested
// against them, and the 16-bit types use them. Deconvolution uses the same sums in the other
// direction.
#pragma once

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/convolution_sizes.h"

namespace symbind {

/// Calls f(kernel tap, input position) for every tap of output position `o` inside the image.
template <class F>
void each_tap(const ConvolutionSizes& s, std::int64_t o, F&& f) {
  const std::int64_t ox = o % s.out[2], oy = o / s.out[2] % s.out[1], oz = o / s.out[2] / s.out[1];
  std::int64_t tap = 0;
  for (std::int64_t kz = 0; kz < s.kernel[0]; ++kz) {
    const std::int64_t iz = oz * s.stride[0] - s.pad[0] + kz * s.dilate[0];
    for (std::int64_t ky = 0; ky < s.kernel[1]; ++ky) {
      const std::int64_t iy = oy * s.stride[1] - s.pad[1] + ky * s.dilate[1];
      for (std::int64_t kx = 0; kx < s.kernel[2]; ++kx, ++tap) {
        const std::int64_t ix = ox * s.stride[2] - s.pad[2] + kx * s.dilate[2];
        if (iz >= 0 && iz < s.in[0] && iy >= 0 && iy < s.in[1] && ix >= 0 && ix < s.in[2])
          f(tap, (iz * s.in[1] + iy) * s.in[2] + ix);
      }
    }
  }
}

/// Calls f(kernel tap, output position) for every output that input position `i` reaches.
template <class F>
void each_reached(const ConvolutionSizes& s, std::int64_t i, F&& f) {
  const ConvolutionSizes::Axes at = {i / s.in[2] / s.in[1], i / s.in[2] % s.in[1], i % s.in[2]};
  const auto output = [&](std::size_t axis, std::int64_t k) {
    const std::int64_t from = at[axis] + s.pad[axis] - k * s.dilate[axis];
    const bool hit = from >= 0 && from % s.stride[axis] == 0 && from / s.stride[axis] < s.out[axis];
    return hit ? from / s.stride[axis] : -1;
  };
  std::int64_t tap = 0;
  for (std::int64_t kz = 0; kz < s.kernel[0]; ++kz)
    for (std::int64_t ky = 0; ky < s.kernel[1]; ++ky)
      for (std::int64_t kx = 0; kx < s.kernel[2]; ++kx, ++tap) {
        const std::int64_t oz = output(0, kz), oy = output(1, ky), ox = output(2, kx);
        if (oz >= 0 && oy >= 0 && ox >= 0) f(tap, (oz * s.out[1] + oy) * s.out[2] + ox);
      }
}

template <class T>
void forward_plane(const ConvolutionSizes& s, std::int64_t n, std::int64_t f, const T* x,
                   const T* w, const T* bias, T* y) {
  using Acc = Accumulator<T>;
  const std::int64_t in = ConvolutionSizes::product(s.in), out = ConvolutionSizes::product(s.out),
                     taps = ConvolutionSizes::product(s.kernel);
  const T* first = x + (n * s.in_channels + f / s.group_out() * s.group_in()) * in;
  const T* filter = w + f * s.group_in() * taps;
  const std::int64_t at = (n * s.out_channels + f) * out;
  for (std::int64_t o = 0; o < out; ++o) {
    Acc total = bias ? static_cast<Acc>(bias[f]) : Acc(0);
    each_tap(s, o, [&](std::int64_t tap, std::int64_t i) {
      for (std::int64_t c = 0; c < s.group_in(); ++c)
        total += static_cast<Acc>(first[c * in + i]) * static_cast<Acc>(filter[c * taps + tap]);
    });
    y[at + o] = static_cast<T>(total);
  }
}

template <class T>
void backward_data_plane(const ConvolutionSizes& s, std::int64_t n, std::int64_t c, const T* dy,
                         const T* w, T* dx) {
  using Acc = Accumulator<T>;
  const std::int64_t in = ConvolutionSizes::product(s.in), out = ConvolutionSizes::product(s.out),
                     taps = ConvolutionSizes::product(s.kernel);
  const std::int64_t first = c / s.group_in() * s.group_out();
  for (std::int64_t i = 0; i < in; ++i) {
    Acc total = 0;
    each_reached(s, i, [&](std::int64_t tap, std::int64_t o) {
      for (std::int64_t f = first; f < first + s.group_out(); ++f)
        total += static_cast<Acc>(dy[(n * s.out_channels + f) * out + o]) *
                 static_cast<Acc>(w[(f * s.group_in() + c % s.group_in()) * taps + tap]);
    });
    dx[(n * s.in_channels + c) * in + i] = static_cast<T>(total);
  }
}

/// dw of filter f and channel c of its group; in double, for it sums over the whole batch.
template <class T>
void backward_weight_taps(const ConvolutionSizes& s, std::int64_t f, std::int64_t c, const T* dy,
                          const T* x, T* dw) {
  const std::int64_t in = ConvolutionSizes::product(s.in), out = ConvolutionSizes::product(s.out),
                     taps = ConvolutionSizes::product(s.kernel);
  std::vector<double> total(static_cast<std::size_t>(taps), 0);
  const std::int64_t channel = f / s.group_out() * s.group_in() + c;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t o = 0; o < out; ++o) {
      const double d = static_cast<double>(dy[(n * s.out_channels + f) * out + o]);
      each_tap(s, o, [&](std::int64_t tap, std::int64_t i) {
        total[static_cast<std::size_t>(tap)] +=
            d * static_cast<double>(x[(n * s.in_channels + channel) * in + i]);
      });
    }
  for (std::int64_t t = 0; t < taps; ++t)
    dw[(f * s.group_in() + c) * taps + t] =
        static_cast<T>(static_cast<Accumulator<T>>(total[static_cast<std::size_t>(t)]));
}

template <class T>
void bias_gradient(const ConvolutionSizes& s, const T* dy, T* db) {
  const std::int64_t out = ConvolutionSizes::product(s.out);
  parallel_for(s.out_channels, grain_of(s.batch * out), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t f = begin; f < end; ++f) {
      double total = 0;
      for (std::int64_t n = 0; n < s.batch; ++n)
        for (std::int64_t o = 0; o < out; ++o)
          total += static_cast<double>(dy[(n * s.out_channels + f) * out + o]);
      db[f] = static_cast<T>(static_cast<Accumulator<T>>(total));
    }
  });
}

}  // namespace symbind
