// BatchNorm: each channel is normalised to mean 0 and variance 1, then scaled and shifted.
//
//   y = γ (x − μ) / σ + β,   σ² = Var x + eps (biased)
//   dβ = Σ dy,  dγ = Σ dy x̂,  dx = γ/σ (dy − dβ/m − x̂ dγ/m)      with x̂ = (x − μ)/σ over m elements
//
// μ, σ come from the batch in training, from the moving statistics otherwise or with
// use_global_stats (then dx = γ/σ dy). Saved for backward: μ and 1/σ, hidden unless
// output_mean_var. Decided here, as MXNet's CPU does: the moving statistics are updated in
// *backward*, from the saved ones, with the biased variance. fix_gamma treats γ as 1 and its
// gradient as 0, and any forward of an executor with gradients sets it to 1. 16-bit data has
// float32 parameters. `_fused_BatchNorm_relu` also keeps which elements were positive, so that
// backward need not read y.
#include <symbind/operator.h>

#include <cmath>

#include "base/check.h"
#include "base/parallel.h"
#include "graph/core_ops.h"
#include "kernels/accumulate.h"
#include "kernels/onednn/batch_norm.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct BatchNormAttrs {
  double eps = 1e-3f;  // MXNet's default is the float's value
  float momentum = 0.9f;
  bool fix_gamma = true;
  bool use_global_stats = false;
  bool output_mean_var = false;
  int axis = 1;
  bool cudnn_off = false;
  std::optional<float> min_calib_range, max_calib_range;

  void describe(AttrVisitor& v) {
    v.field("eps", eps, "Added to the variance.").at_least(0);
    v.field("momentum", momentum, "How much of the moving statistics an update keeps.");
    v.field("fix_gamma", fix_gamma, "Whether gamma is fixed at 1.");
    v.field("use_global_stats", use_global_stats,
            "Whether training uses the moving statistics too.");
    v.field("output_mean_var", output_mean_var,
            "Whether mean and inverse std are visible outputs.");
    v.field("axis", axis, "The channels' axis.");
    v.field("cudnn_off", cudnn_off, "Accepted, without effect.");
    v.field("min_calib_range", min_calib_range, "Accepted, without effect.");
    v.field("max_calib_range", max_calib_range, "Accepted, without effect.");
  }
};

// ---- Inference and gradient ---------------------------------------------------------------------

/// Data and its per-channel companions.
void infer_channels(const BatchNormAttrs& a, Inference& io, Inference::Ref data,
                    const std::vector<Inference::Ref>& channels) {
  for (const auto& c : channels) io.set_shape(c, Shape::of_rank(1), "one value per channel");
  const Shape x = io.shape(data);
  if (x.rank_known()) {
    const int axis = normalize_axis(a.axis, x.rank());
    for (const auto& c : channels)
      io.set_shape(c, Shape{x[axis]}, "one value per channel of the data");
    Shape back = Shape::of_rank(x.rank());
    for (const auto& c : channels) {
      if (io.shape(c)[0] != kUnknownDim) back[axis] = io.shape(c)[0];
    }
    io.set_shape(data, back, "one channel per parameter");
  }
  const DType t = io.dtype(data);
  const bool narrow = t == DType::kFloat16 || t == DType::kBFloat16;
  if (t != DType::kUnknown)
    for (const auto& c : channels)
      io.set_dtype(c, narrow ? DType::kFloat32 : t, "as the data's type requires");
}

void infer_plain(const BatchNormAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  infer_channels(a, io, io.in(0), {io.in(1), io.in(2), io.in(3), io.in(4), io.out(1), io.out(2)});
}

void infer_relu(const BatchNormAttrs& a, Inference& io) {
  infer_plain(a, io);
  io.opaque(io.out(3));
}

// Inputs: dy, x, γ, μ, 1/σ, moving_mean, moving_var[, mask]. Outputs: dx, dγ, dβ.
void infer_backward(const BatchNormAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.in(1));
  io.same_shape(io.in(1), io.out(0));
  io.same_dtype(io.in(0), io.in(1));
  io.same_dtype(io.in(1), io.out(0));
  infer_channels(a, io, io.in(1),
                 {io.in(2), io.in(3), io.in(4), io.in(5), io.in(6), io.out(1), io.out(2)});
}

NodeEntries gradient_by(GradientBuilder& g, const char* op, bool mask) {
  NodeEntries inputs{g.head(0),   g.input(0), g.input(1), g.output(1),
                     g.output(2), g.input(3), g.input(4)};
  if (mask) inputs.push_back(g.output(3));
  NodeEntries d = g.call_with_same_attrs(op, std::move(inputs));
  d.resize(5);  // none for the auxiliary states
  return d;
}

