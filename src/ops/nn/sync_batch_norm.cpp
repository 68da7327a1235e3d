// SyncBatchNorm: BatchNorm with statistics over the batches of several devices.
//
//   y = γ (x − μ) / σ + β,   σ² = Var x + eps (biased), μ and Var over all `ndev` devices
//   dβ = Σ dy,  dγ = Σ dy x̂ (of this device),  dx = γ/σ (dy − Σ' dy/m − x̂ Σ' dy x̂/m)
//
// Σ' and m are over all devices. Otherwise as BatchNorm (batch_norm.cpp): the moving statistics are
// updated in backward, fix_gamma treats γ as 1 and sets it to 1. The third output is the variance;
// BatchNorm's is 1/σ.
//
// Decided here: the channels are axis 1. Devices synchronise by `key` (kernels/device_meeting.h),
// three times per step, so each must run in its own thread, as in a Module. If a device is missing,
// the wait ends with an error. All devices belong to one process.
#include <symbind/operator.h>

#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/device_meeting.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct SyncBatchNormAttrs {
  float eps = 1e-3f;
  float momentum = 0.9f;
  bool fix_gamma = true;
  bool use_global_stats = false;
  bool output_mean_var = false;
  int ndev = 1;
  std::string key;

  void describe(AttrVisitor& v) {
    v.field("eps", eps, "Added to the variance.").at_least(0);
    v.field("momentum", momentum, "How much of the moving statistics an update keeps.");
    v.field("fix_gamma", fix_gamma, "Whether gamma is fixed at 1.");
    v.field("use_global_stats", use_global_stats,
            "Whether training uses the moving statistics too.");
    v.field("output_mean_var", output_mean_var, "Whether mean and variance are visible outputs.");
    v.field("ndev", ndev, "Number of devices whose batches are normalised together.").at_least(1);
    v.field("key", key, "Name of the layer, the same on all devices.").required();
  }
};
using A = SyncBatchNormAttrs;

// ---- Inference and gradient ---------------------------------------------------------------------

void infer_channels(Inference& io, Inference::Ref data, const std::vector<Inference::Ref>& all) {
  const Shape x = io.shape(data);
  if (x.rank_known())
    check(x.rank() >= 2, ErrorKind::kShape, "the data {} must be (batch, channels, …)", x.str());
  const DType t = io.dtype(data);
  const bool narrow = t == DType::kFloat16 || t == DType::kBFloat16;
  for (const auto& c : all) {
    io.set_shape(c, Shape{x.rank_known() ? x[1] : kUnknownDim}, "one value per channel");
    if (t != DType::kUnknown)
      io.set_dtype(c, narrow ? DType::kFloat32 : t, "as the data's type requires");
    if (!x.rank_known() || io.shape(c)[0] == kUnknownDim) continue;
    Shape back = Shape::of_rank(x.rank());
    back[1] = io.shape(c)[0];
    io.set_shape(data, back, "one channel per parameter");
  }
}

void infer(const A&, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  infer_channels(io, io.in(0), {io.in(1), io.in(2), io.in(3), io.in(4), io.out(1), io.out(2)});
}

// Inputs: dy, x, γ, μ, variance, moving_mean, moving_var. Outputs: dx, dγ, dβ.
void infer_backward(const A&, Inference& io) {
  io.same_shape(io.in(0), io.in(1));
  io.same_shape(io.in(1), io.out(0));
  io.same_dtype(io.in(0), io.in(1));
  io.same_dtype(io.in(1), io.out(0));
  infer_channels(io, io.in(1),
                 {io.in(2), io.in(3), io.in(4), io.in(5), io.in(6), io.out(1), io.out(2)});
}

NodeEntries gradient(const A&, GradientBuilder& g) {
  NodeEntries d = g.call_with_same_attrs(
      "_backward_SyncBatchNorm",
      {g.head(0), g.input(0), g.input(1), g.output(1), g.output(2), g.input(3), g.input(4)});
  d.resize(5);  // none for the auxiliary states
  return d;
}

