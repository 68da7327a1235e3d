// LeakyReLU: variants of relu that are not constant below 0.
//
//   leaky   x > 0 ? x : slope·x                  elu   x > 0 ? x : slope·(eˣ − 1)
//   prelu   leaky with a learnt slope gamma      selu  elu with fixed α, scaled by λ
//   rrelu   leaky with slopes drawn from [lower_bound, upper_bound) in training, their mean
//           otherwise                            gelu  x/2 · (1 + erf(x/√2))
//
// Decided here: the gradient reads y, so x may be freed early; prelu and gelu read x, as do leaky
// and elu with a negative slope, where y does not show the sign of x. (MXNet 1.9.1's gradient of
// selu is wrong below 0; this one is not.) At 0 the left-hand gradient is used. gamma has one
// value, one per channel (axis 1), one per sample, or one for each of both. rrelu's slopes are a
// hidden output (in MXNet 1.9.1 it is visible, and then the symbol cannot be composed); element i
// comes from Philox counter i / 4 of the draw.
#include <symbind/operator.h>

#include <algorithm>
#include <type_traits>

#include "base/check.h"
#include "base/parallel.h"
#include "base/philox.h"
#include "kernels/accumulate.h"
#include "kernels/activation.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct LeakyReLUAttrs {
  std::string act_type = "leaky";
  float slope = 0.25f;
  float lower_bound = 0.125f, upper_bound = 0.334f;

  void describe(AttrVisitor& v) {
    v.field("act_type", act_type, "Activation function to be applied.")
        .choices({"elu", "gelu", "leaky", "prelu", "rrelu", "selu"});
    v.field("slope", slope, "Factor of negative numbers (leaky and elu).");
    v.field("lower_bound", lower_bound, "Lower bound of random slopes (rrelu).");
    v.field("upper_bound", upper_bound, "Upper bound of random slopes (rrelu).");
  }
  bool is(const char* type) const { return act_type == type; }
  bool gradient_reads_input() const {
    return is("gelu") || is("prelu") || ((is("leaky") || is("elu")) && slope < 0);
  }
};

// ---- Inference and gradient ---------------------------------------------------------------------

/// The strides of gamma along (batch, channels); 0 where it is shared.
struct GammaStrides {
  std::int64_t batch = 0, channel = 0;
};

/// False if gamma does not fit the data.
bool lay_gamma(const Shape& data, const Shape& gamma, GammaStrides& at) {
  int next = gamma.rank() - 1;
  std::int64_t step = 1;
  for (int axis = std::min(1, data.rank() - 1); axis >= 0 && next >= 0; --axis) {
    if (gamma[next] != data[axis] && gamma[next] != 1) continue;
    const std::int64_t stride = gamma[next] == 1 ? 0 : step;
    (axis == 1 ? at.channel : at.batch) = stride;
    step *= gamma[next--];
  }
  return next < 0;
}

void infer_gamma(Inference& io, Inference::Ref data, Inference::Ref gamma) {
  const Shape& x = io.shape(data);
  const Shape& g = io.shape(gamma);
  if (!x.rank_known()) return;
  if (!g.rank_known())
    return io.set_shape(gamma, Shape{x.rank() > 1 ? x[1] : 1}, "a slope per channel");
  GammaStrides at;
  check(!x.known() || !g.known() || lay_gamma(x, g, at), ErrorKind::kShape,
        "gamma {} must have one value, or one per channel or sample of the data {}", g.str(),
        x.str());
}

void infer(const LeakyReLUAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  if (a.is("rrelu")) {
    check(a.lower_bound <= a.upper_bound, "lower_bound {} is above upper_bound {}", a.lower_bound,
          a.upper_bound);
    io.same_shape(io.in(0), io.out(1));
  }
  if (a.is("prelu")) infer_gamma(io, io.in(0), io.in(1));
}

// Inputs: dy, then x or y[, gamma][, mask]. Outputs: dx[, dgamma].
void infer_backward(const LeakyReLUAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  io.same_shape(io.in(1), io.out(0));
  if (a.is("prelu")) io.same_shape(io.in(2), io.out(1));
  if (a.is("prelu")) infer_gamma(io, io.in(1), io.in(2));
  if (a.is("rrelu")) io.same_shape(io.in(2), io.out(0));
}

NodeEntries gradient(const LeakyReLUAttrs& a, GradientBuilder& g) {
  NodeEntries inputs{g.head(0), a.gradient_reads_input() ? g.input(0) : g.output(0)};
  if (a.is("prelu")) inputs.push_back(g.input(1));
  if (a.is("rrelu")) inputs.push_back(g.output(1));
  return g.call_with_same_attrs("_backward_LeakyReLU", std::move(inputs));
}

