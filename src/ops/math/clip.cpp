// Elementwise functions with parameters.
//
//   clip          y = min(max(x, a_min), a_max)               dx = dy · [a_min ≤ x ≤ a_max]
//   hard_sigmoid  y = min(max(alpha·x + beta, 0), 1)          dx = dy · alpha · [0 < y < 1]
//   smooth_l1     y = (s·x)²/2 if |x| < 1/s², else |x| − 1/(2s²)
//                                                             dx = dy · (s²x, or the sign of x)
//
// Decided here: the bounds of clip are rounded to the element type first; at both bounds its
// gradient is 1. 16-bit floats are computed in float, integers in double.
#include <algorithm>
#include <cmath>

#include <symbind/operator.h>

#include "base/parallel.h"
#include "kernels/element_type.h"

namespace symbind {
namespace {

struct ClipAttrs {
  float a_min = 0, a_max = 0;
  void describe(AttrVisitor& v) {
    v.field("a_min", a_min, "The lower bound.").required().per_call();
    v.field("a_max", a_max, "The upper bound.").required().per_call();
  }
};
struct HardSigmoidAttrs {
  float alpha = 0.2f, beta = 0.5f;
  void describe(AttrVisitor& v) {
    v.field("alpha", alpha, "The slope.").per_call();
    v.field("beta", beta, "The value at 0.").per_call();
  }
};
struct SmoothL1Attrs {
  float scalar = 1;
  void describe(AttrVisitor& v) {
    v.field("scalar", scalar, "The loss is a parabola up to 1 / scalar².").per_call();
  }
};

struct Clip {
  template <class T>
  static T f(T x, T low, T high) {
    return x < low ? low : x > high ? high : x;
  }
  template <class T>
  static T df(T dy, T x, T low, T high) {
    return x < low || x > high ? T(0) : dy;  // NaN passes dy through, as in MXNet
  }
};
struct HardSigmoid {
  template <class T>
  static T f(T x, T alpha, T beta) {
    return std::min(std::max(alpha * x + beta, T(0)), T(1));
  }
  template <class T>
  static T df(T dy, T x, T alpha, T beta) {
    const T y = alpha * x + beta;
    return y > T(0) && y < T(1) ? dy * alpha : T(0);
  }
};
struct SmoothL1 {
  template <class T>
  static T f(T x, T s, T) {
    const T s2 = s * s;
    return std::abs(x) < T(1) / s2 ? T(0.5) * x * x * s2 : std::abs(x) - T(0.5) / s2;
  }
  template <class T>
  static T df(T dy, T x, T s, T) {
    const T s2 = s * s;
    return dy * (x > T(1) / s2 ? T(1) : x < T(-1) / s2 ? T(-1) : s2 * x);  // NaN stays NaN
  }
};

template <class A>
void infer(const A&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}
template <class A>
Offer offer(const A&, const KernelRequest& q) {
  return accept_same_layout(q);
}

/// y = f(x, p, q), or dx = f'(dy, x, p, q) with dy as input 0 and x as input 1.
template <class F, bool backward, class T>
void run(const Args& a, std::int64_t n, const ElementType& type, T p, T q) {
  const auto size = static_cast<std::int64_t>(type.size);
  const auto *first = static_cast<const char*>(a.inputs[0].data),
             *second = static_cast<const char*>(a.inputs[backward ? 1 : 0].data);
  auto* out = static_cast<char*>(a.outputs[0].data);
  parallel_for(n, 16384, [&](std::int64_t begin, std::int64_t end) {
    T head[kChunk], in[kChunk];
    for (std::int64_t i = begin; i < end; i += kChunk) {
      const std::int64_t m = std::min(kChunk, end - i), at = i * size;
      const T *dy = reinterpret_cast<const T*>(first + at),
              *x = reinterpret_cast<const T*>(second + at);
      T* y = reinterpret_cast<T*>(out + at);
      if (type.load != nullptr) {
        if (backward) type.load(first + at, head, m);
        type.load(second + at, in, m);
        dy = head;
        x = y = in;
      }
#pragma GCC ivdep
      for (std::int64_t k = 0; k < m; ++k) {
        if constexpr (backward)
          y[k] = F::df(dy[k], x[k], p, q);
        else
          y[k] = F::f(x[k], p, q);
      }
      if (type.store != nullptr) type.store(in, out + at, m);
    }
  });
}

template <class F, bool backward, int values>
Prepared prepare(const KernelRequest& q) {
  const DType dtype = q.out[0].dtype;
  const ElementType type = element_type(dtype, Compute::kDouble);
  return [type, dtype, n = q.out[0].shape.size()](const Args& a) {
    const ComputeValue p = scalar_as(a.values[0], dtype, type.compute),
                       s = scalar_as(a.values[values - 1], dtype, type.compute);
    if (type.compute == Compute::kDouble)
      run<F, backward, double>(a, n, type, p.d, s.d);
    else
      run<F, backward, float>(a, n, type, p.f, s.f);
  };
}

template <class A, class F, int values>
OpBuilder<A> add(OpRegistry& r, const std::string& name, const char* doc, double flops,
                 NodeEntries (*gradient)(const A&, GradientBuilder&)) {
  auto op = r.add<A>(name);
  op.doc(doc).flops(flops).infer(infer<A>).gradient(gradient).inplace(0, 0).kernel(
      DeviceType::kCpu, "native", offer<A>,
      [](const A&, const KernelRequest& q, const Offer&) { return prepare<F, false, values>(q); });
  r.add<A>("_backward_" + name)
      .inputs(std::vector<std::string>{"head", "data"})
      .infer(infer<A>)
      .backward()
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "native", offer<A>,
              [](const A&, const KernelRequest& q, const Offer&) {
                return prepare<F, true, values>(q);
              });
  return op;
}

}  // namespace

void register_clip(OpRegistry& r) {
  add<ClipAttrs, Clip,
      2>(r, "clip", "The input clipped to a range.", 1, [](const ClipAttrs&, GradientBuilder& g) {
    return g.call_with_same_attrs("_backward_clip", {g.head(0), g.input(0)});
  }).as_epilogue([](const ClipAttrs& a) {
    return EpilogueItem{EpilogueItem::Kind::kClip, static_cast<double>(a.a_min),
                        static_cast<double>(a.a_max)};
  });
  add<HardSigmoidAttrs, HardSigmoid, 2>(
      r, "hard_sigmoid", "A line clipped to [0, 1].", 2,
      [](const HardSigmoidAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_hard_sigmoid", {g.head(0), g.input(0)});
      });
  add<SmoothL1Attrs, SmoothL1, 1>(
      r, "smooth_l1", "A parabola near 0, the absolute value elsewhere.", 3,
      [](const SmoothL1Attrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_smooth_l1", {g.head(0), g.input(0)});
      });
}

}  // namespace symbind
