// Deconvolution: the transpose of a convolution.
//
//   y[n,f,i] = b[f] + Σ x[n, c, o] · w[c, f, k]   over all o, k with o·stride − pad + k·dilate = i
//
// So y is the data gradient of a convolution from y's shape to x's, dx is that convolution of dy,
// and dw its weight gradient. Decided here: all kernels are Convolution's, used that way; only the
// bias is added and summed here, in the output's layout.
#include "graph/flops.h"
#include "kernels/accumulate.h"
#include "ops/nn/deconvolution_attrs.h"

#include <algorithm>
#include <array>

#include "base/parallel.h"
#include "kernels/convolution_kernels.h"
#include "kernels/convolution_reference.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

using Sizes = ConvolutionSizes;

// ---- Inference and gradient ---------------------------------------------------------------------

NodeEntries gradient(const DeconvolutionAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_Deconvolution", {g.head(0), g.input(0), g.input(1)});
}

Sizes sizes_forward(const DeconvolutionAttrs& a, const KernelRequest& r) {
  return transposed_sizes(a, r.in[0].shape, r.out[0].shape);
}
Sizes sizes_backward(const DeconvolutionAttrs& a, const KernelRequest& r) {
  return transposed_sizes(a, r.in[1].shape, r.in[0].shape);
}

// ---- The bias -----------------------------------------------------------------------------------

/// The output in any layout as (outer, blocks, inner, lanes): channel blocks · lanes + lane.
struct ChannelBlocks {
  std::int64_t batch, blocks, inner, lanes;
  ChannelBlocks(const Shape& y, Layout layout)
      : batch(y[0]), blocks(y[1]), inner(y.count(2)), lanes(1) {
    if (layout == Layout::kBlocked8) lanes = 8;
    if (layout == Layout::kBlocked16) lanes = 16;
    if (layout == Layout::kChannelsLast) lanes = y[1];
    blocks /= std::max<std::int64_t>(lanes, 1);
  }

  template <class T>
  void add(const T* bias, T* y) const {
    using Acc = Accumulator<T>;
    const std::int64_t grain = grain_of(inner * lanes);
    parallel_for(batch * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) {
        const T* b = bias + p % blocks * lanes;
        T* to = y + p * inner * lanes;
        for (std::int64_t i = 0; i < inner; ++i)
          for (std::int64_t k = 0; k < lanes; ++k)
            to[i * lanes + k] =
                static_cast<T>(static_cast<Acc>(to[i * lanes + k]) + static_cast<Acc>(b[k]));
      }
    });
  }

  template <class T>
  void sum(const T* dy, T* db) const {
    const std::int64_t grain = grain_of(batch * inner);
    parallel_for(blocks * lanes, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        double total = 0;
        for (std::int64_t n = 0; n < batch; ++n) {
          const T* from = dy + (n * blocks + c / lanes) * inner * lanes + c % lanes;
          for (std::int64_t i = 0; i < inner; ++i) total += static_cast<double>(from[i * lanes]);
        }
        db[c] = static_cast<T>(static_cast<Accumulator<T>>(total));
      }
    });
  }
};

// ---- The plain reference ------------------------------------------------------------------------

Prepared forward_reference(const DeconvolutionAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = sizes_forward(a, r), bias = ChannelBlocks(r.out[0].shape, Layout::kPlain),
            with_bias = !a.no_bias](const Args& args) {
      const std::int64_t grain = grain_of(s.in_plane_work());
      parallel_for(s.batch * s.in_channels, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p)
          backward_data_plane(s, p / s.in_channels, p % s.in_channels, args.in<T>(0), args.in<T>(1),
                              args.out<T>(0));
      });
      if (with_bias) bias.add(args.in<T>(2), args.out<T>(0));
    };
  });
}

Prepared backward_reference(const DeconvolutionAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = sizes_backward(a, r), bias = ChannelBlocks(r.in[0].shape, Layout::kPlain),
            with_bias = !a.no_bias](const Args& args) {
      const T *dy = args.in<T>(0), *x = args.in<T>(1), *w = args.in<T>(2);
      const T* none = nullptr;
      if (args.wants(0))
        parallel_for(s.batch * s.out_channels, grain_of(s.out_plane_work()),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t p = begin; p < end; ++p)
                         forward_plane(s, p / s.out_channels, p % s.out_channels, dy, w, none,
                                       args.out<T>(0));
                     });
      if (args.wants(1))
        parallel_for(s.out_channels * s.group_in(), grain_of(s.tap_work()),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t p = begin; p < end; ++p)
                         backward_weight_taps(s, p / s.group_in(), p % s.group_in(), x, dy,
                                              args.out<T>(1));
                     });
      if (with_bias && args.wants(2)) bias.sum(dy, args.out<T>(2));
    };
  });
}

