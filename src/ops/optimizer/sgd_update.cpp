// Stochastic gradient descent, one weight at a time.
//
//   sgd_update       w ← (1 − lr·wd)·w − lr·clip(rescale·g)
//   sgd_mom_update   m ← momentum·m − lr·wd·w − lr·clip(rescale·g),  w ← w + m
//   mp_…             the same on weight32, the master copy in float; w becomes weight32 rounded
//
// Decided here: clip_gradient < 0 switches clipping off, 0 clips everything to 0; 16-bit floats are
// computed in float. The learning rate and its kin are per-call attributes; `lazy_update` concerns
// sparse gradients and has no effect on dense ones.
#include <algorithm>
#include <type_traits>

#include <symbind/operator.h>

#include "base/build.h"
#include "base/parallel.h"
#include "kernels/cuda/launch.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/optimizer/sgd_update_cuda.h"

namespace symbind {
namespace {

struct SgdAttrs {
  float lr = 0;
  float wd = 0;
  float rescale_grad = 1;
  float clip_gradient = -1;
  bool lazy_update = true;
  void describe(AttrVisitor& v) {
    v.field("lr", lr, "Learning rate.").required().per_call();
    describe_rest(v);
  }
  void describe_rest(AttrVisitor& v) {
    v.field("wd", wd, "Weight decay: lr·wd of the weight is taken away.").per_call();
    v.field("rescale_grad", rescale_grad, "The gradient is multiplied by this first.").per_call();
    v.field("clip_gradient", clip_gradient,
            "The gradient is cut to [-c, c] after rescaling; negative: not.")
        .per_call();
    v.field("lazy_update", lazy_update, "For sparse gradients; without effect.");
  }
};

struct SgdMomAttrs : SgdAttrs {
  float momentum = 0;
  void describe(AttrVisitor& v) {
    v.field("lr", lr, "Learning rate.").required().per_call();
    v.field("momentum", momentum, "The share of the last step that is kept.").per_call();
    describe_rest(v);
  }
};

template <class A>
void infer_same(const A&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

/// weight, grad and output in one type; the state in float.
template <class A, int state>
void infer_mixed(const A&, Inference& io) {
  io.all_same_shape();
  io.same_dtype(io.in(0), io.in(1));
  io.same_dtype(io.in(0), io.out(0));
  for (int i = state; i < io.num_inputs(); ++i)
    io.set_dtype(io.in(i), DType::kFloat32, "the master copy is kept in float32");
}

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class C>
struct Rates {
  C lr, wd, rescale, clip;
  Rates(double lr_, const double* rest)
      : lr(static_cast<C>(lr_)),
        wd(static_cast<C>(rest[0])),
        rescale(static_cast<C>(rest[1])),
        clip(static_cast<C>(rest[2])) {}
  C gradient(C g) const {
    const C scaled = rescale * g;
    return clip >= C(0) ? std::clamp(scaled, -clip, clip) : scaled;
  }
};

constexpr std::int64_t kGrain = 16384;

/// W is the type the weight is kept in: T, or float beside a 16-bit copy.
template <class T, class W>
void sgd(const Args& a, std::int64_t n, const W* master, W* master_out) {
  using C = Wide<W>;
  const Rates<C> rate(a.values[0], a.values + 1);
  const C keep = C(1) - rate.lr * rate.wd;
  const T* g = a.in<T>(1);
  T* y = a.out<T>(0);
  parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) {
      const C w = keep * static_cast<C>(master[i]) - rate.lr * rate.gradient(static_cast<C>(g[i]));
      if (master_out) master_out[i] = static_cast<W>(w);
      y[i] = static_cast<T>(w);
    }
  });
}

template <class T, class W>
void sgd_mom(const Args& a, std::int64_t n, const W* master, W* master_out, W* mom) {
  using C = Wide<W>;
  const Rates<C> rate(a.values[0], a.values + 2);
  const C momentum = static_cast<C>(a.values[1]);
  const T* g = a.in<T>(1);
  T* y = a.out<T>(0);
  parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) {
      const C w = static_cast<C>(master[i]);
      const C m = momentum * static_cast<C>(mom[i]) - rate.lr * rate.wd * w -
                  rate.lr * rate.gradient(static_cast<C>(g[i]));
      mom[i] = static_cast<W>(m);
      if (master_out) master_out[i] = static_cast<W>(w + m);
      y[i] = static_cast<T>(w + m);
    }
  });
}

