// Gradient descent on several weights in one call: sgd_update and its variants for every group of
// inputs (weight, grad, mom, weight32: those that the operator has).
//
// multi_… take the learning rates and weight decays as tuples, preloaded_multi_… as two arrays
// after the last group, so that they can be computed on the device (LARS). All weights have one
// type; the rates are float32 numbers, as in the update of one weight.
#include "ops/optimizer/update_loop.h"

#include "base/check.h"

namespace symbind {
namespace {

struct CountAttrs {
  float momentum = 0;
  float rescale_grad = 1;
  float clip_gradient = -1;
  int num_weights = 1;
  void describe_rest(AttrVisitor& v, bool mom) {
    if (mom) v.field("momentum", momentum, "The share of the last step that is kept.").per_call();
    v.field("rescale_grad", rescale_grad, "The gradients are multiplied by this first.").per_call();
    v.field("clip_gradient", clip_gradient,
            "The gradients are clipped to [-c, c] after rescaling; negative: no clipping.")
        .per_call();
    v.field("num_weights", num_weights, "Number of weights.");
  }
};
template <bool mom>
struct PreloadedAttrs : CountAttrs {
  static constexpr bool kPreloaded = true;
  void describe(AttrVisitor& v) { describe_rest(v, mom); }
};
template <bool mom>
struct MultiAttrs : CountAttrs {
  static constexpr bool kPreloaded = false;
  FloatTuple lrs, wds;
  void describe(AttrVisitor& v) {
    v.field("lrs", lrs, "Learning rates.").required().per_call();
    v.field("wds", wds, "Weight decays.").required().per_call();
    describe_rest(v, mom);
  }
};

template <class A>
void check_rates(const A& a) {
  if constexpr (!A::kPreloaded) {
    const auto n = static_cast<std::size_t>(a.num_weights);
    check(a.lrs.size() == n && a.wds.size() == n,
          "{} weights need as many learning rates and weight decays; {} and {} were given", n,
          a.lrs.size(), a.wds.size());
  }
}

template <bool mom, bool mixed>
constexpr int kGroup = 2 + (mom ? 1 : 0) + (mixed ? 1 : 0);

template <class A, bool mom, bool mixed>
void infer(const A& a, Inference& io) {
  check_rates(a);
  constexpr int group = kGroup<mom, mixed>;
  for (int k = 0; k < a.num_weights; ++k) {
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
  for (int i = a.num_weights * group; i < io.num_inputs(); ++i) {
    io.set_shape(io.in(i), Shape{a.num_weights}, "one rate for each weight");
    io.set_dtype(io.in(i), DType::kFloat32, "rates are in float32");
  }
}

/// The rates of weight k, from attributes or arrays.
template <class A>
std::pair<float, float> rates(const Args& a, int k, int n, int inputs) {
  if constexpr (A::kPreloaded)
    return {a.in<float>(inputs - 2)[k], a.in<float>(inputs - 1)[k]};
  else
    return {static_cast<float>(a.values[k]), static_cast<float>(a.values[n + k])};
}

template <class A, bool mom, bool mixed>
Prepared prepare(const A& attrs, const KernelRequest& q) {
  constexpr int group = kGroup<mom, mixed>;
  std::vector<std::int64_t> sizes;
  for (const TensorDesc& out : q.out) sizes.push_back(out.shape.size());
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    using W = std::conditional_t<mixed, float, T>;
    using C = Accumulator<W>;
    return [sizes, n = attrs.num_weights, inputs = static_cast<int>(q.in.size())](const Args& a) {
      const double* rest = a.values + (A::kPreloaded ? 0 : 2 * n);
      const auto number = [&](int i) { return static_cast<C>(rest[i]); };
      for (int k = 0; k < n; ++k) {
        const auto [lr, wd] = rates<A>(a, k, n, inputs);
        const auto arrays = arrays_at < mixed, T, W, mom ? 1 : 0 > (a, k * group, k);
        const std::int64_t size = sizes[static_cast<std::size_t>(k)];
        if constexpr (mom)
          update<mixed>(SgdMomRule<C>{lr, number(0), wd, number(1), number(2)}, size, arrays);
        else
          update<mixed>(SgdRule<C>{lr, wd, number(0), number(1)}, size, arrays);
      }
    };
  });
}

template <class A, bool mom, bool mixed>
void add(OpRegistry& r, const char* name, const char* doc) {
  std::vector<std::string> names = {"weight", "grad"}, rates;
  std::vector<int> written;
  if (mom) names.push_back("mom");
  if (mixed) names.push_back("weight32");
  for (int i = 2; i < static_cast<int>(names.size()); ++i) written.push_back(i);
  if (A::kPreloaded) rates = {"lrs", "wds"};
  int CountAttrs::*count = &CountAttrs::num_weights;
  r.add<A>(name)
      .doc(doc)
      .groups("num_weights", count, names, rates)
      .mutates(written)
      .infer(infer<A, mom, mixed>)
      .inplace(0, 0)
      .cpu_kernel("native", prepare<A, mom, mixed>);
}

}  // namespace

void register_multi_sgd_update(OpRegistry& r) {
  add<MultiAttrs<false>, false, false>(r, "multi_sgd_update", "sgd_update on several weights.");
  add<MultiAttrs<true>, true, false>(r, "multi_sgd_mom_update",
                                     "sgd_mom_update on several weights; writes every mom.");
  add<MultiAttrs<false>, false, true>(r, "multi_mp_sgd_update",
                                      "mp_sgd_update on several weights; writes every weight32.");
  add<MultiAttrs<true>, true, true>(
      r, "multi_mp_sgd_mom_update",
      "mp_sgd_mom_update on several weights; writes every mom and weight32.");
  add<PreloadedAttrs<false>, false, false>(r, "preloaded_multi_sgd_update",
                                           "sgd_update on several weights, the rates in arrays.");
  add<PreloadedAttrs<true>, true, false>(
      r, "preloaded_multi_sgd_mom_update",
      "sgd_mom_update on several weights, the rates in arrays; writes every mom.");
  add<PreloadedAttrs<false>, false, true>(
      r, "preloaded_multi_mp_sgd_update",
      "mp_sgd_update on several weights, the rates in arrays; writes every weight32.");
  add<PreloadedAttrs<true>, true, true>(
      r, "preloaded_multi_mp_sgd_mom_update",
      "mp_sgd_mom_update on several weights, the rates in arrays; writes every mom and weight32.");
}

}  // namespace symbind