// ---- Functions of one number: kernels/elementwise_formulas.h ------------------------------------

/// The function's name there; with a negative slope, elu's gradient reads x.
std::string function_of(const LeakyReLUAttrs& a) {
  return a.is("elu") && a.gradient_reads_input() ? "elu_from_input" : a.act_type;
}

Prepared forward_simple(const LeakyReLUAttrs& a, const KernelRequest& r) {
  return [run = ActivationRun(function_of(a), r.in[0].dtype), n = r.in[0].shape.size(),
          slope = a.slope](const Args& args) {
    run.forward(args.inputs[0].data, args.outputs[0].data, n, slope);
  };
}

Prepared backward_simple(const LeakyReLUAttrs& a, const KernelRequest& r) {
  return [run = ActivationRun(function_of(a), r.in[0].dtype), n = r.in[0].shape.size(),
          slope = a.slope](const Args& args) {
    run.backward(args.inputs[0].data, args.inputs[1].data, args.outputs[0].data, n, slope);
  };
}

/// relu with a slope below 0.
struct Leaky {
  template <class A>
  static A value(A x, A s) {
    return x > 0 ? x : x * s;
  }
  template <class A>
  static A slope(A saved, A s) {
    return saved > 0 ? A(1) : s;
  }
};

/// y[i] = f(i) over threads, in the type that sums are kept in.
template <class T, class F>
void map(std::int64_t n, T* y, F f) {
  parallel_for(n, kElementGrain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = static_cast<T>(f(i));
  });
}

// ---- rrelu --------------------------------------------------------------------------------------

Prepared forward_random(const LeakyReLUAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = r.in[0].shape.size(), low = a.lower_bound, high = a.upper_bound](const Args& args) {
      const T* x = args.in<T>(0);
      T *y = args.out<T>(0), *mask = args.wants(1) ? args.out<T>(1) : nullptr;
      const RunState run = *args.run;
      parallel_for(n, kElementGrain / 8, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          float slope = (low + high) / 2;
          if (run.is_train) {
            const auto bits =
                philox(run.random_seed, run.random_draw, static_cast<std::uint64_t>(i / 4));
            slope = low + (high - low) * unit_float(bits[static_cast<std::size_t>(i % 4)]);
          }
          const T rounded = static_cast<T>(slope);
          if (mask) mask[i] = rounded;
          using Acc = Accumulator<T>;
          y[i] = static_cast<T>(Leaky::value(static_cast<Acc>(x[i]), static_cast<Acc>(rounded)));
        }
      });
    };
  });
}

Prepared backward_random(const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [n = r.in[0].shape.size()](const Args& args) {
      const T *dy = args.in<T>(0), *y = args.in<T>(1), *mask = args.in<T>(2);
      map(n, args.out<T>(0), [=](std::int64_t i) {
        return static_cast<Acc>(dy[i]) *
               Leaky::slope(static_cast<Acc>(y[i]), static_cast<Acc>(mask[i]));
      });
    };
  });
}

// ---- prelu --------------------------------------------------------------------------------------

/// The data as (batch, groups, positions, lanes), lanes · groups being the channels, and the index
/// of each gamma. A plain layout has one lane, others one position or more for every slope.
struct PreluGrid {
  std::int64_t batch = 1, channels = 1, inner = 1, lanes = 1;
  GammaStrides gamma;
  PreluGrid(const TensorDesc& data, const Shape& g) {
    const Shape& x = data.shape;
    if (x.rank() > 0) batch = x[0];
    if (x.rank() > 1) channels = x[1], inner = x.count(2);
    lay_gamma(x, g, gamma);
    switch (data.layout) {
      case Layout::kPlain: break;
      case Layout::kBlocked8: lanes = 8; break;
      case Layout::kBlocked16: lanes = 16; break;
      case Layout::kChannelsLast: lanes = channels; break;
    }
    // One position: the channels are neighbours in any layout.
    if (inner == 1 && gamma.batch == 0 && gamma.channel == 1) lanes = channels;
  }
  /// With one slope per plane, for a plain layout.
  PreluGrid by_plane() const {
    PreluGrid g = *this;
    g.lanes = 1;
    return g;
  }
  std::int64_t groups() const { return lanes > 0 ? channels / lanes : 0; }
  /// Calls f(index of gamma, first element) for every plane, which has inner · lanes elements.
  template <class F>
  void each_plane(F&& f) const {
    const std::int64_t grain = grain_of(inner * lanes);
    parallel_for(batch * groups(), grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p)
        f(p / groups() * gamma.batch + p % groups() * lanes * gamma.channel, p * inner * lanes);
    });
  }
};

