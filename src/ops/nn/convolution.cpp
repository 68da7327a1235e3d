// Convolution over one, two or three spatial axes, in groups, with stride and dilation.
//
//   y[n,f,o] = b[f] + Σ_c Σ_k x[n, c, o·stride − pad + k·dilate] · w[f, c, k]
//   dx and dw are the same sum over the other two index sets; db[f] = Σ_n,o dy[n,f,o]
//
// Decided here: the gradient reads x and w, never y. Weights are bound arrays and therefore plain;
// kernels that need them packed pack them. `_fused_Convolution` has an epilogue; its gradient
// exists for a sum alone, which the passes fuse in training, too.
#include "ops/nn/convolution_attrs.h"

#include <algorithm>

#include "base/parallel.h"
#include "graph/core_ops.h"
#include "graph/flops.h"
#include "kernels/accumulate.h"
#include "kernels/convolution_kernels.h"
#include "kernels/convolution_reference.h"
#include "kernels/epilogue.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/nn/epilogue_attr.h"

namespace symbind {

namespace {

using Sizes = ConvolutionSizes;

// ---- Inference and gradient ---------------------------------------------------------------------

using FusedAttrs = WithEpilogue<ConvolutionAttrs>;

void infer_fused(const FusedAttrs& a, Inference& io) {
  infer_filter_shapes<infer_convolution, ConvolutionAttrs>(a, io);
  infer_operands(a.epilogue, io, a.no_bias ? 2 : 3, a.num_filter);
}

NodeEntries gradient(const ConvolutionAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_Convolution", {g.head(0), g.input(0), g.input(1)});
}

NodeEntries gradient_fused(const FusedAttrs& a, GradientBuilder& g) {
  check(a.epilogue == "sum", ErrorKind::kNotImplemented,
        "the epilogue '{}' has no gradient; only 'sum' has", a.epilogue);
  NodeEntries d =
      g.call_with_same_attrs("_backward_Convolution", {g.head(0), g.input(0), g.input(1)});
  d.push_back(g.head(0));
  return d;
}

// ---- The plain reference ------------------------------------------------------------------------

Prepared forward_reference(const ConvolutionAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = convolution_sizes(a, r.in[0].shape, r.out[0].shape), r,
            epilogue = parse_epilogue(a.epilogue)](const Args& args) {
      const T* bias = s.bias ? args.in<T>(2) : nullptr;
      T* y = args.out<T>(0);
      const std::int64_t grain = grain_of(s.out_plane_work()), plane = Sizes::product(s.out);
      parallel_for(s.batch * s.out_channels, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
          const std::int64_t channel = p % s.out_channels;
          forward_plane(s, p / s.out_channels, channel, args.in<T>(0), args.in<T>(1), bias, y);
          apply_by_definition(epilogue, r, args, s.bias ? 3 : 2, channel, y, p * plane,
                              (p + 1) * plane);
        }
      });
    };
  });
}

/// Without a pair of input and output that share memory: y is written before a sum is read.
Offer offer_reference(const ConvolutionAttrs&, const KernelRequest& r) {
  Offer offer = accept_plain(r);
  offer.inplace.emplace();
  return offer;
}

Prepared backward_reference(const ConvolutionAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = convolution_sizes(a, r.in[1].shape, r.in[0].shape)](const Args& args) {
      const T *dy = args.in<T>(0), *x = args.in<T>(1), *w = args.in<T>(2);
      if (args.wants(0))
        parallel_for(s.batch * s.in_channels, grain_of(s.in_plane_work()),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t p = begin; p < end; ++p)
                         backward_data_plane(s, p / s.in_channels, p % s.in_channels, dy, w,
                                             args.out<T>(0));
                     });
      if (args.wants(1))
        parallel_for(s.out_channels * s.group_in(), grain_of(s.tap_work()),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t p = begin; p < end; ++p)
                         backward_weight_taps(s, p / s.group_in(), p % s.group_in(), dy, x,
                                              args.out<T>(1));
                     });
      if (s.bias && args.wants(2)) bias_gradient(s, dy, args.out<T>(2));
    };
  });
}

// ---- By matrix products -------------------------------------------------------------------------

Offer offer_forward_blas(const ConvolutionAttrs& a, const KernelRequest& r) {
  const Sizes s = convolution_sizes(a, r.in[0].shape, r.out[0].shape);
  Offer offer = offer_blas(s, r);
  if (!offer.accepted()) return offer;
  offer.inplace.emplace();
  const Epilogue items = parse_epilogue(a.epilogue);
  if (!items.empty() && r.in[0].dtype != DType::kFloat32) return refuse("dtype is not float32");
  return offer;
}

