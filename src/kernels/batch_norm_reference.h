// Batch normalisation by its definition, channel by channel in double: every other kernel is tested
// against it, and types without other kernels use it. Its mask has one byte per element.
#pragma once

#include <symbind/kernel.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/batch_norm_sizes.h"

namespace symbind::batch_norm_reference {

/// The data as (outer, channels, inner).
struct ChannelGrid {
  std::int64_t outer, channels, inner;
  ChannelGrid(const Shape& x, int axis)
      : outer(x.count(0, axis)), channels(x[axis]), inner(x.count(axis + 1)) {}
  std::int64_t per_channel() const { return outer * inner; }
  template <class F>
  void each(std::int64_t c, F&& f) const {
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i) f((o * channels + c) * inner + i);
  }
  template <class F>
  void each_channel(F&& f) const {
    const std::int64_t grain = grain_of(per_channel());
    parallel_for(channels, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) f(c);
    });
  }
};

inline double relu_of(NormRelu relu, double value) {
  if (relu == NormRelu::kNone) return value;
  if (relu == NormRelu::kNanIsZero) return value > 0 ? value : 0;
  return value < 0 ? 0 : value;
}

/// y of one channel, and what relu kept where `mask` is not null.
template <class T, class P>
void write_channel(const BatchNormSizes& s, const ChannelGrid& g, std::int64_t c, double mean,
                   double inverse, const T* add, std::uint8_t* mask, const Args& args) {
  const double scale = (s.fix_gamma ? 1.0 : static_cast<double>(args.in<P>(1)[c])) * inverse;
  const double beta = static_cast<double>(args.in<P>(2)[c]);
  const T* x = args.in<T>(0);
  T* y = args.out<T>(0);
  g.each(c, [&](std::int64_t i) {
    double value = (static_cast<double>(x[i]) - mean) * scale + beta;
    if (add) value += static_cast<double>(add[i]);
    if (mask) mask[i] = value > 0;
    y[i] = static_cast<T>(static_cast<Accumulator<T>>(relu_of(s.relu, value)));
  });
}

template <class T, class P>
void forward_channel(const BatchNormSizes& s, const ChannelGrid& g, std::int64_t c,
                     bool batch_stats, const Args& args) {
  const T* x = args.in<T>(0);
  double mean = static_cast<double>(args.in<P>(3)[c]),
         variance = static_cast<double>(args.in<P>(4)[c]);
  if (batch_stats) {
    const double m = static_cast<double>(std::max<std::int64_t>(1, g.per_channel()));
    double sum = 0, squares = 0;
    g.each(c, [&](std::int64_t i) { sum += static_cast<double>(x[i]); });
    mean = sum / m;
    g.each(c, [&](std::int64_t i) {
      const double d = static_cast<double>(x[i]) - mean;
      squares += d * d;
    });
    variance = squares / m;
  }
  const double inverse = 1 / std::sqrt(variance + s.eps);
  const bool masks = s.relu != NormRelu::kNone && args.wants(3);
  write_channel<T, P>(s, g, c, mean, inverse, s.sum ? args.in<T>(5) : nullptr,
                      masks ? args.out<std::uint8_t>(3) : nullptr, args);
  if (args.wants(1)) args.out<P>(1)[c] = static_cast<P>(mean);
  if (args.wants(2)) args.out<P>(2)[c] = static_cast<P>(inverse);
}

template <class T, class P>
Prepared forward(const BatchNormSizes& s, const ChannelGrid& g, bool training) {
  return [s, g, training](const Args& args) {
    if (s.fix_gamma && training) std::fill_n(args.mutable_in<P>(1), g.channels, P(1));
    const bool batch_stats = args.run->is_train && !s.global_stats;
    g.each_channel([&](std::int64_t c) { forward_channel<T, P>(s, g, c, batch_stats, args); });
  };
}

template <class T, class P>
Prepared again(const BatchNormSizes& s, const ChannelGrid& g) {
  return [s, g](const Args& args) {
    g.each_channel([&](std::int64_t c) {
      write_channel<T, P>(s, g, c, static_cast<double>(args.in<P>(3)[c]),
                          static_cast<double>(args.in<P>(4)[c]), nullptr, nullptr, args);
    });
  };
}

/// `second`: the input that is the second summand of the gradient that arrives, or -1.
template <class T, class P>
void backward_channel(const BatchNormSizes& s, const ChannelGrid& g, std::int64_t c, int second,
                      const Args& args) {
  const T *dy = args.in<T>(0), *x = args.in<T>(1),
          *more = second < 0 ? nullptr : args.in<T>(second);
  const double mean = static_cast<double>(args.in<P>(3)[c]),
               inverse = static_cast<double>(args.in<P>(4)[c]);
  const std::uint8_t* mask = s.relu != NormRelu::kNone ? args.in<std::uint8_t>(7) : nullptr;
  const auto head = [&](std::int64_t i) {
    if (mask && !mask[i]) return 0.0;
    return static_cast<double>(dy[i]) + (more ? static_cast<double>(more[i]) : 0.0);
  };
  double sum = 0, product = 0;
  g.each(c, [&](std::int64_t i) {
    sum += head(i);
    product += head(i) * (static_cast<double>(x[i]) - mean) * inverse;
  });
  const double scale = (s.fix_gamma ? 1.0 : static_cast<double>(args.in<P>(2)[c])) * inverse;
  const double m = static_cast<double>(std::max<std::int64_t>(1, g.per_channel()));
  T *dx = args.wants(0) ? args.out<T>(0) : nullptr,
    *of_sum = s.sum && args.wants(3) ? args.out<T>(3) : nullptr;
  g.each(c, [&](std::int64_t i) {
    const double dz = head(i);
    double d = dz;
    if (!s.global_stats) d -= (sum + (static_cast<double>(x[i]) - mean) * inverse * product) / m;
    if (dx) dx[i] = static_cast<T>(static_cast<Accumulator<T>>(d * scale));
    if (of_sum) of_sum[i] = static_cast<T>(static_cast<Accumulator<T>>(dz));
  });
  if (args.wants(1)) args.out<P>(1)[c] = s.fix_gamma ? P(0) : static_cast<P>(product);
  if (args.wants(2)) args.out<P>(2)[c] = static_cast<P>(sum);
}

template <class T, class P>
Prepared backward(const BatchNormSizes& s, const ChannelGrid& g, int second) {
  return [s, g, second](const Args& args) {
    g.each_channel([&](std::int64_t c) { backward_channel<T, P>(s, g, c, second, args); });
    if (s.global_stats) return;
    P *moving_mean = args.mutable_in<P>(5), *moving_var = args.mutable_in<P>(6);
    const P keep = static_cast<P>(s.momentum);
    for (std::int64_t c = 0; c < g.channels; ++c) {
      const double inverse = static_cast<double>(args.in<P>(4)[c]);
      const P variance = static_cast<P>(1 / (inverse * inverse) - s.eps);
      moving_mean[c] = moving_mean[c] * keep + args.in<P>(3)[c] * (1 - keep);
      moving_var[c] = moving_var[c] * keep + variance * (1 - keep);
    }
  };
}

}  // namespace symbind::batch_norm_reference
