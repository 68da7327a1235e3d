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
// float32 parameters.
//
// `_fused_BatchNorm` has an epilogue: sum, relu, or both. It keeps which elements relu kept, so
// that backward need not read y. Where the gradient that arrives is itself a sum, backward takes
// its summands and adds them while it applies that mask.
#include <symbind/operator.h>

#include "base/check.h"
#include "graph/core_ops.h"
#include "graph/gradient_heads.h"
#include "kernels/accumulate.h"
#include "kernels/batch_norm/batch_norm.h"
#include "kernels/batch_norm_reference.h"
#include "kernels/onednn/batch_norm.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/nn/epilogue_attr.h"

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
  std::string epilogue;

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

using FusedAttrs = WithEpilogue<BatchNormAttrs>;

NormEpilogue epilogue_of(const BatchNormAttrs& a) {
  const std::optional<NormEpilogue> known = norm_epilogue(parse_epilogue(a.epilogue));
  check(known.has_value(), ErrorKind::kNotImplemented,
        "BatchNorm has no epilogue '{}', only sum, relu and both in this order", a.epilogue);
  return *known;
}
bool has_relu(const BatchNormAttrs& a) { return epilogue_of(a).relu != NormRelu::kNone; }

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

void infer_fused(const FusedAttrs& a, Inference& io) {
  infer_plain(a, io);
  if (epilogue_of(a).sum) {
    io.same_shape(io.in(5), io.out(0));
    io.same_dtype(io.in(5), io.out(0));
  }
  if (has_relu(a)) io.opaque(io.out(3));
}

/// Inputs: dy, x, γ, μ, 1/σ, moving_mean, moving_var[, mask][, a second dy]. Outputs: dx, dγ, dβ[,
/// the gradient of the added tensor].
std::vector<std::string> backward_inputs(const BatchNormAttrs& a, bool two_heads) {
  std::vector<std::string> names{"dy", "data", "gamma", "mean", "var", "moving_mean", "moving_var"};
  if (has_relu(a)) names.push_back("mask");
  if (two_heads) names.push_back("second_dy");
  return names;
}
std::vector<std::string> backward_outputs(const BatchNormAttrs& a) {
  std::vector<std::string> names{"data", "gamma", "beta"};
  if (epilogue_of(a).sum) names.push_back("sum");
  return names;
}

template <bool two_heads>
void infer_backward(const BatchNormAttrs& a, Inference& io) {
  const auto like_data = [&](Inference::Ref r) {
    io.same_shape(r, io.in(1));
    io.same_dtype(r, io.in(1));
  };
  like_data(io.in(0));
  like_data(io.out(0));
  if (two_heads) like_data(io.in(io.num_inputs() - 1));
  if (epilogue_of(a).sum) like_data(io.out(3));
  infer_channels(a, io, io.in(1),
                 {io.in(2), io.in(3), io.in(4), io.in(5), io.in(6), io.out(1), io.out(2)});
}

constexpr const char* kBackward = "_backward_BatchNorm";
constexpr const char* kBackwardOfTwo = "_backward_BatchNorm_two_heads";
/// The output again, by the statistics that forward used.
constexpr const char* kAgain = "_again_BatchNorm";

NodeEntries gradient(const BatchNormAttrs& a, GradientBuilder& g) {
  const bool sum = epilogue_of(a).sum, relu = has_relu(a);
  // Without a relu or a sum, the sum of the heads would be written for the second loop alone.
  const NodeEntries heads = sum || relu ? two_heads(g, 0) : NodeEntries{g.head(0)};
  NodeEntries inputs{heads[0],    g.input(0), g.input(1), g.output(1),
                     g.output(2), g.input(3), g.input(4)};
  if (relu) inputs.push_back(g.output(3));
  if (heads.size() == 2) inputs.push_back(heads[1]);
  const NodeEntries d =
      g.call_with_same_attrs(heads.size() == 2 ? kBackwardOfTwo : kBackward, std::move(inputs));
  NodeEntries gradients{d[0], d[1], d[2], {}, {}};  // none for the auxiliary states
  if (sum) gradients.push_back(relu || heads.size() == 2 ? d[3] : heads[0]);
  return gradients;
}
/// The gradient of a relu that keeps NaN is NaN there; a mask of bits cannot say so.
bool has_gradient(const NormEpilogue& e) { return e.relu != NormRelu::kKeepsNan; }

NodeEntries gradient_fused(const FusedAttrs& a, GradientBuilder& g) {
  check(has_gradient(epilogue_of(a)), "BatchNorm with the epilogue '{}' has no gradient",
        a.epilogue);
  return gradient(a, g);
}