/// Blocked layouts have a loop for float32 with one slope per channel.
bool takes_any_layout(const TensorDesc& data, const Shape& gamma) {
  GammaStrides at;
  return data.dtype == DType::kFloat32 && data.shape.rank() > 1 &&
         lay_gamma(data.shape, gamma, at) && at.batch == 0 && at.channel == 1;
}

Prepared forward_prelu(const KernelRequest& r) {
  const PreluGrid grid({r.in[0].shape, r.in[0].dtype, r.out[0].layout}, r.in[1].shape);
  const DType dtype = r.in[0].dtype;
  if (grid.lanes != 1 && dtype == DType::kFloat32)
    return [g = grid, f = vector::activation_loops().best().prelu.forward](const Args& args) {
      g.each_plane([&](std::int64_t where, std::int64_t first) {
        f(args.in<float>(0) + first, args.in<float>(1) + where, args.out<float>(0) + first, g.inner,
          g.lanes);
      });
    };
  return dispatch_float(dtype, [&]<class T>() -> Prepared {
    return [g = PreluGrid({r.in[0].shape, dtype, Layout::kPlain}, r.in[1].shape).by_plane(),
            run = ActivationRun("leaky", dtype)](const Args& args) {
      g.each_plane([&](std::int64_t where, std::int64_t first) {
        run.forward_range(args.inputs[0].data, args.outputs[0].data, first, first + g.inner,
                          static_cast<double>(args.in<T>(1)[where]), 0);
      });
    };
  });
}

/// Σ dy·min(x, 0) of one plane, in double.
template <class T>
double slope_gradient(const T* dy, const T* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i)
    if (!(x[i] > T(0))) sum += static_cast<double>(dy[i]) * static_cast<double>(x[i]);
  return sum;
}
double slope_gradient(const float* dy, const float* x, std::int64_t n) {
  return vector::activation_loops().best().prelu.slope_gradient(dy, x, n);
}

/// dgamma of channels that are neighbours, some of them at a time.
void gamma_gradient_of_lanes(const PreluGrid& g, const float* dy, const float* x, float* dgamma) {
  using vector::kSlopes;
  const std::int64_t plane = g.inner * g.lanes, parts = (g.lanes + kSlopes - 1) / kSlopes,
                     grain = grain_of(g.batch * g.inner * std::min(g.lanes, kSlopes));
  parallel_for(g.groups() * parts, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t group = p / parts, left = p % parts * kSlopes,
                         n = std::min(kSlopes, g.lanes - left);
      double sums[kSlopes] = {};
      for (std::int64_t b = 0; b < g.batch; ++b) {
        const std::int64_t first = (b * g.groups() + group) * plane + left;
        vector::activation_loops().best().prelu.slope_gradients(dy + first, x + first, sums,
                                                                g.inner, n, g.lanes);
      }
      for (std::int64_t i = 0; i < n; ++i)
        dgamma[group * g.lanes + left + i] = static_cast<float>(sums[i]);
    }
  });
}

/// dgamma = Σ dy·min(x, 0) over all elements that share it: one gamma after another.
template <class T>
void gamma_gradient(const PreluGrid& g, std::int64_t count, const T* dy, const T* x, T* dgamma) {
  if constexpr (std::is_same_v<T, float>)
    if (g.lanes > 1) return gamma_gradient_of_lanes(g, dy, x, dgamma);
  const bool by_sample = g.gamma.batch > 0, by_channel = g.gamma.channel > 0;
  const std::int64_t grain = grain_of(g.batch * g.inner);
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t sample = by_channel ? k / g.channels : k,
                         channel = by_channel ? k % g.channels : 0;
      double sum = 0;
      for (std::int64_t b = by_sample ? sample : 0; b < (by_sample ? sample + 1 : g.batch); ++b)
        for (std::int64_t c = by_channel ? channel : 0; c < (by_channel ? channel + 1 : g.channels);
             ++c) {
          const std::int64_t first = (b * g.channels + c) * g.inner;
          sum += slope_gradient(dy + first, x + first, g.inner);
        }
      dgamma[k] = static_cast<T>(static_cast<Accumulator<T>>(sum));
    }
  });
}

