// Convolution over one, two or three spatial axes, in groups, with stride and dilation.
//
//   y[n,f,o] = b[f] + Σ_c Σ_k x[n, c, o·stride − pad + k·dilate] · w[f, c, k]
//   dx and dw are the same sum over the other two index sets; db[f] = Σ_n,o dy[n,f,o]
//
// Decided here: the gradient reads x and w, never y. Weights are bound arrays and therefore plain;
// kernels that need them packed pack them. `_fused_Convolution_sum` adds one more tensor of the
// output's shape, in place where possible: the passes make it from a convolution and the sum after
// it.
#include "ops/nn/convolution_attrs.h"

#include <algorithm>

#include "base/parallel.h"
#include "graph/flops.h"
#include "kernels/accumulate.h"
#include "kernels/convolution_kernels.h"
#include "kernels/convolution_reference.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

using Sizes = ConvolutionSizes;

// ---- Inference and gradient ---------------------------------------------------------------------

void infer_with_sum(const ConvolutionAttrs& a, Inference& io) {
  infer_filter<infer_convolution>(a, io);
  io.same_shape(io.in(io.num_inputs() - 1), io.out(0));
}

NodeEntries gradient(const ConvolutionAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_Convolution", {g.head(0), g.input(0), g.input(1)});
}

NodeEntries gradient_with_sum(const ConvolutionAttrs&, GradientBuilder& g) {
  NodeEntries d =
      g.call_with_same_attrs("_backward_Convolution", {g.head(0), g.input(0), g.input(1)});
  d.push_back(g.head(0));
  return d;
}

// ---- The plain reference ------------------------------------------------------------------------

Prepared forward_reference(const ConvolutionAttrs& a, const KernelRequest& r, bool with_sum) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = convolution_sizes(a, r.in[0].shape, r.out[0].shape), with_sum](const Args& args) {
      const T* bias = s.bias ? args.in<T>(2) : nullptr;
      const T* sum = with_sum ? args.in<T>(s.bias ? 3 : 2) : nullptr;
      const std::int64_t grain = grain_of(s.out_plane_work());
      parallel_for(s.batch * s.out_channels, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p)
          forward_plane(s, p / s.out_channels, p % s.out_channels, args.in<T>(0), args.in<T>(1),
                        bias, sum, args.out<T>(0));
      });
    };
  });
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

Prepared forward_blas(const ConvolutionAttrs& a, const KernelRequest& r, bool with_sum) {
  return with_real(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = convolution_sizes(a, r.in[0].shape, r.out[0].shape), n = r.out[0].shape.size(),
            with_sum](const Args& args) {
      T* y = args.out<T>(0);
      // The sum may share the output's memory: the product is added to it.
      if (with_sum && args.inputs[s.bias ? 3 : 2].data != y)
        std::copy_n(args.in<T>(s.bias ? 3 : 2), n, y);
      blas::convolution(s, args.in<T>(0), args.in<T>(1), s.bias ? args.in<T>(2) : nullptr, y,
                        static_cast<T*>(args.workspace), with_sum);
    };
  });
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

void forward_kernels(OpBuilder<ConvolutionAttrs>& op, bool with_sum) {
  using A = ConvolutionAttrs;
  using R = KernelRequest;
  for (const ConvolutionKernel& k : convolution_kernels())
    op.kernel(
        DeviceType::kCpu, k.name,
        [=](const A& a, const R& q) { return k.offer(sizes_forward(a, q), with_sum, q); },
        [=](const A&, const R& q, const Offer& o) { return k.prepare(q, o); });
  op.kernel(
        DeviceType::kCpu, "blas",
        [](const A& a, const R& q) { return offer_blas(sizes_forward(a, q), q); },
        [=](const A& a, const R& q, const Offer&) { return forward_blas(a, q, with_sum); })
      .kernel(DeviceType::kCpu, "reference", nullptr, [=](const A& a, const R& q, const Offer&) {
        return forward_reference(a, q, with_sum);
      });
}

}  // namespace

void register_convolution(OpRegistry& r) {
  using A = ConvolutionAttrs;
  using R = KernelRequest;
  auto plain = r.add<A>("Convolution");
  const auto flops = [](const A&, const Work& w) { return layer_flops(w); };
  plain.alias("Convolution_v1")
      .flops(flops)
      .doc("Convolution over one, two or three spatial axes.")
      .inputs(filter_names)
      .infer(infer_filter<infer_convolution, A>)
      .gradient(gradient);
  forward_kernels(plain, false);

  auto fused = r.add<A>("_fused_Convolution_sum");
  fused.flops(flops)
      .doc("Convolution plus a tensor of the output's shape.")
      .inputs([](const A& a) {
        auto all = filter_names(a);
        all.push_back("sum_data");
        return all;
      })
      .infer(infer_with_sum)
      .gradient(gradient_with_sum)
      .inplace(-1, 0);  // sum_data, after the bias if there is one
  forward_kernels(fused, true);

  auto backward = r.add<A>("_backward_Convolution");
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