// ---- By matrix products -------------------------------------------------------------------------

Prepared forward_blas(const DeconvolutionAttrs& a, const KernelRequest& r) {
  return with_real(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = sizes_forward(a, r), bias = ChannelBlocks(r.out[0].shape, Layout::kPlain),
            with_bias = !a.no_bias](const Args& args) {
      blas::convolution_backward_data(s, args.in<T>(0), args.in<T>(1), args.out<T>(0),
                                      static_cast<T*>(args.workspace));
      if (with_bias) bias.add(args.in<T>(2), args.out<T>(0));
    };
  });
}

Prepared backward_blas(const DeconvolutionAttrs& a, const KernelRequest& r) {
  return with_real(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = sizes_backward(a, r), bias = ChannelBlocks(r.in[0].shape, Layout::kPlain),
            with_bias = !a.no_bias](const Args& args) {
      T* patches = static_cast<T*>(args.workspace);
      const T *dy = args.in<T>(0), *x = args.in<T>(1), *w = args.in<T>(2), *none = nullptr;
      if (args.wants(0)) blas::convolution(s, dy, w, none, args.out<T>(0), patches);
      if (args.wants(1)) blas::convolution_backward_weights(s, x, dy, args.out<T>(1), patches);
      if (with_bias && args.wants(2)) bias.sum(dy, args.out<T>(2));
    };
  });
}

// ---- By a convolution's kernel ------------------------------------------------------------------

/// Of _backward_Convolution: dy is our x, x has the shape of our y, and one gradient is needed.
KernelRequest as_convolution_backward(const KernelRequest& r, const TensorDesc& x,
                                      const TensorDesc& w, const TensorDesc& y, bool data) {
  KernelRequest q = r;
  q.in = {x, y, w};
  q.out = {y, w};
  q.wanted = {data, !data};
  q.constant = {};
  q.stored = {};
  q.compute_dtype = DType::kFloat32;
  return q;
}
KernelRequest as_convolution(const KernelRequest& r) {
  KernelRequest q = r;
  q.in = {r.in[0], r.in[2]};
  q.out = {r.out[0]};
  q.wanted = {true};
  q.constant = {};
  q.stored = {};
  q.compute_dtype = DType::kFloat32;
  return q;
}

Offer offer_forward(const ConvolutionKernel& kernel, const DeconvolutionAttrs& a,
                    const KernelRequest& r) {
  const Offer inner = kernel.offer_backward(
      sizes_forward(a, r), as_convolution_backward(r, r.in[0], r.in[1], r.out[0], true));
  if (!inner.accepted()) return inner;
  Offer offer = accept_plain(r, inner.workspace_bytes);
  offer.in_layouts[0] = inner.in_layouts[0];
  offer.out_layouts[0] = inner.out_layouts[0];
  offer.plan = inner.plan;
  return offer;
}

Prepared forward_by(const ConvolutionKernel& kernel, const DeconvolutionAttrs& a,
                    const KernelRequest& r, const Offer& o) {
  return [run = kernel.prepare_backward(
              as_convolution_backward(r, r.in[0], r.in[1], r.out[0], true), o),
          bias = ChannelBlocks(r.out[0].shape, o.out_layouts[0]),
          with_bias = !a.no_bias](const Args& args) {
    const std::array<TensorArg, 3> in{args.inputs[0], TensorArg{}, args.inputs[1]};
    const std::array<TensorArg, 2> out{args.outputs[0], TensorArg{}};
    Args inner = args;
    inner.inputs = in.data();
    inner.outputs = out.data();
    run(inner);
    if (with_bias) bias.add(args.in<float>(2), args.out<float>(0));
  };
}

/// Both halves of the gradient; the layouts of dy, x and dx are common to them.
struct BackwardPlan {
  Offer data, weights;
};