NodeEntry again(const BatchNormAttrs& a, GradientBuilder& g) {
  if (epilogue_of(a).sum) return {};  // backward does not read the added tensor
  return g.call_with_same_attrs(kAgain,
                                {g.input(0), g.input(1), g.input(2), g.output(1), g.output(2)})[0];
}
NodeEntry again_fused(const FusedAttrs& a, GradientBuilder& g) { return again(a, g); }

// Inputs: x, γ, β, μ, 1/σ.
void infer_again(const BatchNormAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  infer_channels(a, io, io.in(0), {io.in(1), io.in(2), io.in(3), io.in(4)});
}

/// With the moving statistics it is a scale and a shift per channel.
std::optional<EpilogueItem> as_epilogue(const BatchNormAttrs& a) {
  if (a.axis != 1 || a.output_mean_var) return std::nullopt;
  return EpilogueItem{EpilogueItem::Kind::kBatchNorm, a.eps, a.fix_gamma ? 1.0 : 0.0};
}

// ---- Kernels ------------------------------------------------------------------------------------

BatchNormSizes sizes_of(const BatchNormAttrs& a, bool given_stats) {
  const NormEpilogue e = epilogue_of(a);
  return {a.eps, a.momentum, a.fix_gamma, given_stats, e.sum, e.relu};
}
BatchNormSizes forward_sizes(const BatchNormAttrs& a) { return sizes_of(a, a.use_global_stats); }
/// Outside training (autograd in predict mode) forward was given the statistics, and backward does
/// not change them.
BatchNormSizes backward_sizes(const BatchNormAttrs& a, const KernelRequest& r) {
  return sizes_of(a, a.use_global_stats || !r.training);
}
BatchNormSizes again_sizes(const BatchNormAttrs& a) { return sizes_of(a, true); }

template <class Make>
Offer if_second_axis(const BatchNormAttrs& a, const Shape& x, Make&& make) {
  if (normalize_axis(a.axis, x.rank()) != 1) return refuse("the channels are not axis 1");
  return make();
}

/// Parameters are double for double, float for the rest.
template <class F>
Prepared with_types(DType t, F&& f) {
  return dispatch_float(
      t, [&]<class T>() -> Prepared { return f.template operator()<T, Accumulator<T>>(); });
}

batch_norm_reference::ChannelGrid grid_of(const BatchNormAttrs& a, const Shape& x) {
  return {x, normalize_axis(a.axis, x.rank())};
}

Offer offer_reference(const BatchNormAttrs&, const KernelRequest& r) {
  Offer offer = accept_plain(r);
  if (r.out.size() > 3 && r.wanted[3])
    offer.opaque_bytes[3] = static_cast<std::size_t>(r.out[0].shape.size());
  return offer;
}

// ---- Registration -------------------------------------------------------------------------------

using R = KernelRequest;

template <class A>
void add_forward(OpBuilder<A>& op) {
  op.precision(Precision::kFloat32)
      .aux({3, 4})
      .mutates({1})  // gamma, with fix_gamma
      .init_hint(3, R"(["zero", {}])")
      .init_hint(4, R"(["one", {}])")
      .skips_unread(1)
      .kernel(
          DeviceType::kCpu, "native",
          [](const A& a, const R& q) {
            return if_second_axis(a, q.in[0].shape,
                                  [&] { return batch_norm::offer(forward_sizes(a), q); });
          },
          [](const A&, const R&, const Offer& o) { return batch_norm::prepare(o); })
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const A& a, const R& q) {
            return if_second_axis(a, q.in[0].shape,
                                  [&] { return onednn::offer_batch_norm(forward_sizes(a), q); });
          },
          [](const A&, const R& q, const Offer& o) { return onednn::prepare_batch_norm(q, o); })
      .kernel(
          DeviceType::kCpu, "reference",
          [](const A& a, const R& q) { return offer_reference(a, q); },
          [](const A& a, const R& q, const Offer&) {
            return with_types(q.in[0].dtype, [&]<class T, class P>() {
              return batch_norm_reference::forward<T, P>(forward_sizes(a),
                                                         grid_of(a, q.in[0].shape), q.training);
            });
          });
}

void add_again(OpRegistry& r) {
  using A = BatchNormAttrs;
  r.add<A>(kAgain)
      .precision(Precision::kFloat32)
      .flops([](const A& a, const Work& w) { return (has_relu(a) ? 5 : 4) * w.in[0].size(); })
      .backward()
      .inputs({"data", "gamma", "beta", "mean", "var"})
      .infer(infer_again)
      .kernel(
          DeviceType::kCpu, "native",
          [](const A& a, const R& q) {
            return if_second_axis(a, q.in[0].shape,
                                  [&] { return batch_norm::offer_again(again_sizes(a), q); });
          },
          [](const A&, const R&, const Offer& o) { return batch_norm::prepare_again(o); })
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const A& a, const R& q) {
            return if_second_axis(a, q.in[0].shape, [&] {
              return onednn::offer_batch_norm_again(again_sizes(a), q);
            });
          },
          [](const A&, const R& q, const Offer& o) {
            return onednn::prepare_batch_norm_again(q, o);
          })
      .kernel(DeviceType::kCpu, "reference", nullptr, [](const A& a, const R& q, const Offer&) {
        return with_types(q.in[0].dtype, [&]<class T, class P>() {
          return batch_norm_reference::again<T, P>(again_sizes(a), grid_of(a, q.in[0].shape));
        });
      });
}

