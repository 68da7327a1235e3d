// LAMB: Adam's direction, scaled for every weight so that the step is proportional to its norm.
//
//   phase 1   g' = clip(rescale·g),  m ← β₁m + (1−β₁)g',  v ← β₂v + (1−β₂)g'²,
//             u = m̂ / (√v̂ + ε) + wd·w;   m̂ = m / (1−β₁ᵗ), v̂ = v / (1−β₂ᵗ) with bias_correction
//   phase 2   r₁ = |w| within its bounds, r₂ = |u|,  w ← w − lr·(r₁ / r₂)·u;  the ratio is 1 where
//             either is 0; bounds below 0 are none
//
// mp_…: on weight32, the master copy. _multi_…: both phases for several weights in one call, with
// norms of the weights as passed in.
//
// Decided here: mp_lamb_update_phase2 writes weight32, as its documentation says; MXNet's kernel
// does not. 1 − βᵗ and norms are computed in double.
#include <cmath>

#include "base/check.h"
#include "ops/optimizer/sum_squares.h"
#include "ops/optimizer/update_loop.h"

namespace symbind {
namespace {

struct Phase1Attrs {
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-6f;
  int t = 0;
  bool bias_correction = true;
  float wd = 0, rescale_grad = 1, clip_gradient = -1;
  void describe(AttrVisitor& v) {
    v.field("beta1", beta1, "The share of the mean that is kept.").per_call();
    v.field("beta2", beta2, "The share of the mean square that is kept.").per_call();
    v.field("epsilon", epsilon, "Keeps the division finite.").per_call();
    v.field("t", t, "The number of this update, from 1.").required().per_call();
    v.field("bias_correction", bias_correction, "Whether to correct for the states' start at 0.")
        .per_call();
    v.field("wd", wd, "Weight decay.").required().per_call();
    v.field("rescale_grad", rescale_grad, "The gradient is multiplied by this first.").per_call();
    v.field("clip_gradient", clip_gradient,
            "The gradient is clipped to [-c, c]; negative: no clipping.")
        .per_call();
  }
};
struct Phase2Attrs {
  float lr = 0, lower_bound = -1, upper_bound = -1;
  void describe(AttrVisitor& v) {
    v.field("lr", lr, "Learning rate.").required().per_call();
    v.field("lower_bound", lower_bound, "The least norm of the weight; negative: none.").per_call();
    v.field("upper_bound", upper_bound, "The greatest norm of the weight; negative: none.")
        .per_call();
  }
};
struct MultiLambAttrs {
  FloatTuple learning_rates, wds;
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-6f;
  float rescale_grad = 1, lower_bound = -1, upper_bound = -1, clip_gradient = -1;
  bool bias_correction = true;
  Tuple step_count;
  int num_tensors = 1;
  void describe(AttrVisitor& v) {
    v.field("learning_rates", learning_rates, "Learning rates.").required().per_call();
    v.field("beta1", beta1, "The share of the mean that is kept.").per_call();
    v.field("beta2", beta2, "The share of the mean square that is kept.").per_call();
    v.field("epsilon", epsilon, "Keeps the division finite.").per_call();
    v.field("wds", wds, "Weight decays.").required().per_call();
    v.field("rescale_grad", rescale_grad, "The gradients are multiplied by this first.").per_call();
    v.field("lower_bound", lower_bound, "The least norm of a weight; negative: none.").per_call();
    v.field("upper_bound", upper_bound, "The greatest norm of a weight; negative: none.")
        .per_call();
    v.field("clip_gradient", clip_gradient,
            "The gradients are clipped to [-c, c]; negative: no clipping.")
        .per_call();
    v.field("bias_correction", bias_correction, "Whether to correct for the states' start at 0.")
        .per_call();
    v.field("step_count", step_count, "The number of this update of each weight, from 1.")
        .required()
        .per_call();
    v.field("num_tensors", num_tensors, "Number of weights.");
  }
};

// ---- The two phases -----------------------------------------------------------------------------

template <class C>
struct Phase1 {
  using Number = C;
  static constexpr int kStates = 2, kValues = 8;
  C beta1, beta2, epsilon, t, bias_correction, wd, rescale, clip;
  C rest1 = 1, rest2 = 1;  ///< 1 − βᵗ
  void begin() {
    if (bias_correction == C(0)) return;
    rest1 = static_cast<C>(1 - std::pow(static_cast<double>(beta1), static_cast<double>(t)));
    rest2 = static_cast<C>(1 - std::pow(static_cast<double>(beta2), static_cast<double>(t)));
  }
  C operator()(C w, C g, C* s) const {
    const C h = clipped(rescale * g, clip);
    s[0] = beta1 * s[0] + (C(1) - beta1) * h;
    s[1] = beta2 * s[1] + (C(1) - beta2) * h * h;
    return s[0] / rest1 / (std::sqrt(s[1] / rest2) + epsilon) + wd * w;
  }
};

/// lr·r₁/r₂ with r₁ in its bounds.
double scaled_rate(double lr, double lower, double upper, double r1, double r2) {
  if (lower >= 0) r1 = std::max(r1, lower);
  if (upper >= 0) r1 = std::min(r1, upper);
  return r1 == 0 || r2 == 0 ? lr : lr * r1 / r2;
}

/// w ← w − rate·u, with u where a gradient usually is.
template <class C>
struct Descend {
  using Number = C;
  static constexpr int kStates = 0, kValues = 1;
  C rate;
  C operator()(C w, C u, C*) const { return w - rate * u; }
};

// ---- Inference ----------------------------------------------------------------------------------

/// The direction is as precise as what it is computed from.
void infer_mp_phase1(const Phase1Attrs&, Inference& io) {
  io.all_same_shape();
  io.same_dtype(io.in(0), io.in(1));
  for (int i = 2; i < io.num_inputs(); ++i)
    io.set_dtype(io.in(i), DType::kFloat32, "the master copy is kept in float32");
  io.set_dtype(io.out(0), DType::kFloat32, "the direction is in float32");
}

template <bool mixed>
void infer_phase2(const Phase2Attrs&, Inference& io) {
  io.same_shape(io.in(0), io.in(1));
  io.same_shape(io.in(0), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  if (mixed) io.same_shape(io.in(0), io.in(4));
  for (const int r : {2, 3}) {
    if (io.rank(io.in(r)) != 0) io.set_shape(io.in(r), Shape{1}, "a norm is one number");
  }
  for (int i = 1; i < io.num_inputs(); ++i) {
    if (mixed)
      io.set_dtype(io.in(i), DType::kFloat32, "the master copy is kept in float32");
    else
      io.same_dtype(io.in(0), io.in(i));
  }
}

template <bool mixed>
void infer_multi(const MultiLambAttrs& a, Inference& io) {
  const auto n = static_cast<std::size_t>(a.num_tensors);
  check(a.learning_rates.size() == n && a.wds.size() == n && a.step_count.size() == n,
        "{} weights need as many learning_rates, wds and step_count; {}, {} and {} were given", n,
        a.learning_rates.size(), a.wds.size(), a.step_count.size());
  constexpr int group = mixed ? 5 : 4;
  for (int k = 0; k < a.num_tensors; ++k) {
    const int first = k * group;
    io.same_shape(io.in(first), io.out(k));
    io.same_dtype(io.in(first), io.out(k));
    io.same_dtype(io.in(0), io.in(first));
    for (int i = first + 1; i < first + group; ++i) {
      io.same_shape(io.in(first), io.in(i));
      if (mixed && i > first + 1)
        io.set_dtype(io.in(i), DType::kFloat32, "the master copy is kept in float32");
      else
        io.same_dtype(io.in(first), io.in(i));
    }
  }
}

// ---- Kernels ------------------------------------------------------------------------------------

Prepared prepare_mp_phase1(const Phase1Attrs&, const KernelRequest& q) {
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size()](const Args& a) {
      const UpdateArrays<T, float, 2, float> arrays{
          .kept = a.in<float>(4),
          .grad = a.in<T>(1),
          .state = {a.mutable_in<float>(2), a.mutable_in<float>(3)},
          .out = a.out<float>(0)};
      update<false>(rule_of<Phase1<float>>(a.values), n, arrays);
    };
  });
}

