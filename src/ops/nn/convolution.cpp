// Convolution over one, two or three spatial axes, in groups, with stride and dilation.
//
//   y[n,f,o] = b[f] + Σ_c Σ_k x[n, c, o·stride − pad + k·dilate] · w[f, c, k]
//   dx and dw are the same sum read the other two ways; db[f] = Σ_n,o dy[n,f,o]
//
// Decided here: the gradient reads x and w, never y. Weights are bound arrays and therefore plain;
// who wants them packed packs them. `_fused_Convolution_sum` adds one more tensor of the output's
// shape, in place where it can: the passes make it of a convolution and the sum behind it.
#include "ops/nn/convolution_attrs.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/blas/convolution.h"
#include "kernels/onednn/convolution.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

using Sizes = ConvolutionSizes;

// ---- Inference and gradient ---------------------------------------------------------------------

void infer(const ConvolutionAttrs& a, Inference& io) {
  io.all_same_dtype();
  infer_convolution(a, io, io.in(0), io.in(1), io.out(0));
  if (!a.no_bias) io.set_shape(io.in(2), Shape{a.num_filter}, "one bias per filter");
}

void infer_with_sum(const ConvolutionAttrs& a, Inference& io) {
  infer(a, io);
  io.same_shape(io.in(io.num_inputs() - 1), io.out(0));
}

// Inputs: dy, x, w. Outputs: dx, dw and, with a bias, db.
void infer_backward(const ConvolutionAttrs& a, Inference& io) {
  io.all_same_dtype();
  infer_convolution(a, io, io.in(1), io.in(2), io.in(0));
  io.same_shape(io.in(1), io.out(0));
  io.same_shape(io.in(2), io.out(1));
  if (!a.no_bias) io.set_shape(io.out(2), Shape{a.num_filter});
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

/// Calls f(kernel tap, input position) for every tap of output position `o` inside the image.
template <class F>
void each_tap(const Sizes& s, std::int64_t o, F&& f) {
  const std::int64_t ox = o % s.out[2], oy = o / s.out[2] % s.out[1], oz = o / s.out[2] / s.out[1];
  std::int64_t tap = 0;
  for (std::int64_t kz = 0; kz < s.kernel[0]; ++kz) {
    const std::int64_t iz = oz * s.stride[0] - s.pad[0] + kz * s.dilate[0];
    for (std::int64_t ky = 0; ky < s.kernel[1]; ++ky) {
      const std::int64_t iy = oy * s.stride[1] - s.pad[1] + ky * s.dilate[1];
      for (std::int64_t kx = 0; kx < s.kernel[2]; ++kx, ++tap) {
        const std::int64_t ix = ox * s.stride[2] - s.pad[2] + kx * s.dilate[2];
        if (iz >= 0 && iz < s.in[0] && iy >= 0 && iy < s.in[1] && ix >= 0 && ix < s.in[2])
          f(tap, (iz * s.in[1] + iy) * s.in[2] + ix);
      }
    }
  }
}

/// Calls f(kernel tap, output position) for every output that input position `i` reaches.
template <class F>
void each_reached(const Sizes& s, std::int64_t i, F&& f) {
  const Sizes::Axes at = {i / s.in[2] / s.in[1], i / s.in[2] % s.in[1], i % s.in[2]};
  const auto output = [&](std::size_t axis, std::int64_t k) {
    const std::int64_t from = at[axis] + s.pad[axis] - k * s.dilate[axis];
    const bool hit = from >= 0 && from % s.stride[axis] == 0 && from / s.stride[axis] < s.out[axis];
    return hit ? from / s.stride[axis] : -1;
  };
  std::int64_t tap = 0;
  for (std::int64_t kz = 0; kz < s.kernel[0]; ++kz)
    for (std::int64_t ky = 0; ky < s.kernel[1]; ++ky)
      for (std::int64_t kx = 0; kx < s.kernel[2]; ++kx, ++tap) {
        const std::int64_t oz = output(0, kz), oy = output(1, ky), ox = output(2, kx);
        if (oz >= 0 && oy >= 0 && ox >= 0) f(tap, (oz * s.out[1] + oy) * s.out[2] + ox);
      }
}

template <class T>
void forward_plane(const Sizes& s, std::int64_t n, std::int64_t f, const T* x, const T* w,
                   const T* bias, const T* sum, T* y) {
  using Acc = Accumulator<T>;
  const std::int64_t in = Sizes::product(s.in), out = Sizes::product(s.out),
                     taps = Sizes::product(s.kernel);
  const T* first = x + (n * s.in_channels + f / s.group_out() * s.group_in()) * in;
  const T* filter = w + f * s.group_in() * taps;
  const std::int64_t at = (n * s.out_channels + f) * out;
  for (std::int64_t o = 0; o < out; ++o) {
    Acc total = bias ? static_cast<Acc>(bias[f]) : Acc(0);
    each_tap(s, o, [&](std::int64_t tap, std::int64_t i) {
      for (std::int64_t c = 0; c < s.group_in(); ++c)
        total += static_cast<Acc>(first[c * in + i]) * static_cast<Acc>(filter[c * taps + tap]);
    });
    if (sum) total += static_cast<Acc>(sum[at + o]);
    y[at + o] = static_cast<T>(total);
  }
}

Prepared forward_reference(const ConvolutionAttrs& a, const KernelRequest& r, bool with_sum) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = convolution_sizes(a, r.in[0].shape, r.out[0].shape), with_sum](const Args& args) {
      const T* bias = s.bias ? args.in<T>(2) : nullptr;
      const T* sum = with_sum ? args.in<T>(s.bias ? 3 : 2) : nullptr;
      parallel_for(s.batch * s.out_channels, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p)
          forward_plane(s, p / s.out_channels, p % s.out_channels, args.in<T>(0), args.in<T>(1),
                        bias, sum, args.out<T>(0));
      });
    };
  });
}