Prepared prepare_sgd(const SgdAttrs&, const KernelRequest& q) {
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size()](const Args& a) { sgd<T, T>(a, n, a.in<T>(0), nullptr); };
  });
}
Prepared prepare_sgd_mom(const SgdMomAttrs&, const KernelRequest& q) {
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size()](const Args& a) {
      sgd_mom<T, T>(a, n, a.in<T>(0), nullptr, a.mutable_in<T>(2));
    };
  });
}
Prepared prepare_mp_sgd(const SgdAttrs&, const KernelRequest& q) {
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size()](const Args& a) {
      sgd<T, float>(a, n, a.in<float>(2), a.mutable_in<float>(2));
    };
  });
}
Prepared prepare_mp_sgd_mom(const SgdMomAttrs&, const KernelRequest& q) {
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size()](const Args& a) {
      sgd_mom<T, float>(a, n, a.in<float>(3), a.mutable_in<float>(3), a.mutable_in<float>(2));
    };
  });
}

using Names = std::vector<std::string>;

constexpr auto kOfferCuda = [](const auto&, const KernelRequest& q) {
  return cuda::offer_floats(q);
};

}  // namespace

void register_sgd_update(OpRegistry& r) {
  r.add<SgdAttrs>("sgd_update")
      .doc("One step of gradient descent; give the weight as out.")
      .inputs(Names{"weight", "grad"})
      .infer(infer_same)
      .inplace(0, 0)
      .reference(prepare_sgd)
      .kernel_if<kCuda>(DeviceType::kGpu, "cuda", kOfferCuda,
                        [](const SgdAttrs&, const KernelRequest& q, const Offer&) -> Prepared {
                          return [number = cuda::number_of(q.in[0].dtype),
                                  n = q.out[0].shape.size()](const Args& a) {
                            cuda::check_launch(
                                cuda::sgd(a.run->stream, number, a.device_values, a.inputs[0].data,
                                          a.inputs[1].data, a.outputs[0].data, n),
                                "sgd_update");
                          };
                        });
  r.add<SgdMomAttrs>("sgd_mom_update")
      .doc("One step of gradient descent with momentum; writes mom; give the weight as out.")
      .inputs(Names{"weight", "grad", "mom"})
      .mutates({2})
      .infer(infer_same)
      .inplace(0, 0)
      .reference(prepare_sgd_mom)
      .kernel_if<kCuda>(
          DeviceType::kGpu, "cuda", kOfferCuda,
          [](const SgdMomAttrs&, const KernelRequest& q, const Offer&) -> Prepared {
            return [number = cuda::number_of(q.in[0].dtype),
                    n = q.out[0].shape.size()](const Args& a) {
              cuda::check_launch(
                  cuda::sgd_mom(a.run->stream, number, a.device_values, a.inputs[0].data,
                                a.inputs[1].data, a.inputs[2].data, a.outputs[0].data, n),
                  "sgd_mom_update");
            };
          });
  r.add<SgdAttrs>("mp_sgd_update")
      .doc("sgd_update on a float master copy; writes weight32.")
      .inputs(Names{"weight", "grad", "weight32"})
      .mutates({2})
      .infer(infer_mixed<SgdAttrs, 2>)
      .inplace(0, 0)
      .reference(prepare_mp_sgd);
  r.add<SgdMomAttrs>("mp_sgd_mom_update")
      .doc("sgd_mom_update on a float master copy; writes mom and weight32.")
      .inputs(Names{"weight", "grad", "mom", "weight32"})
      .mutates({2, 3})
      .infer(infer_mixed<SgdMomAttrs, 2>)
      .inplace(0, 0)
      .reference(prepare_mp_sgd_mom);
}

}  // namespace symbind