template <bool mixed>
Prepared prepare_phase2(const Phase2Attrs&, const KernelRequest& q) {
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    using W = std::conditional_t<mixed, float, T>;
    using C = Accumulator<W>;
    return [n = q.out[0].shape.size()](const Args& a) {
      const double rate =
          scaled_rate(a.values[0], a.values[1], a.values[2], static_cast<double>(a.in<W>(2)[0]),
                      static_cast<double>(a.in<W>(3)[0]));
      const UpdateArrays<W, W, 0, T> arrays{.kept = a.in<W>(mixed ? 4 : 0),
                                            .kept_out = mixed ? a.mutable_in<W>(4) : nullptr,
                                            .grad = a.in<W>(1),
                                            .out = a.out<T>(0)};
      update<mixed>(Descend<C>{static_cast<C>(rate)}, n, arrays);
    };
  });
}

/// Per-call attributes of _multi_lamb_update, in their order.
struct MultiValues {
  const double *lr, *beta, *wd, *rest, *t;
  MultiValues(const double* v, int n)
      : lr(v), beta(v + n), wd(v + n + 3), rest(v + 2 * n + 3), t(v + 2 * n + 8) {}
};

template <class T, bool mixed>
void multi_lamb(const Args& a, const std::vector<std::int64_t>& sizes) {
  using W = std::conditional_t<mixed, float, T>;
  using C = Accumulator<W>;
  constexpr int group = mixed ? 5 : 4;
  const int n = static_cast<int>(sizes.size());
  const MultiValues v(a.values, n);
  C* direction = static_cast<C*>(a.workspace);
  for (int k = 0; k < n; ++k) {
    const std::int64_t size = sizes[static_cast<std::size_t>(k)];
    const auto [kept, kept_out, grad, state, out] = arrays_at<mixed, T, W, 2>(a, k * group, k);
    // In the order of Phase1's members; rest: rescale, lower, upper, clip, bias_correction.
    const std::array<double, 8> first = {
        v.beta[0], v.beta[1], v.beta[2],
        v.t[k],    v.rest[4], static_cast<double>(static_cast<float>(v.wd[k])),
        v.rest[0], v.rest[3]};
    update<false>(
        rule_of<Phase1<C>>(first.data()), size,
        UpdateArrays<T, W, 2, C>{.kept = kept, .grad = grad, .state = state, .out = direction});
    const double r1 = std::sqrt(sum_squares(a.in<T>(k * group), size));
    const double r2 = std::sqrt(sum_squares(direction, size));
    const double lr = static_cast<double>(static_cast<float>(v.lr[k]));
    const double rate = scaled_rate(lr, v.rest[1], v.rest[2], r1, r2);
    update<mixed>(Descend<C>{static_cast<C>(rate)}, size,
                  UpdateArrays<C, W, 0, T>{
                      .kept = kept, .kept_out = kept_out, .grad = direction, .out = out});
  }
}