template <bool two_heads>
void add_backward(OpRegistry& r, const char* name) {
  using A = BatchNormAttrs;
  r.add<A>(name)
      .precision(Precision::kFloat32)
      .flops([](const A& a, const Work& w) {
        return (11 + (has_relu(a) ? 1 : 0) + (two_heads ? 1 : 0)) * w.in[0].size();
      })
      .backward()
      .inputs([](const A& a) { return backward_inputs(a, two_heads); })
      .outputs(backward_outputs, [](const A& a) { return epilogue_of(a).sum ? 4 : 3; })
      .mutates({5, 6})
      .skips_unread()
      .infer(infer_backward<two_heads>)
      .inplace(0, 0)
      .kernel(
          DeviceType::kCpu, "native",
          [](const A& a, const R& q) {
            return if_second_axis(a, q.in[1].shape, [&] {
              return batch_norm::offer_backward(backward_sizes(a, q), two_heads, q);
            });
          },
          [](const A&, const R&, const Offer& o) { return batch_norm::prepare_backward(o); })
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const A& a, const R& q) {
            return if_second_axis(a, q.in[1].shape, [&] {
              return onednn::offer_batch_norm_backward(backward_sizes(a, q), two_heads, q);
            });
          },
          [](const A&, const R& q, const Offer& o) {
            return onednn::prepare_batch_norm_backward(q, o);
          })
      .kernel(DeviceType::kCpu, "reference", nullptr, [](const A& a, const R& q, const Offer&) {
        return with_types(q.in[0].dtype, [&]<class T, class P>() {
          const int second = two_heads ? static_cast<int>(q.in.size()) - 1 : -1;
          return batch_norm_reference::backward<T, P>(backward_sizes(a, q),
                                                      grid_of(a, q.in[1].shape), second);
        });
      });
}

const std::vector<std::string> kInputs = {"data", "gamma", "beta", "moving_mean", "moving_var"};

}  // namespace

void register_batch_norm(OpRegistry& r) {
  using A = BatchNormAttrs;
  const auto num_visible = [](const A& a) { return a.output_mean_var ? 3 : 1; };
  auto plain = r.add<A>("BatchNorm");
  // Equal except for the third output of output_mean_var, which is the variance in BatchNorm_v1.
  plain.alias("BatchNorm_v1")
      .alias("CuDNNBatchNorm")
      .doc("Normalises every channel over the batch.")
      .flops(8, Per::kFirstInput)  // mean and variance 4, normalising 2, scale and shift 2
      .slices([](const A& a, std::span<const Shape> in, const Shape& out) {
        std::vector<bool> sliced(normalize_axis(a.axis, out.rank()) > 0 ? in.size() : 0, false);
        if (!sliced.empty()) sliced[0] = true;
        return sliced;
      })
      .inputs(kInputs)
      .outputs(
          [](const A&) -> std::vector<std::string> {
            return {"output", "mean", "var"};
          },
          num_visible)
      .infer(infer_plain)
      .gradient(gradient)
      .recompute(again)
      .with_epilogue(core_ops::kFusedBatchNorm)
      .as_epilogue(as_epilogue);
  add_forward(plain);

  auto fused = r.add<FusedAttrs>(core_ops::kFusedBatchNorm);
  fused.doc("BatchNorm with an epilogue.")
      .flops([](const FusedAttrs& a, const Work& w) {
        return (8 + static_cast<double>(parse_epilogue(a.epilogue).size())) * w.in[0].size();
      })
      .inputs([](const FusedAttrs& a) { return with_operands(kInputs, a.epilogue); })
      .outputs(
          [](const FusedAttrs& a) -> std::vector<std::string> {
            if (has_relu(a)) return {"output", "mean", "var", "mask"};
            return {"output", "mean", "var"};
          },
          num_visible)
      .infer(infer_fused)
      .gradient(gradient_fused)
      .recompute(again_fused)
      .takes_epilogue([](const Epilogue& e, bool training) {
        const auto known = norm_epilogue(e);
        return known && (!training || has_gradient(*known));
      });
  add_forward(fused);

  add_backward<false>(r, kBackward);
  add_backward<true>(r, kBackwardOfTwo);
  add_again(r);
}

}  // namespace symbind