template <class T>
void backward_data_plane(const Sizes& s, std::int64_t n, std::int64_t c, const T* dy, const T* w,
                         T* dx) {
  using Acc = Accumulator<T>;
  const std::int64_t in = Sizes::product(s.in), out = Sizes::product(s.out),
                     taps = Sizes::product(s.kernel);
  const std::int64_t first = c / s.group_in() * s.group_out();
  for (std::int64_t i = 0; i < in; ++i) {
    Acc total = 0;
    each_reached(s, i, [&](std::int64_t tap, std::int64_t o) {
      for (std::int64_t f = first; f < first + s.group_out(); ++f)
        total += static_cast<Acc>(dy[(n * s.out_channels + f) * out + o]) *
                 static_cast<Acc>(w[(f * s.group_in() + c % s.group_in()) * taps + tap]);
    });
    dx[(n * s.in_channels + c) * in + i] = static_cast<T>(total);
  }
}

/// dw of filter f and channel c of its group; in double, for it sums over the whole batch.
template <class T>
void backward_weight_taps(const Sizes& s, std::int64_t f, std::int64_t c, const T* dy, const T* x,
                          T* dw) {
  const std::int64_t in = Sizes::product(s.in), out = Sizes::product(s.out),
                     taps = Sizes::product(s.kernel);
  std::vector<double> total(static_cast<std::size_t>(taps), 0);
  const std::int64_t channel = f / s.group_out() * s.group_in() + c;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t o = 0; o < out; ++o) {
      const double d = static_cast<double>(dy[(n * s.out_channels + f) * out + o]);
      each_tap(s, o, [&](std::int64_t tap, std::int64_t i) {
        total[static_cast<std::size_t>(tap)] +=
            d * static_cast<double>(x[(n * s.in_channels + channel) * in + i]);
      });
    }
  for (std::int64_t t = 0; t < taps; ++t)
    dw[(f * s.group_in() + c) * taps + t] =
        static_cast<T>(static_cast<Accumulator<T>>(total[static_cast<std::size_t>(t)]));
}

template <class T>
void bias_gradient(const Sizes& s, const T* dy, T* db) {
  const std::int64_t out = Sizes::product(s.out);
  parallel_for(s.out_channels, std::max<std::int64_t>(1, kElementGrain / (s.batch * out + 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t f = begin; f < end; ++f) {
                   double total = 0;
                   for (std::int64_t n = 0; n < s.batch; ++n)
                     for (std::int64_t o = 0; o < out; ++o)
                       total += static_cast<double>(dy[(n * s.out_channels + f) * out + o]);
                   db[f] = static_cast<T>(static_cast<Accumulator<T>>(total));
                 }
               });
}