Prepared forward_blas(const ConvolutionAttrs& a, const KernelRequest& r) {
  const Sizes s = convolution_sizes(a, r.in[0].shape, r.out[0].shape);
  if (a.epilogue.empty())
    return with_real(r.in[0].dtype, [&]<class T>() -> Prepared {
      return [s](const Args& args) {
        blas::convolution(s, args.in<T>(0), args.in<T>(1), s.bias ? args.in<T>(2) : nullptr,
                          args.out<T>(0), static_cast<T*>(args.workspace));
      };
    });
  // The epilogue is a separate pass: this kernel runs where oneDNN cannot.
  return [s, pass = EpiloguePass(parse_epilogue(a.epilogue), s.bias ? 3 : 2, r.out[0], r)](
             const Args& args) {
    float* y = args.out<float>(0);
    blas::convolution(s, args.in<float>(0), args.in<float>(1), s.bias ? args.in<float>(2) : nullptr,
                      y, static_cast<float*>(args.workspace));
    pass.run(args, y, 0);
  };
}

Prepared backward_blas(const ConvolutionAttrs& a, const KernelRequest& r) {
  return with_real(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = convolution_sizes(a, r.in[1].shape, r.in[0].shape)](const Args& args) {
      T* patches = static_cast<T*>(args.workspace);
      const T *dy = args.in<T>(0), *x = args.in<T>(1), *w = args.in<T>(2);
      if (args.wants(0)) blas::convolution_backward_data(s, dy, w, args.out<T>(0), patches);
      if (args.wants(1)) blas::convolution_backward_weights(s, dy, x, args.out<T>(1), patches);
      if (s.bias && args.wants(2)) bias_gradient(s, dy, args.out<T>(2));
    };
  });
}

Sizes sizes_forward(const ConvolutionAttrs& a, const KernelRequest& r) {
  return convolution_sizes(a, r.in[0].shape, r.out[0].shape);
}
Sizes sizes_backward(const ConvolutionAttrs& a, const KernelRequest& r) {
  return convolution_sizes(a, r.in[1].shape, r.in[0].shape);
}

template <class A>
void add_forward_kernels(OpBuilder<A>& op) {
  using R = KernelRequest;
  for (const ConvolutionKernel& k : convolution_kernels())
    op.kernel(
        DeviceType::kCpu, k.name,
        [=](const A& a, const R& q) {
          return k.offer(sizes_forward(a, q), parse_epilogue(a.epilogue), q);
        },
        [=](const A&, const R& q, const Offer& o) { return k.prepare(q, o); });
  op.kernel(
        DeviceType::kCpu, "blas", [](const A& a, const R& q) { return offer_forward_blas(a, q); },
        [](const A& a, const R& q, const Offer&) { return forward_blas(a, q); })
      .kernel(
          DeviceType::kCpu, "reference",
          [](const A& a, const R& q) { return offer_reference(a, q); },
          [](const A& a, const R& q, const Offer&) { return forward_reference(a, q); });
}

}  // namespace

void register_convolution(OpRegistry& r) {
  using A = ConvolutionAttrs;
  using R = KernelRequest;
  auto plain = r.add<A>("Convolution");
  plain.slices(Slices::kFirst);
  plain.precision(Precision::kFloat32);
  const auto flops = [](const A&, const Work& w) { return layer_flops(w); };
  plain.alias("Convolution_v1")
      .flops(flops)
      .doc("Convolution over one, two or three spatial axes.")
      .inputs(filter_names)
      .infer(infer_filter<infer_convolution, A>)
      .gradient(gradient)
      .with_epilogue(core_ops::kFusedConvolution);
  add_forward_kernels(plain);

  auto fused = r.add<FusedAttrs>(core_ops::kFusedConvolution);
  fused.precision(Precision::kFloat32);
  fused
      .flops(
          [](const FusedAttrs& a, const Work& w) { return fused_flops(a.epilogue, !a.no_bias, w); })
      .doc("Convolution with an epilogue.")
      .inputs([](const FusedAttrs& a) { return with_operands(filter_names(a), a.epilogue); })
      .infer(infer_fused)
      .gradient(gradient_fused)
      .takes_epilogue(takes_any_or_sum);
  add_forward_kernels(fused);

  auto backward = r.add<A>("_backward_Convolution");
  backward.precision(Precision::kFloat32);
  backward
      .flops([](const A&, const Work& w) {
        return layer_backward_flops(w, filter_flops(w.in[0].size(), w.in[2]));
      })
      .backward()
      .inputs({"dy", "data", "weight"})
      .outputs(filter_names, [](const A& a) { return a.no_bias ? 2 : 3; })
      .skips_unread()
      .infer(infer_filter_backward<infer_convolution, A>);
  for (const ConvolutionKernel& k : convolution_kernels())
    backward.kernel(
        DeviceType::kCpu, k.name,
        [=](const A& a, const R& q) { return k.offer_backward(sizes_backward(a, q), q); },
        [=](const A&, const R& q, const Offer& o) { return k.prepare_backward(q, o); });
  backward
      .kernel(
          DeviceType::kCpu, "blas",
          [](const A& a, const R& q) { return offer_blas(sizes_backward(a, q), q); },
          [](const A& a, const R& q, const Offer&) { return backward_blas(a, q); })
      .reference(backward_reference);
}

}  // namespace symbind