// ---- Kernels ------------------------------------------------------------------------------------

/// The data as (batch, channels, inner).
struct Grid {
  explicit Grid(const Shape& x) : batch(x[0]), channels(x[1]), inner(x.count(2)) {}
  template <class F>
  void each_channel(F f) const {
    const std::int64_t grain = grain_of(batch * inner);
    parallel_for(channels, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) f(c);
    });
  }
  template <class F>
  void each(std::int64_t c, F f) const {
    for (std::int64_t n = 0; n < batch; ++n)
      for (std::int64_t i = 0; i < inner; ++i) f((n * channels + c) * inner + i);
  }
  std::int64_t batch, channels, inner;
};

/// Two sums per channel and the number of elements, over all devices.
struct Sums {
  explicit Sums(std::int64_t channels) : numbers(static_cast<std::size_t>(2 * channels + 1)) {}
  double& first(std::int64_t c) { return numbers[static_cast<std::size_t>(2 * c)]; }
  double& second(std::int64_t c) { return numbers[static_cast<std::size_t>(2 * c + 1)]; }
  double& count() { return numbers.back(); }
  void over_devices(const A& a, const char* phase, int device) {
    sum_over_devices(a.key + phase, a.ndev, device, numbers);
    count() = std::max(count(), 1.0);
  }
  std::vector<double> numbers;
};

template <class T, class P>
Prepared forward_typed(const A& a, const KernelRequest& r) {
  return
      [a, g = Grid(r.in[0].shape), training = r.training, device = r.context.id](const Args& args) {
        if (a.fix_gamma && training) std::fill_n(args.mutable_in<P>(1), g.channels, P(1));
        const T* x = args.in<T>(0);
        const bool batch = args.run->is_train && !a.use_global_stats;
        std::vector<double> mean(static_cast<std::size_t>(g.channels)), variance = mean;
        for (std::int64_t c = 0; c < g.channels; ++c) {
          mean[static_cast<std::size_t>(c)] = static_cast<double>(args.in<P>(3)[c]);
          variance[static_cast<std::size_t>(c)] = static_cast<double>(args.in<P>(4)[c]);
        }
        if (batch) {
          // First the means, then the squared differences: E x² − (E x)² loses digits.
          Sums sums(g.channels);
          g.each_channel([&](std::int64_t c) {
            g.each(c, [&](std::int64_t i) { sums.first(c) += static_cast<double>(x[i]); });
          });
          sums.count() = static_cast<double>(g.batch * g.inner);
          sums.over_devices(a, "/mean", device);
          const double m = sums.count();
          g.each_channel([&](std::int64_t c) {
            mean[static_cast<std::size_t>(c)] = sums.first(c) / m;
            g.each(c, [&](std::int64_t i) {
              const double d = static_cast<double>(x[i]) - mean[static_cast<std::size_t>(c)];
              sums.second(c) += d * d;
            });
          });
          sums.over_devices(a, "/variance", device);
          for (std::int64_t c = 0; c < g.channels; ++c)
            variance[static_cast<std::size_t>(c)] = sums.second(c) / m;
        }
        g.each_channel([&](std::int64_t c) {
          const double mu = mean[static_cast<std::size_t>(c)],
                       var = variance[static_cast<std::size_t>(c)];
          const double gamma = a.fix_gamma ? 1.0 : static_cast<double>(args.in<P>(1)[c]);
          const double scale = gamma / std::sqrt(var + static_cast<double>(a.eps));
          const double beta = static_cast<double>(args.in<P>(2)[c]);
          if (args.wants(0))
            g.each(c, [&, y = args.out<T>(0)](std::int64_t i) {
              y[i] = static_cast<T>(
                  static_cast<Accumulator<T>>((static_cast<double>(x[i]) - mu) * scale + beta));
            });
          if (args.wants(1)) args.out<P>(1)[c] = static_cast<P>(mu);
          if (args.wants(2)) args.out<P>(2)[c] = static_cast<P>(var);
        });
      };
}

