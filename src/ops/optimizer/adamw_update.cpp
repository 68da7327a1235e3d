// AdamW: Adam with decoupled weight decay, on one weight or several.
//
//   g' = clip(rescale·g),  m ← β₁m + (1−β₁)g',  v ← β₂v + (1−β₂)g'²,
//   w ← w − η·(lr·m / (√v + ε) + wd·w)
//
// rescale_grad is an array of one number, the last input, from a loss scaler. If it is 0, NaN or
// infinity, the states are unchanged and the output is the weight. mp_…: on weight32, the master
// copy. Decided here: the gradient is unchanged; MXNet's _adamw_update leaves it rescaled.
#include <cmath>

#include "base/check.h"
#include "ops/optimizer/update_loop.h"

namespace symbind {
namespace {

AttrField& number(AttrVisitor& v, const char* name, float& value, const char* doc) {
  return v.field(name, value, doc).per_call();
}

struct Betas {
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, clip_gradient = -1;
  void describe_betas(AttrVisitor& v) {
    number(v, "beta1", beta1, "The share of the mean that is kept.");
    number(v, "beta2", beta2, "The share of the mean square that is kept.");
    number(v, "epsilon", epsilon, "Keeps the division finite.");
  }
  void describe_clip(AttrVisitor& v) {
    number(v, "clip_gradient", clip_gradient,
           "The gradient is clipped to [-c, c]; negative: no clipping.");
  }
};
struct AdamWAttrs : Betas {
  float lr = 0, wd = 0, eta = 0;
  void describe(AttrVisitor& v) {
    number(v, "lr", lr, "Learning rate.").required();
    describe_betas(v);
    number(v, "wd", wd, "Weight decay.");
    number(v, "eta", eta, "The schedule's factor of the whole step.").required();
    describe_clip(v);
  }
};
struct MultiAdamWAttrs : Betas {
  FloatTuple lrs, wds, etas;
  int num_weights = 1;
  void describe(AttrVisitor& v) {
    v.field("lrs", lrs, "Learning rates.").required().per_call();
    describe_betas(v);
    v.field("wds", wds, "Weight decays.").required().per_call();
    v.field("etas", etas, "The schedule's factors of the whole steps.").required().per_call();
    describe_clip(v);
    v.field("num_weights", num_weights, "Number of weights.");
  }
};

using update_rules::AdamW;

template <bool mixed>
constexpr int kGroup = mixed ? 5 : 4;

template <bool mixed>
void infer_groups(Inference& io, int count) {
  for (int k = 0; k < count; ++k) {
    const int first = k * kGroup<mixed>;
    io.same_shape(io.in(first), io.out(k));
    io.same_dtype(io.in(first), io.out(k));
    io.same_dtype(io.in(0), io.in(first));
    for (int i = first + 1; i < first + kGroup<mixed>; ++i) {
      io.same_shape(io.in(first), io.in(i));
      if (mixed && i > first + 1)
        io.set_dtype(io.in(i), DType::kFloat32, "the master copy is kept in float32");
      else
        io.same_dtype(io.in(first), io.in(i));
    }
  }
  const Inference::Ref scale = io.in(io.num_inputs() - 1);
  if (io.rank(scale) != 0) io.set_shape(scale, Shape{1}, "rescale_grad is one number");
  io.set_dtype(scale, DType::kFloat32, "rescale_grad is in float32");
}
template <bool mixed>
void infer_one(const AdamWAttrs&, Inference& io) {
  infer_groups<mixed>(io, 1);
}
template <bool mixed>
void infer_many(const MultiAdamWAttrs& a, Inference& io) {
  const auto n = static_cast<std::size_t>(a.num_weights);
  check(a.lrs.size() == n && a.wds.size() == n && a.etas.size() == n,
        "{} weights need as many lrs, wds and etas; {}, {} and {} were given", n, a.lrs.size(),
        a.wds.size(), a.etas.size());
  infer_groups<mixed>(io, a.num_weights);
}

/// The values of weight k: lr, β₁, β₂, ε, wd, η, clip. For several weights the order is lrs, β₁,
/// β₂, ε, wds, etas, clip.
template <class C>
AdamW<C> rule(const double* v, int k, int n, float rescale) {
  const auto rounded = [](double x) { return static_cast<C>(static_cast<float>(x)); };
  return {rounded(v[k]),         rounded(v[n]),
          rounded(v[n + 1]),     rounded(v[n + 2]),
          rounded(v[n + 3 + k]), rounded(v[2 * n + 3 + k]),
          rounded(v[3 * n + 3]), rescale};
}

template <class A, bool mixed>
Prepared prepare(const A&, const KernelRequest& q) {
  std::vector<std::int64_t> sizes;
  for (const TensorDesc& out : q.out) sizes.push_back(out.shape.size());
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    using W = std::conditional_t<mixed, float, T>;
    return [sizes](const Args& a) {
      const int n = static_cast<int>(sizes.size());
      const float rescale = a.in<float>(n * kGroup<mixed>)[0];
      for (int k = 0; k < n; ++k) {
        const std::int64_t size = sizes[static_cast<std::size_t>(k)];
        const int first = k * kGroup<mixed>;
        if (!std::isfinite(rescale) || rescale == 0)
          std::copy_n(a.in<T>(first), size, a.out<T>(k));
        else
          update<mixed>(rule<Accumulator<W>>(a.values, k, n, rescale), size,
                        arrays_at<mixed, T, W, 2>(a, first, k));
      }
    };
  });
}

template <bool mixed>
void add(OpRegistry& r, const char* one, const char* many) {
  std::vector<std::string> names = {"weight", "grad", "mean", "var"};
  if (mixed) names.push_back("weight32");
  const std::vector<int> written = mixed ? std::vector{2, 3, 4} : std::vector{2, 3};
  r.add<MultiAdamWAttrs>(many)
      .doc(std::string(one) + " on several weights; writes every state.")
      .groups("num_weights", &MultiAdamWAttrs::num_weights, names, {"rescale_grad"})
      .mutates(written)
      .infer(infer_many<mixed>)
      .inplace(0, 0)
      .cpu_kernel("native", prepare<MultiAdamWAttrs, mixed>);
  names.push_back("rescale_grad");
  r.add<AdamWAttrs>(one)
      .doc("One step of AdamW; writes the states; give the weight as out.")
      .inputs(names)
      .mutates(written)
      .infer(infer_one<mixed>)
      .inplace(0, 0)
      .cpu_kernel("native", prepare<AdamWAttrs, mixed>);
}

}  // namespace

void register_adamw_update(OpRegistry& r) {
  add<false>(r, "_adamw_update", "_multi_adamw_update");
  add<true>(r, "_mp_adamw_update", "_multi_mp_adamw_update");
}

}  // namespace symbind
