// The other updates of one weight: w and g in, the new weight out, the states overwritten.
//
// Below, g' = clip(rescale·g), h = clip(rescale·g + wd·w): some clip before the weight decay is
// added, some after it, as published.
//
//   adam_update         m ← β₁m + (1−β₁)h,  v ← β₂v + (1−β₂)h²,  w ← w − lr·m / (√v + ε)
//   nag_mom_update      w ← w + μ²m − (1+μ)lr·(g' + wd·w),  m ← μm − lr·(g' + wd·w)
//   rmsprop_update      n ← (1−γ₁)h² + γ₁n,  w ← clip(w − lr·h / √(n + ε))
//   rmspropalex_update  n as above, g̅ ← (1−γ₁)h + γ₁g̅,
//                       δ ← γ₂δ − lr·h / √(n − g̅² + ε),  w ← clip(w + δ)
//   ftml_update         v ← β₂v + (1−β₂)h²,  D = (1−β₁ᵗ)/lr · (√(v / (1−β₂ᵗ)) + ε),
//                       z ← β₁z + (1−β₁)h − (D − β₁d)w,  d ← D,  w ← −z / D
//   ftrl_update         z ← z + g' − (√(n + g'²) − √n)·w / lr,  n ← n + g'²,
//                       w ← (sign(z)λ₁ − z) / ((β + √n)/lr + wd) where |z| > λ₁, else 0
//   signsgd_update      w ← (1 − lr·wd)w − lr·sign(g)
//   signum_update       m ← μm − (1−μ)(wd·w + g'),  w ← (1 − lr·wd_lh)w + lr·sign(m)
//
// Decided here: nag_mom_update's momentum uses the decay of what `weight` holds after the update,
// as in MXNet: in place, as optimizers call it, the new weight; if out is another array, the old
// one. mp_nag_mom_update always writes its master copy and therefore uses the new one. Powers of β
// are computed in double.
#include <cmath>

#include <symbind/operator.h>

#include "ops/optimizer/update_loop.h"

