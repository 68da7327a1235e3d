// LRN: every element divided by the magnitude of its neighbours along the channels.
//
//   norm = knorm + alpha/nsize · Σ x²  over nsize channels around it,    y = x · norm^−beta
//   dx = dy · norm^−beta − 2·alpha·beta/nsize · x · Σ dy·x·norm^(−beta−1)  over the same channels
//
// Decided here: norm is a hidden output, which the monitor shows as <name>_tmp_norm. Channels are
// axis 1 of data of any rank (MXNet: of four). beta 3/4, which nets use, is computed faster than by
// a power. Plain data is computed plane by plane, blocked data position by position: either way the
// innermost loop runs over neighbours in memory.
#include <symbind/operator.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/channel_lanes.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct LRNAttrs {
  float alpha = 1e-4f, beta = 0.75f, knorm = 2;
  int nsize = 0;

  void describe(AttrVisitor& v) {
    v.field("alpha", alpha, "Factor of the squares.");
    v.field("beta", beta, "The power.");
    v.field("knorm", knorm, "Added to the sum of squares.");
    v.field("nsize", nsize, "Number of channels that are summed; odd.").required().at_least(0);
  }
};

void check_attrs(const LRNAttrs& a, const Shape& x) {
  check(a.nsize % 2 == 1, "nsize {} must be odd: as many channels on either side", a.nsize);
  check(!x.rank_known() || x.rank() >= 2, ErrorKind::kShape,
        "LRN needs channels along axis 1, the data is {}", x.str());
}

void infer(const LRNAttrs& a, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
  check_attrs(a, io.shape(io.in(0)));
}

NodeEntries gradient(const LRNAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_LRN", {g.head(0), g.input(0), g.output(1)});
}

struct Grid {
  std::int64_t batch, channels, inner, half;
  Grid(const LRNAttrs& a, const Shape& x)
      : batch(x[0]), channels(x[1]), inner(x.count(2)), half(a.nsize / 2) {}
  /// Calls f(first element of the plane, first and last plane of its window) for every plane.
  template <class F>
  void each_plane(F&& f) const {
    const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / 4 / (inner + 1));
    parallel_for(batch * channels, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) {
        const std::int64_t c = p % channels, zero = (p - c) * inner;
        f(p * inner, zero + std::max<std::int64_t>(0, c - half) * inner,
          zero + std::min(channels - 1, c + half) * inner);
      }
    });
  }
};

/// x^(−3/4) of a positive number, in operations that compilers vectorise (library roots are not):
/// Newton's iteration for x^(−1/4) from a first guess that divides the exponent by −4.
inline float inverse_three_quarters(float x) {
  float y = std::bit_cast<float>(1331219132 - (std::bit_cast<std::int32_t>(x) >> 2));
  for (int i = 0; i < 3; ++i) {
    const float square = y * y;
    y *= 1.25f - 0.25f * x * square * square;
  }
  return y * y * y;
}
inline double inverse_three_quarters(double x) {
  const double root = std::sqrt(x);
  return 1 / (root * std::sqrt(root));
}

/// norm^−beta.
template <class Acc>
struct Power {
  Acc beta;
  bool three_quarters;
  explicit Power(const LRNAttrs& a)
      : beta(static_cast<Acc>(a.beta)),
        three_quarters(a.beta == 0.75f && a.knorm > 0 && a.alpha >= 0) {}
  Acc operator()(Acc norm) const {
    return three_quarters ? inverse_three_quarters(norm) : std::pow(norm, -beta);
  }
  /// y = x · norm^−beta
  template <class T>
  void scale(std::int64_t n, const Acc* norm, const T* x, T* y) const {
    if (three_quarters)
      for (std::int64_t i = 0; i < n; ++i)
        y[i] = static_cast<T>(static_cast<Acc>(x[i]) * inverse_three_quarters(norm[i]));
    else
      for (std::int64_t i = 0; i < n; ++i)
        y[i] = static_cast<T>(static_cast<Acc>(x[i]) * std::pow(norm[i], -beta));
  }
};

Prepared forward(const LRNAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [g = Grid(a, r.in[0].shape), power = Power<Acc>(a),
            scale = static_cast<Acc>(a.alpha) / static_cast<Acc>(a.nsize),
            knorm = static_cast<Acc>(a.knorm)](const Args& args) {
      constexpr std::int64_t kTile = 256;
      const T* x = args.in<T>(0);
      T *y = args.out<T>(0), *norm = args.wants(1) ? args.out<T>(1) : nullptr;
      g.each_plane([&](std::int64_t at, std::int64_t low, std::int64_t high) {
        for (std::int64_t tile = 0; tile < g.inner; tile += kTile) {
          const std::int64_t n = std::min(kTile, g.inner - tile);
          Acc sum[kTile] = {};
          for (std::int64_t plane = low + tile; plane <= high + tile; plane += g.inner)
            for (std::int64_t i = 0; i < n; ++i) {
              const Acc v = static_cast<Acc>(x[plane + i]);
              sum[i] += v * v;
            }
          for (std::int64_t i = 0; i < n; ++i) sum[i] = sum[i] * scale + knorm;
          for (std::int64_t i = 0; norm && i < n; ++i) norm[at + tile + i] = static_cast<T>(sum[i]);
          power.scale(n, sum, x + at + tile, y + at + tile);
        }
      });
    };
  });
}

