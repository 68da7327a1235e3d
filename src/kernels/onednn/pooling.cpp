// Pooling through oneDNN.
//
// Decided here: the workspace of max pooling has the order of the output's layout, and backward
// must read it in the same order: so in training the layout of max pooling depends on the channels
// only (blocks of one vector if they divide into them). Everything else uses the layout of its
// input. oneDNN's average with padding divides by the whole window, so windows past the padded edge
// are refused.
#include "kernels/onednn/pooling.h"

#include "base/parallel.h"
#include "kernels/onednn/internal.h"

namespace symbind::onednn {

namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using Forward = dnnl::pooling_forward;
using Backward = dnnl::pooling_backward;
using Dims = dnnl::memory::dims;

double operations(const PoolingSizes& s) {
  return static_cast<double>(s.batch * s.channels * PoolingSizes::product(s.out)) *
         static_cast<double>(PoolingSizes::product(s.kernel));
}

std::string unfit(const PoolingSizes& s, const KernelRequest& r) {
  const bool in_bfloat16 = r.in[0].dtype == DType::kBFloat16 && r.compute_dtype == DType::kBFloat16;
  if (r.in[0].dtype != DType::kFloat32 && !in_bfloat16) return "dtype is not float32";
  if (s.kind == PoolKind::kSum || s.kind == PoolKind::kLp) return "oneDNN has max and avg only";
  if (s.batch == 0 || PoolingSizes::product(s.in) == 0) return "the data is empty";
  if (!windows_fit(s.kernel, s.stride, s.pad, s.pad_after)) return "the window is too wide";
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t past = (s.out[i] - 1) * s.stride[i] + s.kernel[i] - s.in[i] - s.pad[i];
    if (past >= s.kernel[i]) return "a window is outside the data";
    if (s.kind == PoolKind::kAverage && s.count_padding && past > s.pad_after[i])
      return "a window reaches past the padding";
  }
  return {};
}

struct Problem {
  explicit Problem(const PoolingSizes& s, DType type = DType::kFloat32) : dtype(type) {
    const auto tail = [&](const PoolingSizes::Axes& a) {
      return Dims(a.end() - s.spatial, a.end());
    };
    how = s.kind == PoolKind::kMax ? algorithm::pooling_max
          : s.count_padding        ? algorithm::pooling_avg_include_padding
                                   : algorithm::pooling_avg_exclude_padding;
    x = Shape{s.batch, s.channels};
    y = x;
    for (const auto d : tail(s.in)) x.push_back(d);
    for (const auto d : tail(s.out)) y.push_back(d);
    kernel = tail(s.kernel);
    stride = tail(s.stride);
    pad = tail(s.pad);
    for (std::size_t i = 0; i < pad.size(); ++i) {
      const int axis = static_cast<int>(i) + 2;
      pad_after.push_back((y[axis] - 1) * stride[i] + kernel[i] - x[axis] - pad[i]);
    }
  }
  MemoryDesc in(Layout layout) const { return describe(x, layout, dtype); }
  MemoryDesc out(Layout layout) const { return describe(y, layout, dtype); }
  Forward::primitive_desc forward(Layout layout, prop_kind kind) const {
    return {Forward::desc(kind, how, in(layout), out(layout), stride, kernel, pad, pad_after),
            user_scratchpad(), engine(), true};
  }
  Backward::primitive_desc backward(Layout layout) const {
    const auto hint = forward(layout, prop_kind::forward_training);
    if (!hint) return {};
    return {Backward::desc(how, in(layout), out(layout), stride, kernel, pad, pad_after),
            user_scratchpad(), engine(), hint, true};
  }

  DType dtype;
  algorithm how;
  Shape x, y;
  Dims kernel, stride, pad, pad_after;
};

struct Plan {
  Call call;
  bool max = false;
  bool saves = false;
};

}  // namespace

Offer offer_pooling(const PoolingSizes& s, const KernelRequest& r) {
  if (std::string reason = unfit(s, r); !reason.empty()) return refuse(std::move(reason));
  return guarded([&] {
    const VendorThreads threads(threads_for(operations(s)));
    const Problem p(s, r.in[0].dtype);
    auto plan = std::make_shared<Plan>();
    plan->max = s.kind == PoolKind::kMax;
    plan->saves = plan->max && r.wanted[1];
    const Layout layout = plan->saves ? widest_layout(p.x) : r.in[0].layout;
    const auto pd =
        p.forward(layout, plan->saves ? prop_kind::forward_training : prop_kind::forward_inference);
    if (!pd || (plan->saves && !p.backward(layout))) return refuse("oneDNN has no such pooling");
    Call::Arguments arguments{{DNNL_ARG_SRC, p.in(layout)}, {DNNL_ARG_DST, p.out(layout)}};
    if (plan->saves) arguments.emplace_back(DNNL_ARG_WORKSPACE, pd.workspace_desc());
    Carver carver;
    carver.take(pd.scratchpad_desc().get_size());
    plan->call = Call(Forward(pd), pd.scratchpad_desc(), std::move(arguments));
    Offer offer = accept_plain(r, carver.total());
    offer.in_layouts[0] = offer.out_layouts[0] = layout;
    if (plan->saves) offer.opaque_bytes[1] = pd.workspace_desc().get_size();
    offer.plan = std::move(plan);
    return offer;
  });
}

Prepared prepare_pooling(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    void *x = args.inputs[0].data, *y = args.outputs[0].data;
    if (plan->saves)
      plan->call({x, y, args.outputs[1].data}, args.workspace);
    else
      plan->call({x, y}, args.workspace);
  };
}

Offer offer_pooling_backward(const PoolingSizes& s, const KernelRequest& r) {
  if (std::string reason = unfit(s, r); !reason.empty()) return refuse(std::move(reason));
  return guarded([&] {
    const VendorThreads threads(threads_for(operations(s)));
    const Problem p(s);
    auto plan = std::make_shared<Plan>();
    plan->max = s.kind == PoolKind::kMax;
    // A single position fits every layout: use the one that convolutions prefer.
    const bool open = r.in[0].layout == Layout::kPlain && PoolingSizes::product(s.out) == 1;
    const Layout layout = plan->max || open ? widest_layout(p.x) : r.in[0].layout;
    const auto pd = p.backward(layout);
    if (!pd) return refuse("oneDNN has no gradient of this pooling");
    Call::Arguments arguments{{DNNL_ARG_DIFF_DST, describe(p.y, layout)},
                              {DNNL_ARG_DIFF_SRC, describe(p.x, layout)}};
    if (plan->max) arguments.emplace_back(DNNL_ARG_WORKSPACE, pd.workspace_desc());
    plan->call = Call(Backward(pd), pd.scratchpad_desc(), std::move(arguments));
    Carver carver;
    carver.take(pd.scratchpad_desc().get_size());
    Offer offer = accept_plain(r, carver.total());
    offer.in_layouts[0] = offer.out_layouts[0] = layout;
    offer.plan = std::move(plan);
    return offer;
  });
}

Prepared prepare_pooling_backward(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    void *dy = args.inputs[0].data, *dx = args.outputs[0].data;
    if (plan->max)
      plan->call({dy, dx, args.inputs[2].data}, args.workspace);
    else
      plan->call({dy, dx}, args.workspace);
  };
}

}  // namespace symbind::onednn