template <bool mixed>
Offer offer_multi(const MultiLambAttrs&, const KernelRequest& q) {
  std::int64_t largest = 0;
  for (const TensorDesc& out : q.out) largest = std::max(largest, out.shape.size());
  return accept_plain(q, static_cast<std::size_t>(largest) * sizeof(double));
}

template <bool mixed>
Prepared prepare_multi(const MultiLambAttrs&, const KernelRequest& q, const Offer&) {
  std::vector<std::int64_t> sizes;
  for (const TensorDesc& out : q.out) sizes.push_back(out.shape.size());
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [sizes](const Args& a) { multi_lamb<T, mixed>(a, sizes); };
  });
}

using Names = std::vector<std::string>;

}  // namespace

void register_lamb_update(OpRegistry& r) {
  r.add<Phase1Attrs>("lamb_update_phase1")
      .doc("The direction of a step of LAMB; writes mean and var.")
      .inputs(Names{"weight", "grad", "mean", "var"})
      .mutates({2, 3})
      .infer(infer_update)
      .inplace(0, 0)
      .cpu_kernel("native", prepare_update<Phase1Attrs, Phase1>);
  r.add<Phase2Attrs>("lamb_update_phase2")
      .doc("The step of LAMB along direction g; r1 and r2 are the norms of weight and g.")
      .inputs(Names{"weight", "g", "r1", "r2"})
      .infer(infer_phase2<false>)
      .inplace(0, 0)
      .cpu_kernel("native", prepare_phase2<false>);
  r.add<Phase1Attrs>("mp_lamb_update_phase1")
      .doc("lamb_update_phase1 on a float master copy; the direction is in float32.")
      .inputs(Names{"weight", "grad", "mean", "var", "weight32"})
      .mutates({2, 3})
      .infer(infer_mp_phase1)
      .cpu_kernel("native", prepare_mp_phase1);
  r.add<Phase2Attrs>("mp_lamb_update_phase2")
      .doc("lamb_update_phase2 on a float master copy; writes weight32.")
      .inputs(Names{"weight", "g", "r1", "r2", "weight32"})
      .mutates({4})
      .infer(infer_phase2<true>)
      .inplace(0, 0)
      .cpu_kernel("native", prepare_phase2<true>);
  r.add<MultiLambAttrs>("_multi_lamb_update")
      .doc("A step of LAMB on several weights; writes every mean and var.")
      .groups("num_tensors", &MultiLambAttrs::num_tensors, {"weight", "grad", "mean", "var"})
      .mutates({2, 3})
      .infer(infer_multi<false>)
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "native", offer_multi<false>, prepare_multi<false>);
  r.add<MultiLambAttrs>("_multi_mp_lamb_update")
      .doc("_multi_lamb_update on float master copies; writes every mean, var and weight32.")
      .groups("num_tensors", &MultiLambAttrs::num_tensors,
              {"weight", "grad", "mean", "var", "weight32"})
      .mutates({2, 3, 4})
      .infer(infer_multi<true>)
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "native", offer_multi<true>, prepare_multi<true>);
}

}  // namespace symbind
