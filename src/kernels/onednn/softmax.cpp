// Softmax and its logarithm through oneDNN: its exponential is vectorised, that of the plain loop
// is not.
//
// Decided here: rows of fewer than 8 classes and arrays of fewer than 1024 elements use the plain
// loop, because the call would cost more than it saves.
#include "kernels/onednn/softmax.h"

#include "base/parallel.h"
#include "kernels/onednn/internal.h"

namespace symbind::onednn {

namespace {

struct Plan {
  Call call;
};

std::string unfit(const SoftmaxSizes& s, const KernelRequest& r) {
  for (const TensorDesc& t : r.in)
    if (t.dtype != DType::kFloat32) return "dtype is not float32";
  if (r.out[0].dtype != DType::kFloat32) return "dtype is not float32";
  if (s.classes < 8 || s.rows * s.classes < 1024) return "too few elements";
  return {};
}

template <class Forward>
typename Forward::primitive_desc forward_desc(const MemoryDesc& x) {
  return {typename Forward::desc(dnnl::prop_kind::forward_training, x, 1), user_scratchpad(),
          engine()};
}

template <class Forward>
Offer offer_forward(const SoftmaxSizes& s, const KernelRequest& r) {
  return guarded([&] {
    const VendorThreads threads(threads_for(8.0 * static_cast<double>(s.rows * s.classes)));
    const MemoryDesc x = describe(Shape{s.rows, s.classes});
    const auto pd = forward_desc<Forward>(x);
    auto plan = std::make_shared<Plan>();
    plan->call = Call(Forward(pd), pd.scratchpad_desc(), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, x}});
    Offer offer = accept_plain(r, pd.scratchpad_desc().get_size());
    offer.plan = std::move(plan);
    return offer;
  });
}

template <class Forward, class Backward>
Offer offer_backward(const SoftmaxSizes& s, const KernelRequest& r) {
  return guarded([&] {
    const VendorThreads threads(threads_for(8.0 * static_cast<double>(s.rows * s.classes)));
    const MemoryDesc x = describe(Shape{s.rows, s.classes});
    const typename Backward::primitive_desc pd(typename Backward::desc(x, x, 1), user_scratchpad(),
                                               engine(), forward_desc<Forward>(x));
    auto plan = std::make_shared<Plan>();
    plan->call = Call(Backward(pd), pd.scratchpad_desc(),
                      {{DNNL_ARG_DIFF_DST, x}, {DNNL_ARG_DST, x}, {DNNL_ARG_DIFF_SRC, x}});
    Offer offer = accept_plain(r, pd.scratchpad_desc().get_size());
    offer.plan = std::move(plan);
    return offer;
  });
}

}  // namespace

Offer offer_softmax(const SoftmaxSizes& s, const KernelRequest& r) {
  if (std::string reason = unfit(s, r); !reason.empty()) return refuse(std::move(reason));
  return s.logarithm ? offer_forward<dnnl::logsoftmax_forward>(s, r)
                     : offer_forward<dnnl::softmax_forward>(s, r);
}

Prepared prepare_softmax(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    plan->call({args.inputs[0].data, args.outputs[0].data}, args.workspace);
  };
}

Offer offer_softmax_backward(const SoftmaxSizes& s, const KernelRequest& r) {
  if (std::string reason = unfit(s, r); !reason.empty()) return refuse(std::move(reason));
  return s.logarithm ? offer_backward<dnnl::logsoftmax_forward, dnnl::logsoftmax_backward>(s, r)
                     : offer_backward<dnnl::softmax_forward, dnnl::softmax_backward>(s, r);
}

Prepared prepare_softmax_backward(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    plan->call({args.inputs[0].data, args.inputs[1].data, args.outputs[0].data}, args.workspace);
  };
}

}  // namespace symbind::onednn
