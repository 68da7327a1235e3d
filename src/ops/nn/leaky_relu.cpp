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
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/parallel.h"
#include "base/philox.h"
#include "kernels/accumulate.h"
#include "kernels/onednn/eltwise.h"
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

// ---- Functions of one number --------------------------------------------------------------------

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
/// From y where the slope is not negative, else from x.
struct Elu {
  template <class A>
  static A value(A x, A s) {
    return x > 0 ? x : s * std::expm1(x);
  }
  template <class A>
  static A slope(A saved, A s) {
    if (saved > 0) return A(1);
    return s < 0 ? s * std::exp(saved) : saved + s;
  }
};
struct Selu {
  template <class A>
  static constexpr A kLambda = A(1.0507009873554804934193349852946L);
  template <class A>
  static constexpr A kAlpha = A(1.6732632423543772848170429916717L);
  template <class A>
  static A value(A x, A) {
    return kLambda<A> * (x > 0 ? x : kAlpha<A> * std::expm1(x));
  }
  template <class A>
  static A slope(A y, A) {
    return y > 0 ? kLambda<A> : y + kLambda<A> * kAlpha<A>;
  }
};
struct Gelu {
  template <class A>
  static A value(A x, A) {
    return x * std::erfc(-x / std::numbers::sqrt2_v<A>) / 2;
  }
  template <class A>
  static A slope(A x, A) {
    const A density =
        std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<A> / std::numbers::sqrt2_v<A>;
    return std::erfc(-x / std::numbers::sqrt2_v<A>) / 2 + x * density;
  }
};

template <class F>
Prepared with_function(const std::string& name, F&& f) {
  if (name == "elu") return f.template operator()<Elu>();
  if (name == "selu") return f.template operator()<Selu>();
  if (name == "gelu") return f.template operator()<Gelu>();
  return f.template operator()<Leaky>();
}

/// y[i] = f(x[i], …) over threads, in the type that sums are kept in.
template <class T, class F>
void map(std::int64_t n, T* y, F f) {
  parallel_for(n, kElementGrain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = static_cast<T>(f(i));
  });
}

Prepared forward_simple(const LeakyReLUAttrs& a, const KernelRequest& r) {
  return with_function(a.act_type, [&]<class Fn>() {
    return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
      using Acc = Accumulator<T>;
      return [n = r.in[0].shape.size(), s = static_cast<Acc>(a.slope)](const Args& args) {
        const T* x = args.in<T>(0);
        map(n, args.out<T>(0),
            [=](std::int64_t i) { return Fn::value(static_cast<Acc>(x[i]), s); });
      };
    });
  });
}

Prepared backward_simple(const LeakyReLUAttrs& a, const KernelRequest& r) {
  return with_function(a.act_type, [&]<class Fn>() {
    return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
      using Acc = Accumulator<T>;
      return [n = r.in[0].shape.size(), s = static_cast<Acc>(a.slope)](const Args& args) {
        const T *dy = args.in<T>(0), *saved = args.in<T>(1);
        map(n, args.out<T>(0), [=](std::int64_t i) {
          return static_cast<Acc>(dy[i]) * Fn::slope(static_cast<Acc>(saved[i]), s);
        });
      };
    });
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

/// The data as (batch, channels, inner), and the offset of each gamma.
struct PreluGrid {
  std::int64_t batch = 1, channels = 1, inner = 1;
  GammaStrides gamma;
  PreluGrid(const Shape& x, const Shape& g) {
    if (x.rank() > 0) batch = x[0];
    if (x.rank() > 1) channels = x[1], inner = x.count(2);
    lay_gamma(x, g, gamma);
  }
  /// Calls f(index of gamma, first element) for every plane.
  template <class F>
  void each_plane(F&& f) const {
    const std::int64_t grain = grain_of(inner);
    parallel_for(batch * channels, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p)
        f(p / channels * gamma.batch + p % channels * gamma.channel, p * inner);
    });
  }
};

Prepared forward_prelu(const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [g = PreluGrid(r.in[0].shape, r.in[1].shape)](const Args& args) {
      const T *x = args.in<T>(0), *gamma = args.in<T>(1);
      T* y = args.out<T>(0);
      g.each_plane([&](std::int64_t where, std::int64_t first) {
        const Acc s = static_cast<Acc>(gamma[where]);
        for (std::int64_t i = first; i < first + g.inner; ++i)
          y[i] = static_cast<T>(Leaky::value(static_cast<Acc>(x[i]), s));
      });
    };
  });
}

/// dgamma = Σ dy·min(x, 0) over all elements that share it: in double, one gamma after another.
template <class T>
void gamma_gradient(const PreluGrid& g, std::int64_t count, const T* dy, const T* x, T* dgamma) {
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
          for (std::int64_t i = first; i < first + g.inner; ++i)
            if (!(x[i] > T(0))) sum += static_cast<double>(dy[i]) * static_cast<double>(x[i]);
        }
      dgamma[k] = static_cast<T>(static_cast<Accumulator<T>>(sum));
    }
  });
}

Prepared backward_prelu(const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [g = PreluGrid(r.in[1].shape, r.in[2].shape),
            count = r.in[2].shape.size()](const Args& args) {
      const T *dy = args.in<T>(0), *x = args.in<T>(1), *gamma = args.in<T>(2);
      if (args.wants(1)) gamma_gradient(g, count, dy, x, args.out<T>(1));
      if (!args.wants(0)) return;
      T* dx = args.out<T>(0);
      g.each_plane([&](std::int64_t where, std::int64_t first) {
        const Acc s = static_cast<Acc>(gamma[where]);
        for (std::int64_t i = first; i < first + g.inner; ++i)
          dx[i] = static_cast<T>(static_cast<Acc>(dy[i]) * Leaky::slope(static_cast<Acc>(x[i]), s));
      });
    };
  });
}

// ---- Registration -------------------------------------------------------------------------------

Offer any_layout(const LeakyReLUAttrs& a, const KernelRequest& r) {
  return a.is("prelu") || a.is("rrelu") ? accept_plain(r) : accept_same_layout(r);
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
  using R = KernelRequest;
  const auto names = [](const A& a) -> std::vector<std::string> {
    if (a.is("prelu")) return {"data", "gamma"};
    return {"data"};
  };
  r.add<A>("LeakyReLU")
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
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const A& a, const R& q) { return onednn::offer_eltwise(a.act_type, q, a.slope); },
          [](const A&, const R& q, const Offer& o) { return onednn::prepare_eltwise(q, o); })
      .kernel(DeviceType::kCpu, "reference", any_layout, forward);
  r.add<A>("_backward_LeakyReLU")
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
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const A& a, const R& q) {
            return onednn::offer_eltwise_backward(a.act_type, q, a.slope);
          },
          [](const A&, const R& q, const Offer& o) {
            return onednn::prepare_eltwise_backward(q, o);
          })
      .kernel(DeviceType::kCpu, "reference", any_layout, backward);
}

}  // namespace symbind
