// Activation functions through oneDNN.
//
// Decided here: relu is left to the plain loop, which is as fast as memory and keeps NaN. oneDNN
// has no softsign, and no gradient of softrelu from its output. elu and leaky with a negative slope
// are not supported, because the output does not show the sign of the input. Below 256 elements the
// call costs more than it saves.
#include "kernels/onednn/eltwise.h"

#include "base/parallel.h"
#include "kernels/onednn/internal.h"

namespace symbind::onednn {

namespace {

using dnnl::algorithm;
using Forward = dnnl::eltwise_forward;
using Backward = dnnl::eltwise_backward;

struct Plan {
  Call call;
};

std::optional<algorithm> function_of(const std::string& name, bool backward, float slope) {
  if (name == "sigmoid") return algorithm::eltwise_logistic_use_dst_for_bwd;
  if (name == "tanh") return algorithm::eltwise_tanh_use_dst_for_bwd;
  if (name == "softrelu" && !backward) return algorithm::eltwise_soft_relu;
  if (name == "leaky" && slope > 0) return algorithm::eltwise_relu_use_dst_for_bwd;
  if (name == "elu" && slope >= 0) return algorithm::eltwise_elu_use_dst_for_bwd;
  if (name == "gelu") return algorithm::eltwise_gelu_erf;
  return std::nullopt;
}

std::string unfit(const std::string& name, bool backward, float slope, const KernelRequest& r) {
  if (!function_of(name, backward, slope)) return "the plain loop computes " + name;
  if (r.in[0].dtype != DType::kFloat32) return "dtype is not float32";
  if (r.in[0].shape.size() < 256) return "too few elements";
  return {};
}

Forward::primitive_desc forward_desc(algorithm how, const MemoryDesc& x, float slope) {
  return {Forward::desc(dnnl::prop_kind::forward_training, how, x, slope, 0.f), user_scratchpad(),
          engine()};
}

}  // namespace

Offer offer_eltwise(const std::string& name, const KernelRequest& r, float slope) {
  if (std::string reason = unfit(name, false, slope, r); !reason.empty())
    return refuse(std::move(reason));
  return guarded([&] {
    const VendorThreads threads(threads_for(8.0 * static_cast<double>(r.in[0].shape.size())));
    // No layout pads, so the elements are one flat array.
    const MemoryDesc x = describe(Shape{r.in[0].shape.size()});
    const auto pd = forward_desc(*function_of(name, false, slope), x, slope);
    auto plan = std::make_shared<Plan>();
    plan->call = Call(Forward(pd), pd.scratchpad_desc(), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, x}});
    Offer offer = accept_same_layout(r);
    offer.workspace_bytes = pd.scratchpad_desc().get_size();
    offer.plan = std::move(plan);
    return offer;
  });
}

Prepared prepare_eltwise(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    plan->call({args.inputs[0].data, args.outputs[0].data}, args.workspace);
  };
}

Offer offer_eltwise_backward(const std::string& name, const KernelRequest& r, float slope) {
  if (std::string reason = unfit(name, true, slope, r); !reason.empty())
    return refuse(std::move(reason));
  return guarded([&] {
    const VendorThreads threads(threads_for(8.0 * static_cast<double>(r.in[0].shape.size())));
    const MemoryDesc x = describe(Shape{r.in[0].shape.size()});
    const algorithm how = *function_of(name, true, slope);
    const int saved = how == algorithm::eltwise_gelu_erf ? DNNL_ARG_SRC : DNNL_ARG_DST;
    const Backward::primitive_desc pd(Backward::desc(how, x, x, slope, 0.f), user_scratchpad(),
                                      engine(), forward_desc(how, x, slope));
    auto plan = std::make_shared<Plan>();
    plan->call = Call(Backward(pd), pd.scratchpad_desc(),
                      {{DNNL_ARG_DIFF_DST, x}, {saved, x}, {DNNL_ARG_DIFF_SRC, x}});
    Offer offer = accept_same_layout(r);
    offer.workspace_bytes = pd.scratchpad_desc().get_size();
    offer.plan = std::move(plan);
    return offer;
  });
}

Prepared prepare_eltwise_backward(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    plan->call({args.inputs[0].data, args.inputs[1].data, args.outputs[0].data}, args.workspace);
  };
}

}  // namespace symbind::onednn