// ---- Blocked data: the channels of one position in a buffer ------------------------------------

constexpr std::int64_t kMostChannels = 1024, kMostHalf = 16;

/// The channels of every position of blocked data.
struct Positions {
  ChannelLanes lanes;
  std::int64_t channels, half;
  Positions(const LRNAttrs& a, const TensorDesc& x)
      : lanes(x.shape, x.layout), channels(x.shape[1]), half(a.nsize / 2) {}

  /// Calls f(place of the first channel) for every position.
  template <class F>
  void each(F&& f) const {
    const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / 4 / (channels + 1));
    parallel_for(lanes.batch * lanes.positions, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p)
        f(p / lanes.positions * channels * lanes.positions + p % lanes.positions * lanes.lanes);
    });
  }
  /// Calls f(channel, its place) for the first channel of every group of the position at `first`.
  template <class F>
  void each_group(std::int64_t first, F&& f) const {
    for (std::int64_t g = 0; g < lanes.groups; ++g)
      f(g * lanes.lanes, first + g * lanes.positions * lanes.lanes);
  }
  template <class T, class Acc>
  void read(const T* x, std::int64_t first, Acc* values) const {
    each_group(first, [&](std::int64_t c, std::int64_t at) {
      for (std::int64_t l = 0; l < lanes.lanes; ++l) values[c + l] = static_cast<Acc>(x[at + l]);
    });
  }
  template <class Acc, class T>
  void write(const Acc* values, std::int64_t first, T* x) const {
    each_group(first, [&](std::int64_t c, std::int64_t at) {
      for (std::int64_t l = 0; l < lanes.lanes; ++l) x[at + l] = static_cast<T>(values[c + l]);
    });
  }
  /// sum[c] = Σ terms[c − half … c + half]; terms outside the channels are 0.
  template <class Acc>
  void window_sums(const Acc* terms, Acc* sum) const {
    std::fill_n(sum, channels, Acc(0));
    for (std::int64_t k = -half; k <= half; ++k)
      for (std::int64_t c = 0; c < channels; ++c) sum[c] += terms[c + k];
  }
};

/// Numbers of the channels of one position, with zeros on either side.
template <class Acc>
struct Row {
  explicit Row(const Positions& p) {
    std::fill_n(values - p.half, p.half, Acc(0));
    std::fill_n(values + p.channels, p.half, Acc(0));
  }
  alignas(64) Acc memory[kMostChannels + 2 * kMostHalf];
  Acc* values = memory + kMostHalf;
};

bool takes_blocked(const LRNAttrs& a, const TensorDesc& x) {
  return (x.layout == Layout::kBlocked8 || x.layout == Layout::kBlocked16) &&
         x.shape[1] <= kMostChannels && a.nsize / 2 <= kMostHalf;
}

Offer offer_forward(const LRNAttrs& a, const KernelRequest& r) {
  Offer offer = accept_plain(r);
  if (takes_blocked(a, r.in[0]))
    offer.in_layouts[0] = offer.out_layouts[0] = offer.out_layouts[1] = r.in[0].layout;
  return offer;
}

Prepared forward_blocked(const LRNAttrs& a, const TensorDesc& x_desc) {
  return dispatch_float(x_desc.dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [positions = Positions(a, x_desc), power = Power<Acc>(a),
            scale = static_cast<Acc>(a.alpha) / static_cast<Acc>(a.nsize),
            knorm = static_cast<Acc>(a.knorm)](const Args& args) {
      const T* x = args.in<T>(0);
      T *y = args.out<T>(0), *norm = args.wants(1) ? args.out<T>(1) : nullptr;
      positions.each([&](std::int64_t first) {
        Row<Acc> squares(positions);
        Acc value[kMostChannels], sum[kMostChannels];
        const std::int64_t n = positions.channels;
        positions.read(x, first, value);
        for (std::int64_t c = 0; c < n; ++c) squares.values[c] = value[c] * value[c];
        positions.window_sums(squares.values, sum);
        for (std::int64_t c = 0; c < n; ++c) sum[c] = sum[c] * scale + knorm;
        if (norm != nullptr) positions.write(sum, first, norm);
        power.scale(n, sum, value, value);
        positions.write(value, first, y);
      });
    };
  });
}