template <class T, class P>
Prepared backward_typed(const A& a, const KernelRequest& r) {
  // A backward outside training follows a forward that used the given statistics.
  return [a, g = Grid(r.in[1].shape), given = a.use_global_stats || !r.training,
          device = r.context.id](const Args& args) {
    const T *dy = args.in<T>(0), *x = args.in<T>(1);
    const auto mean = [&](std::int64_t c) { return static_cast<double>(args.in<P>(3)[c]); };
    const auto inverse = [&](std::int64_t c) {
      return 1 / std::sqrt(static_cast<double>(args.in<P>(4)[c]) + static_cast<double>(a.eps));
    };
    Sums sums(g.channels);  // Σ dy, Σ dy x̂
    g.each_channel([&](std::int64_t c) {
      g.each(c, [&](std::int64_t i) {
        sums.first(c) += static_cast<double>(dy[i]);
        sums.second(c) +=
            static_cast<double>(dy[i]) * (static_cast<double>(x[i]) - mean(c)) * inverse(c);
      });
      if (args.wants(1)) args.out<P>(1)[c] = a.fix_gamma ? P(0) : static_cast<P>(sums.second(c));
      if (args.wants(2)) args.out<P>(2)[c] = static_cast<P>(sums.first(c));
    });
    sums.count() = static_cast<double>(g.batch * g.inner);
    if (!given) sums.over_devices(a, "/gradient", device);
    if (args.wants(0))
      g.each_channel([&](std::int64_t c) {
        const double gamma = a.fix_gamma ? 1.0 : static_cast<double>(args.in<P>(2)[c]);
        g.each(c, [&, dx = args.out<T>(0)](std::int64_t i) {
          double d = static_cast<double>(dy[i]);
          if (!given)
            d -= (sums.first(c) +
                  (static_cast<double>(x[i]) - mean(c)) * inverse(c) * sums.second(c)) /
                 sums.count();
          dx[i] = static_cast<T>(static_cast<Accumulator<T>>(d * gamma * inverse(c)));
        });
      });
    if (given) return;
    P *moving_mean = args.mutable_in<P>(5), *moving_var = args.mutable_in<P>(6);
    const P keep = static_cast<P>(a.momentum);
    for (std::int64_t c = 0; c < g.channels; ++c) {
      moving_mean[c] = moving_mean[c] * keep + args.in<P>(3)[c] * (1 - keep);
      moving_var[c] = moving_var[c] * keep + args.in<P>(4)[c] * (1 - keep);
    }
  };
}

Prepared forward(const A& a, const KernelRequest& r) {
  return dispatch_float(
      r.in[0].dtype, [&]<class T>() -> Prepared { return forward_typed<T, Accumulator<T>>(a, r); });
}
Prepared backward(const A& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return backward_typed<T, Accumulator<T>>(a, r);
  });
}

}  // namespace

void register_sync_batch_norm(OpRegistry& r) {
  r.add<A>("_contrib_SyncBatchNorm")
      .doc("Normalises every channel over the batches of all devices.")
      .inputs({"data", "gamma", "beta", "moving_mean", "moving_var"})
      .outputs(
          [](const A&) {
            return std::vector<std::string>{"output", "mean", "var"};
          },
          [](const A& a) { return a.output_mean_var ? 3 : 1; })
      .aux({3, 4})
      .mutates({1})  // gamma, with fix_gamma
      .init_hint(3, R"(["zero", {}])")
      .init_hint(4, R"(["one", {}])")
      .skips_unread()
      .meets_devices()
      .infer(infer)
      .gradient(gradient)
      .reference(forward);
  r.add<A>("_backward_SyncBatchNorm")
      .backward()
      .inputs({"dy", "data", "gamma", "mean", "var", "moving_mean", "moving_var"})
      .outputs({"data", "gamma", "beta"})
      .mutates({5, 6})
      .skips_unread()
      .meets_devices()
      .infer(infer_backward)
      .reference(backward);
}

}  // namespace symbind