Prepared backward_prelu(const KernelRequest& r) {
  const DType dtype = r.in[1].dtype;
  const PreluGrid grid({r.in[1].shape, dtype, r.out[0].layout}, r.in[2].shape);
  return dispatch_float(dtype, [&]<class T>() -> Prepared {
    const bool columns = grid.lanes != 1 && std::is_same_v<T, float>;
    return [g = columns ? grid : grid.by_plane(), columns, run = ActivationRun("leaky", dtype),
            count = r.in[2].shape.size()](const Args& args) {
      const T *dy = args.in<T>(0), *x = args.in<T>(1), *gamma = args.in<T>(2);
      if (args.wants(1)) gamma_gradient(g, count, dy, x, args.out<T>(1));
      if (!args.wants(0)) return;
      g.each_plane([&](std::int64_t where, std::int64_t first) {
        if (columns)
          vector::activation_loops().best().prelu.backward(
              args.in<float>(0) + first, args.in<float>(1) + first, args.in<float>(2) + where,
              args.out<float>(0) + first, g.inner, g.lanes);
        else
          run.backward_range(dy, x, args.out<T>(0), first, first + g.inner,
                             static_cast<double>(gamma[where]), 0);
      });
    };
  });
}

// ---- Registration -------------------------------------------------------------------------------

/// The layout of the data, and with it that of all tensors of its shape; gamma is plain.
Offer offer_prelu(const KernelRequest& r, int data, int gamma) {
  Offer offer = accept_plain(r);
  const TensorDesc& x = r.in[static_cast<std::size_t>(data)];
  if (!takes_any_layout(x, r.in[static_cast<std::size_t>(gamma)].shape)) return offer;
  Layout common = Layout::kPlain;
  for (const TensorDesc& in : r.in)
    if (in.layout != Layout::kPlain) common = in.layout;
  for (int i = 0; i < gamma; ++i) offer.in_layouts[static_cast<std::size_t>(i)] = common;
  offer.out_layouts[0] = common;
  return offer;
}

Offer offer(const LeakyReLUAttrs& a, const KernelRequest& r) {
  if (a.is("prelu")) return offer_prelu(r, 0, 1);
  return a.is("rrelu") ? accept_plain(r) : accept_same_layout(r);
}
Offer offer_backward(const LeakyReLUAttrs& a, const KernelRequest& r) {
  if (a.is("prelu")) return offer_prelu(r, 1, 2);
  return a.is("rrelu") ? accept_plain(r) : accept_same_layout(r);
}

Prepared forward(const LeakyReLUAttrs& a, const KernelRequest& r, const Offer&) {
  if (a.is("prelu")) return forward_prelu(r);
  return a.is("rrelu") ? forward_random(a, r) : forward_simple(a, r);
}
Prepared backward(const LeakyReLUAttrs& a, const KernelRequest& r, const Offer&) {
  if (a.is("prelu")) return backward_prelu(r);
  return a.is("rrelu") ? backward_random(r) : backward_simple(a, r);
}

std::optional<EpilogueItem> as_epilogue(const LeakyReLUAttrs& a) {
  using Kind = EpilogueItem::Kind;
  const double slope = static_cast<double>(a.slope);
  if (a.is("leaky")) return EpilogueItem{Kind::kLeaky, slope};
  if (a.is("prelu")) return EpilogueItem{Kind::kPRelu};
  if (a.is("elu")) return EpilogueItem{Kind::kElu, slope};
  if (a.is("gelu")) return EpilogueItem{Kind::kGelu};
  return std::nullopt;
}

}  // namespace

void register_leaky_relu(OpRegistry& r) {
  using A = LeakyReLUAttrs;
  const auto names = [](const A& a) -> std::vector<std::string> {
    if (a.is("prelu")) return {"data", "gamma"};
    return {"data"};
  };
  r.add<A>("LeakyReLU")
      .slices(Slices::kFirst)
      .precision(Precision::kAsStored)
      .as_epilogue(as_epilogue)
      .flops(1, Per::kFirstInput)
      .doc("Variants of relu that are not constant below 0.")
      .inputs(names)
      .outputs(
          [](const A& a) -> std::vector<std::string> {
            if (a.is("rrelu")) return {"output", "mask"};
            return {"output"};
          },
          [](const A&) { return 1; })
      .init_hint(1, R"(["Constant", {"value": 0.25}])")
      .random()  // rrelu
      .skips_unread(1)
      .infer(infer)
      .gradient(gradient)
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "native", offer, forward);
  r.add<A>("_backward_LeakyReLU")
      .precision(Precision::kAsStored)
      .flops(2, Per::kFirstInput)
      .backward()
      .inputs([](const A& a) {
        std::vector<std::string> all{"dy", "saved"};
        if (a.is("prelu")) all.emplace_back("gamma");
        if (a.is("rrelu")) all.emplace_back("mask");
        return all;
      })
      .outputs(names, [](const A& a) { return a.is("prelu") ? 2 : 1; })
      .skips_unread()
      .infer(infer_backward)
      .inplace(0, 0)
      .inplace(1, 0)
      .kernel(DeviceType::kCpu, "native", offer_backward, backward);
}

}  // namespace symbind
