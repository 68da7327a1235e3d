// Stochastic gradient descent, one weight at a time.
//
//   sgd_update       w ← (1 − lr·wd)·w − lr·clip(rescale·g)
//   sgd_mom_update   m ← momentum·m − lr·wd·w − lr·clip(rescale·g),  w ← w + m
//   mp_…             the same on weight32, the master copy in float; w becomes weight32 rounded
//
// Decided here: clip_gradient < 0 switches clipping off, 0 clips everything to 0; 16-bit floats are
// computed in float. The learning rate and similar numbers are per-call attributes; `lazy_update`
// concerns sparse gradients and has no effect on dense ones.
#include <symbind/operator.h>

#include "base/build.h"
#include "kernels/cuda/launch.h"
#include "ops/optimizer/sgd_update_cuda.h"
#include "ops/optimizer/update_loop.h"

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
    v.field("wd", wd, "Weight decay: lr·wd of the weight is subtracted.").per_call();
    v.field("rescale_grad", rescale_grad, "The gradient is multiplied by this first.").per_call();
    v.field("clip_gradient", clip_gradient,
            "The gradient is clipped to [-c, c] after rescaling; negative: no clipping.")
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

using Names = std::vector<std::string>;

constexpr auto kOfferCuda = [](const auto&, const KernelRequest& q) {
  return cuda::offer_floats(q);
};

}  // namespace

void register_sgd_update(OpRegistry& r) {
  r.add<SgdAttrs>("sgd_update")
      .flops(4)
      .doc("One step of gradient descent; give the weight as out.")
      .inputs(Names{"weight", "grad"})
      .infer(infer_update)
      .inplace(0, 0)
      .cpu_kernel("native", prepare_update<SgdAttrs, SgdRule>)
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
      .flops(6)
      .doc("One step of gradient descent with momentum; writes mom; give the weight as out.")
      .inputs(Names{"weight", "grad", "mom"})
      .mutates({2})
      .infer(infer_update)
      .inplace(0, 0)
      .cpu_kernel("native", prepare_update<SgdMomAttrs, SgdMomRule>)
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
      .infer(infer_mixed_update)
      .inplace(0, 0)
      .cpu_kernel("native", prepare_update<SgdAttrs, SgdRule, true>);
  r.add<SgdMomAttrs>("mp_sgd_mom_update")
      .doc("sgd_mom_update on a float master copy; writes mom and weight32.")
      .inputs(Names{"weight", "grad", "mom", "weight32"})
      .mutates({2, 3})
      .infer(infer_mixed_update)
      .inplace(0, 0)
      .cpu_kernel("native", prepare_update<SgdMomAttrs, SgdMomRule, true>);
}

}  // namespace symbind