namespace symbind {
namespace {

// ---- Attributes ---------------------------------------------------------------------------------

void describe_lr(AttrVisitor& v, float& lr) {
  v.field("lr", lr, "Learning rate.").required().per_call();
}
AttrField& number(AttrVisitor& v, const char* name, float& value, const char* doc) {
  return v.field(name, value, doc).per_call();
}

struct Decay {
  float wd = 0;
  float rescale_grad = 1;
  float clip_gradient = -1;
  void describe_decay(AttrVisitor& v, const char* clip = "clip_gradient") {
    number(v, "wd", wd, "Weight decay.");
    number(v, "rescale_grad", rescale_grad, "The gradient is multiplied by this first.");
    number(v, clip, clip_gradient, "The gradient is clipped to [-c, c]; negative: no clipping.");
  }
};
struct AdamAttrs : Decay {
  float lr = 0, beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
  bool lazy_update = true;
  void describe(AttrVisitor& v) {
    describe_lr(v, lr);
    number(v, "beta1", beta1, "The share of the mean that is kept.");
    number(v, "beta2", beta2, "The share of the mean square that is kept.");
    number(v, "epsilon", epsilon, "Keeps the division finite.");
    describe_decay(v);
    v.field("lazy_update", lazy_update, "For sparse gradients; without effect.");
  }
};
struct NagAttrs : Decay {
  float lr = 0, momentum = 0;
  void describe(AttrVisitor& v) {
    describe_lr(v, lr);
    number(v, "momentum", momentum, "The share of the last step that is kept.");
    describe_decay(v);
  }
};
struct SignSgdAttrs : Decay {
  float lr = 0;
  void describe(AttrVisitor& v) {
    describe_lr(v, lr);
    describe_decay(v);
  }
};
struct SignumAttrs : NagAttrs {
  float wd_lh = 0;
  void describe(AttrVisitor& v) {
    NagAttrs::describe(v);
    number(v, "wd_lh", wd_lh, "Weight decay that is not part of the momentum.");
  }
};
struct RmsPropAttrs : Decay {
  float lr = 0, gamma1 = 0.95f, epsilon = 1e-8f, clip_weights = -1;
  void describe(AttrVisitor& v) {
    describe_lr(v, lr);
    number(v, "gamma1", gamma1, "The share of the mean square that is kept.");
    describe_rest(v);
  }
  void describe_rest(AttrVisitor& v) {
    number(v, "epsilon", epsilon, "Keeps the division finite.");
    describe_decay(v);
    number(v, "clip_weights", clip_weights,
           "The weight is clipped to [-c, c]; negative: no clipping.");
  }
};
struct RmsPropAlexAttrs : RmsPropAttrs {
  float gamma2 = 0.9f;
  void describe(AttrVisitor& v) {
    describe_lr(v, lr);
    number(v, "gamma1", gamma1, "The share of the mean square that is kept.");
    number(v, "gamma2", gamma2, "The share of the last step that is kept.");
    describe_rest(v);
  }
};
struct FtmlAttrs : Decay {
  float lr = 0, beta1 = 0.6f, beta2 = 0.999f;
  double epsilon = 9.9999999392252903e-09;  // 1e-8 in float
  int t = 0;
  void describe(AttrVisitor& v) {
    describe_lr(v, lr);
    number(v, "beta1", beta1, "The share of z that is kept.");
    number(v, "beta2", beta2, "The share of the mean square that is kept.");
    v.field("epsilon", epsilon, "Keeps the division finite.").per_call();
    v.field("t", t, "The number of this update, from 1.").required().per_call();
    describe_decay(v, "clip_grad");
  }
};
struct FtrlAttrs : Decay {
  float lr = 0, lamda1 = 0.01f, beta = 1;
  void describe(AttrVisitor& v) {
    describe_lr(v, lr);
    number(v, "lamda1", lamda1, "Weights whose z is smaller become 0.");
    number(v, "beta", beta, "Makes the first steps smaller.");
    describe_decay(v);
  }
};

// ---- Rules: kernels/update_rules-inl.h ----------------------------------------------------------

using update_rules::Adam, update_rules::Ftml, update_rules::Ftrl, update_rules::Nag,
    update_rules::NagApart, update_rules::RmsProp, update_rules::RmsPropAlex, update_rules::SignSgd,
    update_rules::Signum;

Prepared prepare_nag(const NagAttrs& attrs, const KernelRequest& q) {
  return [in_place = prepare_update<NagAttrs, Nag>(attrs, q),
          apart = prepare_update<NagAttrs, NagApart>(attrs, q)](const Args& a) {
    (a.outputs[0].data == a.inputs[0].data ? in_place : apart)(a);
  };
}

/// An operator with the inputs weight, grad and these states.
template <class A>
void add_update(OpRegistry& r, const char* name, const std::vector<std::string>& states,
                double flops, const char* doc,
                Prepared (*prepare)(const A&, const KernelRequest&)) {
  std::vector<std::string> inputs = {"weight", "grad"};
  std::vector<int> written;
  for (const std::string& state : states) {
    written.push_back(static_cast<int>(inputs.size()));
    inputs.push_back(state);
  }
  r.add<A>(name)
      .flops(flops)
      .doc(doc)
      .inputs(inputs)
      .mutates(written)
      .infer(infer_update)
      .inplace(0, 0)
      .cpu_kernel("native", prepare);
}

}  // namespace

void register_update(OpRegistry& r) {
  add_update<AdamAttrs>(r, "adam_update", {"mean", "var"}, 14,
                        "One step of Adam; writes mean and var; give the weight as out.",
                        prepare_update<AdamAttrs, Adam>);
  add_update<NagAttrs>(r, "nag_mom_update", {"mom"}, 8,
                       "One step of Nesterov's accelerated gradient; writes mom.", prepare_nag);
  r.add<NagAttrs>("mp_nag_mom_update")
      .doc("nag_mom_update on a float master copy; writes mom and weight32.")
      .inputs(std::vector<std::string>{"weight", "grad", "mom", "weight32"})
      .mutates({2, 3})
      .infer(infer_mixed_update)
      .inplace(0, 0)
      .cpu_kernel("native", prepare_update<NagAttrs, Nag, true>);
  add_update<RmsPropAttrs>(r, "rmsprop_update", {"n"}, 10,
                           "One step of RMSProp (Tieleman and Hinton); writes n.",
                           prepare_update<RmsPropAttrs, RmsProp>);
  add_update<RmsPropAlexAttrs>(r, "rmspropalex_update", {"n", "g", "delta"}, 17,
                               "One step of RMSProp (Graves); writes n, g and delta.",
                               prepare_update<RmsPropAlexAttrs, RmsPropAlex>);
  add_update<FtmlAttrs>(r, "ftml_update", {"d", "v", "z"}, 22,
                        "One step of FTML; writes d, v and z.", prepare_update<FtmlAttrs, Ftml>);
  add_update<FtrlAttrs>(r, "ftrl_update", {"z", "n"}, 18,
                        "One step of FTRL-proximal; writes z and n.",
                        prepare_update<FtrlAttrs, Ftrl>);
  add_update<SignSgdAttrs>(r, "signsgd_update", {}, 6, "One step against the gradient's sign.",
                           prepare_update<SignSgdAttrs, SignSgd>);
  add_update<SignumAttrs>(r, "signum_update", {"mom"}, 10,
                          "One step along the momentum's sign; writes mom.",
                          prepare_update<SignumAttrs, Signum>);
}

}  // namespace symbind