NodeEntries gradient_plain(const BatchNormAttrs&, GradientBuilder& g) {
  return gradient_by(g, "_backward_BatchNorm", false);
}
NodeEntries gradient_relu(const BatchNormAttrs&, GradientBuilder& g) {
  return gradient_by(g, "_backward_fused_BatchNorm_relu", true);
}

/// The output again, by the statistics that forward used.
constexpr const char* kAgain = "_again_BatchNorm";
constexpr const char* kAgainRelu = "_again_fused_BatchNorm_relu";

template <const char* const& op>
NodeEntry again(const BatchNormAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs(op,
                                {g.input(0), g.input(1), g.input(2), g.output(1), g.output(2)})[0];
}

// Inputs: x, γ, β, μ, 1/σ.
void infer_again(const BatchNormAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  infer_channels(a, io, io.in(0), {io.in(1), io.in(2), io.in(3), io.in(4)});
}

// ---- The plain reference ------------------------------------------------------------------------

/// The data as (outer, channels, inner).
struct ChannelGrid {
  std::int64_t outer, channels, inner;
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
ChannelGrid channel_grid(const BatchNormAttrs& a, const Shape& x) {
  const int axis = normalize_axis(a.axis, x.rank());
  return {x.count(0, axis), x[axis], x.count(axis + 1)};
}

template <class T, class P>
void normalise_channel(const BatchNormAttrs& a, const ChannelGrid& g, std::int64_t c,
                       bool batch_stats, bool relu, const Args& args) {
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
  const double inverse = 1 / std::sqrt(variance + a.eps);
  const double scale = (a.fix_gamma ? 1.0 : static_cast<double>(args.in<P>(1)[c])) * inverse;
  const double beta = static_cast<double>(args.in<P>(2)[c]);
  T* y = args.out<T>(0);
  std::uint8_t* mask = relu && args.wants(3) ? args.out<std::uint8_t>(3) : nullptr;
  g.each(c, [&](std::int64_t i) {
    double value = (static_cast<double>(x[i]) - mean) * scale + beta;
    if (mask) mask[i] = value > 0;
    if (relu && value < 0) value = 0;
    y[i] = static_cast<T>(static_cast<Accumulator<T>>(value));
  });
  if (args.wants(1)) args.out<P>(1)[c] = static_cast<P>(mean);
  if (args.wants(2)) args.out<P>(2)[c] = static_cast<P>(inverse);
}

template <class T, class P>
Prepared forward_typed(const BatchNormAttrs& a, const KernelRequest& r, bool relu) {
  return [a, g = channel_grid(a, r.in[0].shape), training = r.training, relu](const Args& args) {
    if (a.fix_gamma && training) std::fill_n(args.mutable_in<P>(1), g.channels, P(1));
    const bool batch_stats = args.run->is_train && !a.use_global_stats;
    g.each_channel(
        [&](std::int64_t c) { normalise_channel<T, P>(a, g, c, batch_stats, relu, args); });
  };
}

template <class T, class P>
void backward_channel(const BatchNormAttrs& a, const ChannelGrid& g, std::int64_t c, bool relu,
                      const Args& args) {
  const T *dy = args.in<T>(0), *x = args.in<T>(1);
  const double mean = static_cast<double>(args.in<P>(3)[c]),
               inverse = static_cast<double>(args.in<P>(4)[c]);
  const std::uint8_t* mask = relu ? args.in<std::uint8_t>(7) : nullptr;
  const auto head = [&](std::int64_t i) {
    return mask && !mask[i] ? 0.0 : static_cast<double>(dy[i]);
  };
  double sum = 0, product = 0;
  g.each(c, [&](std::int64_t i) {
    sum += head(i);
    product += head(i) * (static_cast<double>(x[i]) - mean) * inverse;
  });
  const double scale = (a.fix_gamma ? 1.0 : static_cast<double>(args.in<P>(2)[c])) * inverse;
  const double m = static_cast<double>(std::max<std::int64_t>(1, g.per_channel()));
  if (args.wants(0)) {
    T* dx = args.out<T>(0);
    g.each(c, [&](std::int64_t i) {
      double d = head(i);
      if (!a.use_global_stats)
        d -= (sum + (static_cast<double>(x[i]) - mean) * inverse * product) / m;
      dx[i] = static_cast<T>(static_cast<Accumulator<T>>(d * scale));
    });
  }
  if (args.wants(1)) args.out<P>(1)[c] = a.fix_gamma ? P(0) : static_cast<P>(product);
  if (args.wants(2)) args.out<P>(2)[c] = static_cast<P>(sum);
}

template <class T, class P>
Prepared again_typed(const BatchNormAttrs& a, const KernelRequest& r, bool relu) {
  return [a, g = channel_grid(a, r.in[0].shape), relu](const Args& args) {
    g.each_channel([&](std::int64_t c) {
      const double mean = static_cast<double>(args.in<P>(3)[c]),
                   gamma = a.fix_gamma ? 1.0 : static_cast<double>(args.in<P>(1)[c]),
                   scale = gamma * static_cast<double>(args.in<P>(4)[c]),
                   beta = static_cast<double>(args.in<P>(2)[c]);
      g.each(c, [&](std::int64_t i) {
        const double value = (static_cast<double>(args.in<T>(0)[i]) - mean) * scale + beta;
        args.out<T>(0)[i] =
            static_cast<T>(static_cast<Accumulator<T>>(relu && value < 0 ? 0 : value));
      });
    });
  };
}

/// Whether forward used the given statistics: then a backward outside training (autograd in predict
/// mode) does not change them.
bool given_stats(const BatchNormAttrs& a, const KernelRequest& r, bool backward) {
  return a.use_global_stats || (backward && !r.training);
}

template <class T, class P>
Prepared backward_typed(BatchNormAttrs a, const KernelRequest& r, bool relu) {
  a.use_global_stats = given_stats(a, r, true);
  return [a, g = channel_grid(a, r.in[1].shape), relu](const Args& args) {
    g.each_channel([&](std::int64_t c) { backward_channel<T, P>(a, g, c, relu, args); });
    if (a.use_global_stats) return;
    P *moving_mean = args.mutable_in<P>(5), *moving_var = args.mutable_in<P>(6);
    const P keep = static_cast<P>(a.momentum);
    for (std::int64_t c = 0; c < g.channels; ++c) {
      const double inverse = static_cast<double>(args.in<P>(4)[c]);
      const P variance = static_cast<P>(1 / (inverse * inverse) - a.eps);
      moving_mean[c] = moving_mean[c] * keep + args.in<P>(3)[c] * (1 - keep);
      moving_var[c] = moving_var[c] * keep + variance * (1 - keep);
    }
  };
}

/// Parameters are double for double, float for the rest.
template <class F>
Prepared with_types(DType t, F&& f) {
  return dispatch_float(
      t, [&]<class T>() -> Prepared { return f.template operator()<T, Accumulator<T>>(); });
}

Offer offer_reference(const BatchNormAttrs&, const KernelRequest& r) {
  Offer offer = accept_plain(r);
  if (r.out.size() > 3 && r.wanted[3])
    offer.opaque_bytes[3] = static_cast<std::size_t>(r.out[0].shape.size());
  return offer;
}

/// With the moving statistics it is a scale and a shift per channel.
std::optional<EpilogueItem> as_epilogue(const BatchNormAttrs& a) {
  if (a.axis != 1 || a.output_mean_var) return std::nullopt;
  return EpilogueItem{EpilogueItem::Kind::kBatchNorm, a.eps, a.fix_gamma ? 1.0 : 0.0};
}

/// Of Activation, or the operator `relu`.
bool is_relu(const EpilogueItem& item) {
  using Kind = EpilogueItem::Kind;
  return item.kind == Kind::kRelu ||
         (item.kind == Kind::kClip && item.a == 0 && std::isinf(item.b));
}

// ---- Registration -------------------------------------------------------------------------------

Offer offer_onednn(const BatchNormAttrs& a, const KernelRequest& r, const TensorDesc& x, bool relu,
                   bool backward) {
  if (normalize_axis(a.axis, x.shape.rank()) != 1) return refuse("the channels are not axis 1");
  const BatchNormSizes s{a.eps, a.momentum, a.fix_gamma, given_stats(a, r, backward), relu};
  return backward ? onednn::offer_batch_norm_backward(s, r) : onednn::offer_batch_norm(s, r);
}

void add_forward(OpRegistry& r, const char* name, bool relu) {
  using A = BatchNormAttrs;
  using R = KernelRequest;
  auto op = r.add<A>(name);
  op.precision(Precision::kFloat32);
  // Equal except for the third output of output_mean_var, which is the variance in BatchNorm_v1.
  if (!relu) {
    op.alias("BatchNorm_v1").alias("CuDNNBatchNorm");
    op.with_epilogue(core_ops::kFusedBatchNorm).as_epilogue(as_epilogue);
  } else {
    op.ignore({"epilogue"}).takes_epilogue([](const Epilogue& e, bool) {
      return e.size() == 1 && is_relu(e.front());
    });
  }
  // Mean and variance 4, normalising 2, scale and shift 2.
  op.flops(relu ? 9 : 8, Per::kFirstInput)
      .doc(relu ? "BatchNorm, then relu." : "Normalises every channel over the batch.")
      .inputs({"data", "gamma", "beta", "moving_mean", "moving_var"})
      .outputs(
          [relu](const A&) -> std::vector<std::string> {
            if (relu) return {"output", "mean", "var", "mask"};
            return {"output", "mean", "var"};
          },
          [](const A& a) { return a.output_mean_var ? 3 : 1; })
      .aux({3, 4})
      .mutates({1})  // gamma, with fix_gamma
      .init_hint(3, R"(["zero", {}])")
      .init_hint(4, R"(["one", {}])")
      .skips_unread(1)
      .infer(relu ? infer_relu : infer_plain)
      .gradient(relu ? gradient_relu : gradient_plain)
      .recompute(relu ? again<kAgainRelu> : again<kAgain>)
      .kernel(
          DeviceType::kCpu, "onednn",
          [relu](const A& a, const R& q) { return offer_onednn(a, q, q.in[0], relu, false); },
          [](const A&, const R& q, const Offer& o) { return onednn::prepare_batch_norm(q, o); })
      .kernel(DeviceType::kCpu, "reference", offer_reference,
              [relu](const A& a, const R& q, const Offer&) {
                return with_types(q.in[0].dtype, [&]<class T, class P>() {
                  return forward_typed<T, P>(a, q, relu);
                });
              });
}

void add_again(OpRegistry& r, const char* name, bool relu) {
  using A = BatchNormAttrs;
  using R = KernelRequest;
  auto op = r.add<A>(name);
  if (relu) op.ignore({"epilogue"});
  op.precision(Precision::kFloat32)
      .flops(relu ? 5 : 4, Per::kFirstInput)
      .backward()
      .inputs({"data", "gamma", "beta", "mean", "var"})
      .infer(infer_again)
      .kernel(
          DeviceType::kCpu, "onednn",
          [relu](const A& a, const R& q) {
            if (normalize_axis(a.axis, q.in[0].shape.rank()) != 1)
              return refuse("the channels are not axis 1");
            return onednn::offer_batch_norm_again(
                {a.eps, a.momentum, a.fix_gamma, /*global_stats=*/true, relu}, q);
          },
          [](const A&, const R& q, const Offer& o) {
            return onednn::prepare_batch_norm_again(q, o);
          })
      .kernel(DeviceType::kCpu, "reference", nullptr, [relu](const A& a, const R& q, const Offer&) {
        return with_types(q.in[0].dtype,
                          [&]<class T, class P>() { return again_typed<T, P>(a, q, relu); });
      });
}

void add_backward(OpRegistry& r, const char* name, bool relu) {
  using A = BatchNormAttrs;
  using R = KernelRequest;
  std::vector<std::string> inputs{"dy",  "data",        "gamma",     "mean",
                                  "var", "moving_mean", "moving_var"};
  if (relu) inputs.push_back("mask");
  r.add<A>(name)
      .precision(Precision::kFloat32)
      .flops(relu ? 12 : 11, Per::kFirstInput)
      .backward()
      .inputs(inputs)
      .outputs({"data", "gamma", "beta"})
      .mutates({5, 6})
      .skips_unread()
      .infer(infer_backward)
      .inplace(0, 0)
      .kernel(
          DeviceType::kCpu, "onednn",
          [relu](const A& a, const R& q) { return offer_onednn(a, q, q.in[1], relu, true); },
          [](const A&, const R& q, const Offer& o) {
            return onednn::prepare_batch_norm_backward(q, o);
          })
      .kernel(DeviceType::kCpu, "reference", nullptr, [relu](const A& a, const R& q, const Offer&) {
        return with_types(q.in[0].dtype,
                          [&]<class T, class P>() { return backward_typed<T, P>(a, q, relu); });
      });
}

}  // namespace

void register_batch_norm(OpRegistry& r) {
  add_forward(r, "BatchNorm", false);
  add_backward(r, "_backward_BatchNorm", false);
  add_forward(r, "_fused_BatchNorm_relu", true);
  add_backward(r, "_backward_fused_BatchNorm_relu", true);
  add_again(r, kAgain, false);
  add_again(r, kAgainRelu, true);
}

}  // namespace symbind