Prepared backward_blocked(const LRNAttrs& a, const TensorDesc& x_desc) {
  return dispatch_float(x_desc.dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [positions = Positions(a, x_desc), power = Power<Acc>(a),
            scale = -2 * static_cast<Acc>(a.beta) * static_cast<Acc>(a.alpha) /
                    static_cast<Acc>(a.nsize)](const Args& args) {
      const T *dy = args.in<T>(0), *x = args.in<T>(1), *norm = args.in<T>(2);
      T* dx = args.out<T>(0);
      positions.each([&](std::int64_t first) {
        Row<Acc> product(positions);
        Acc d[kMostChannels], value[kMostChannels], s[kMostChannels], sum[kMostChannels];
        const std::int64_t n = positions.channels;
        positions.read(dy, first, d);
        positions.read(x, first, value);
        positions.read(norm, first, s);
        for (std::int64_t c = 0; c < n; ++c) {
          const Acc factor = power(s[c]);
          product.values[c] = d[c] * value[c] * factor / s[c];
          d[c] *= factor;
        }
        positions.window_sums(product.values, sum);
        for (std::int64_t c = 0; c < n; ++c) d[c] += scale * value[c] * sum[c];
        positions.write(d, first, dx);
      });
    };
  });
}

Offer offer_backward(const LRNAttrs& a, const KernelRequest& r) {
  if (takes_blocked(a, r.in[1])) {
    Offer blocked = accept_plain(r);
    blocked.in_layouts.assign(3, r.in[1].layout);
    blocked.out_layouts.assign(1, r.in[1].layout);
    return blocked;
  }
  const std::size_t element = r.in[0].dtype == DType::kFloat64 ? 8 : 4;
  return accept_plain(r, static_cast<std::size_t>(r.in[0].shape.size()) * element);
}

// Inputs: dy, x, norm. In the workspace: dy · x · norm^(−beta−1).
Prepared backward(const LRNAttrs& a, const KernelRequest& r, const Offer& offer) {
  if (offer.in_layouts[1] != Layout::kPlain) return backward_blocked(a, r.in[1]);
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [g = Grid(a, r.in[0].shape), power = Power<Acc>(a),
            scale = -2 * static_cast<Acc>(a.beta) * static_cast<Acc>(a.alpha) /
                    static_cast<Acc>(a.nsize)](const Args& args) {
      constexpr std::int64_t kTile = 256;
      const T *dy = args.in<T>(0), *x = args.in<T>(1), *norm = args.in<T>(2);
      T* dx = args.out<T>(0);
      Acc* product = static_cast<Acc*>(args.workspace);
      g.each_plane([&](std::int64_t at, std::int64_t, std::int64_t) {
        for (std::int64_t i = at; i < at + g.inner; ++i) {
          const Acc s = static_cast<Acc>(norm[i]);
          product[i] = static_cast<Acc>(dy[i]) * static_cast<Acc>(x[i]) * power(s) / s;
        }
      });
      g.each_plane([&](std::int64_t at, std::int64_t low, std::int64_t high) {
        for (std::int64_t tile = 0; tile < g.inner; tile += kTile) {
          const std::int64_t n = std::min(kTile, g.inner - tile);
          Acc sum[kTile] = {};
          for (std::int64_t plane = low + tile; plane <= high + tile; plane += g.inner)
            for (std::int64_t i = 0; i < n; ++i) sum[i] += product[plane + i];
          for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t k = at + tile + i;
            dx[k] = static_cast<T>(static_cast<Acc>(dy[k]) * power(static_cast<Acc>(norm[k])) +
                                   scale * static_cast<Acc>(x[k]) * sum[i]);
          }
        }
      });
    };
  });
}

}  // namespace

void register_lrn(OpRegistry& r) {
  r.add<LRNAttrs>("LRN")
      .precision(Precision::kAsStored)
      .inputs(std::vector<std::string>{"data"})
      .doc("Divides every element by the magnitude of its neighbours along the channels.")
      .outputs({"output", "tmp_norm"}, 1)
      .skips_unread(1)
      .infer(infer)
      .gradient(gradient)
      .kernel(DeviceType::kCpu, "native", offer_forward,
              [](const LRNAttrs& a, const KernelRequest& r, const Offer& offer) {
                return offer.in_layouts[0] == Layout::kPlain ? forward(a, r)
                                                             : forward_blocked(a, r.in[0]);
              });
  r.add<LRNAttrs>("_backward_LRN")
      .precision(Precision::kAsStored)
      .backward()
      .inputs({"dy", "data", "tmp_norm"})
      .infer(infer)
      .kernel(DeviceType::kCpu, "native", offer_backward, backward);
}

}  // namespace symbind