Offer offer_backward(const ConvolutionKernel& kernel, const DeconvolutionAttrs& a,
                     const KernelRequest& r) {
  if (!r.wanted[0] && !r.wanted[1]) return refuse("only the bias has a gradient");
  const Sizes s = sizes_backward(a, r);
  auto plan = std::make_shared<BackwardPlan>();
  Layout dy = Layout::kPlain, x = Layout::kPlain;
  if (r.wanted[0]) {
    plan->data = kernel.offer(s, {}, as_convolution(r));
    if (!plan->data.accepted()) return plan->data;
    dy = plan->data.in_layouts[0];
    x = plan->data.out_layouts[0];
  }
  if (r.wanted[1]) {
    plan->weights =
        kernel.offer_backward(s, as_convolution_backward(r, r.in[1], r.in[2], r.in[0], false));
    if (!plan->weights.accepted()) return plan->weights;
    if (r.wanted[0] && (plan->weights.in_layouts[0] != x || plan->weights.in_layouts[1] != dy))
      return refuse("the two gradients need different layouts");
    x = plan->weights.in_layouts[0];
    dy = plan->weights.in_layouts[1];
  }
  Offer offer =
      accept_plain(r, std::max(plan->data.workspace_bytes, plan->weights.workspace_bytes));
  offer.in_layouts[0] = dy;
  offer.in_layouts[1] = x;
  offer.out_layouts[0] = x;
  offer.plan = std::move(plan);
  return offer;
}

Prepared backward_by(const ConvolutionKernel& kernel, const DeconvolutionAttrs& a,
                     const KernelRequest& r, const Offer& o) {
  const auto plan = std::static_pointer_cast<const BackwardPlan>(o.plan);
  Prepared data, weights;
  if (r.wanted[0]) data = kernel.prepare(as_convolution(r), plan->data);
  if (r.wanted[1])
    weights = kernel.prepare_backward(as_convolution_backward(r, r.in[1], r.in[2], r.in[0], false),
                                      plan->weights);
  return [data, weights, bias = ChannelBlocks(r.in[0].shape, o.in_layouts[0]),
          with_bias = !a.no_bias](const Args& args) {
    Args inner = args;
    if (data) {
      const std::array<TensorArg, 2> in{args.inputs[0], args.inputs[2]};
      inner.inputs = in.data();
      data(inner);
    }
    if (weights) {
      const std::array<TensorArg, 3> in{args.inputs[1], args.inputs[0], args.inputs[2]};
      const std::array<TensorArg, 2> out{TensorArg{}, args.outputs[1]};
      inner.inputs = in.data();
      inner.outputs = out.data();
      weights(inner);
    }
    if (with_bias && args.wants(2)) bias.sum(args.in<float>(0), args.out<float>(2));
  };
}

}  // namespace

void register_deconvolution(OpRegistry& r) {
  using A = DeconvolutionAttrs;
  using R = KernelRequest;
  auto forward = r.add<A>("Deconvolution");
  forward.precision(Precision::kFloat32);
  forward
      .flops([](const A& a, const Work& w) {
        return filter_flops(w.in[0].size(), w.in[1]) + (a.no_bias ? 0 : w.out[0].size());
      })
      .doc("The transpose of a convolution over one, two or three spatial axes.")
      .inputs(filter_names)
      .infer(infer_filter<infer_deconvolution, A>)
      .gradient(gradient);
  for (const ConvolutionKernel& k : convolution_kernels())
    forward.kernel(
        DeviceType::kCpu, k.name, [=](const A& a, const R& q) { return offer_forward(k, a, q); },
        [=](const A& a, const R& q, const Offer& o) { return forward_by(k, a, q, o); });
  forward
      .kernel(
          DeviceType::kCpu, "blas",
          [](const A& a, const R& q) { return offer_blas(sizes_forward(a, q), q); },
          [](const A& a, const R& q, const Offer&) { return forward_blas(a, q); })
      .reference(forward_reference);
  auto backward = r.add<A>("_backward_Deconvolution");
  backward.precision(Precision::kFloat32);
  backward
      .flops([](const A&, const Work& w) {
        return layer_backward_flops(w, filter_flops(w.in[1].size(), w.in[2]));
      })
      .backward()
      .inputs({"dy", "data", "weight"})
      .outputs(filter_names, [](const A& a) { return a.no_bias ? 2 : 3; })
      .skips_unread()
      .infer(infer_filter_backward<infer_deconvolution, A>);
  for (const ConvolutionKernel& k : convolution_kernels())
    backward.kernel(
        DeviceType::kCpu, k.name, [=](const A& a, const R& q) { return offer_backward(k, a, q); },
        [=](const A& a, const R& q, const Offer& o) { return backward_by(k, a, q, o); });
  backward
      .kernel(
          DeviceType::kCpu, "blas",
          [](const A& a, const R& q) { return offer_blas(sizes_backward(a, q), q); },
          [](const A& a, const R& q, const Offer&) { return backward_blas(a, q); })
      .reference(backward_reference);
}

}  // namespace symbind