Prepared backward_reference(const ConvolutionAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = convolution_sizes(a, r.in[1].shape, r.in[0].shape)](const Args& args) {
      const T *dy = args.in<T>(0), *x = args.in<T>(1), *w = args.in<T>(2);
      if (args.wants(0))
        parallel_for(s.batch * s.in_channels, 1, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t p = begin; p < end; ++p)
            backward_data_plane(s, p / s.in_channels, p % s.in_channels, dy, w, args.out<T>(0));
        });
      if (args.wants(1))
        parallel_for(s.out_channels * s.group_in(), 1, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t p = begin; p < end; ++p)
            backward_weight_taps(s, p / s.group_in(), p % s.group_in(), dy, x, args.out<T>(1));
        });
      if (s.bias && args.wants(2)) bias_gradient(s, dy, args.out<T>(2));
    };
  });
}

// ---- By matrix products -------------------------------------------------------------------------

Offer offer_blas(const Sizes& s, const KernelRequest& r) {
  const DType t = r.in[0].dtype;
  if (t != DType::kFloat32 && t != DType::kFloat64)
    return refuse("BLAS has float32 and float64 only");
  return accept_plain(r, static_cast<std::size_t>(blas::patch_elements(s)) * size_of(t));
}

template <class F>
Prepared with_real(DType t, F&& f) {
  return t == DType::kFloat64 ? f.template operator()<double>() : f.template operator()<float>();
}

Prepared forward_blas(const ConvolutionAttrs& a, const KernelRequest& r, bool with_sum) {
  return with_real(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = convolution_sizes(a, r.in[0].shape, r.out[0].shape), n = r.out[0].shape.size(),
            with_sum](const Args& args) {
      T* y = args.out<T>(0);
      // The sum may lie where the output goes: the product is added to what is there.
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

OpBuilder<ConvolutionAttrs>& forward_kernels(OpBuilder<ConvolutionAttrs>& op, bool with_sum) {
  using A = ConvolutionAttrs;
  using R = KernelRequest;
  return op
      .kernel(
          DeviceType::kCpu, "onednn",
          [=](const A& a, const R& q) {
            return onednn::offer_convolution(sizes_forward(a, q), with_sum, q);
          },
          [](const A&, const R& q, const Offer& o) { return onednn::prepare_convolution(q, o); })
      .kernel(
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
  const auto names = [](const A& a) -> std::vector<std::string> {
    if (a.no_bias) return {"data", "weight"};
    return {"data", "weight", "bias"};
  };
  auto plain = r.add<A>("Convolution");
  plain.doc("Convolution over one, two or three spatial axes.")
      .inputs(names)
      .infer(infer)
      .gradient(gradient);
  forward_kernels(plain, false);

  auto fused = r.add<A>("_fused_Convolution_sum");
  fused.doc("Convolution plus a tensor of the output's shape.")
      .inputs([names](const A& a) {
        auto all = names(a);
        all.push_back("sum_data");
        return all;
      })
      .infer(infer_with_sum)
      .gradient(gradient_with_sum)
      .inplace(-1, 0);  // sum_data, behind the bias where there is one
  forward_kernels(fused, true);

  r.add<A>("_backward_Convolution")
      .backward()
      .inputs({"dy", "data", "weight"})
      .outputs(names, [](const A& a) { return a.no_bias ? 2 : 3; })
      .infer(infer_backward)
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const A& a, const R& q) {
            return onednn::offer_convolution_backward(sizes_backward(a, q), q);
          },
          [](const A&, const R& q, const Offer& o) {
            return onednn::prepare_convolution_backward(q, o);
          })
      .kernel(
          DeviceType::kCpu, "blas",
          [](const A& a, const R& q) { return offer_blas(sizes_backward(a, q), q); },
          [](const A& a, const R& q, const Offer&) { return backward_blas(a, q); })
      .reference(backward_reference);
}

}  // namespace symbind
