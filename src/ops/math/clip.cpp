// Elementwise functions with parameters.
//
//   clip          y = min(max(x, a_min), a_max)               dx = dy · [a_min ≤ x ≤ a_max]
//   hard_sigmoid  y = min(max(alpha·x + beta, 0), 1)          dx = dy · alpha · [0 < y < 1]
//   smooth_l1     y = (s·x)²/2 if |x| < 1/s², else |x| − 1/(2s²)
//                                                             dx = dy · (s²x, or the sign of x)
//
// Decided here: the bounds of clip are rounded to the element type first; at both bounds its
// gradient is 1. The formulas are in kernels/elementwise_formulas.h.
#include <symbind/operator.h>

#include "kernels/activation.h"

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
template <bool backward, int values>
Prepared prepare(const char* name, const KernelRequest& q) {
  const DType dtype = q.out[0].dtype;
  return [run = ActivationRun(name, dtype), dtype, n = q.out[0].shape.size()](const Args& a) {
    const auto rounded = [&](double value) {
      const Compute compute = element_type(dtype, Compute::kDouble).compute;
      const ComputeValue v = scalar_as(value, dtype, compute);
      return compute == Compute::kDouble ? v.d : static_cast<double>(v.f);
    };
    const double p = rounded(a.values[0]), s = rounded(a.values[values - 1]);
    if constexpr (backward)
      run.backward(a.inputs[0].data, a.inputs[1].data, a.outputs[0].data, n, p, s);
    else
      run.forward(a.inputs[0].data, a.outputs[0].data, n, p, s);
  };
}

template <class A, int values>
OpBuilder<A> add(OpRegistry& r, const char* name, const char* doc, double flops,
                 NodeEntries (*gradient)(const A&, GradientBuilder&)) {
  auto op = r.add<A>(name);
  op.precision(Precision::kAsStored);
  op.doc(doc)
      .flops(flops)
      .slices(Slices::kFirst)
      .infer(infer<A>)
      .gradient(gradient)
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "native", offer<A>,
              [name](const A&, const KernelRequest& q, const Offer&) {
                return prepare<false, values>(name, q);
              });
  r.add<A>(std::string("_backward_") + name)
      .precision(Precision::kAsStored)
      .inputs(std::vector<std::string>{"head", "data"})
      .infer(infer<A>)
      .backward()
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "native", offer<A>,
              [name](const A&, const KernelRequest& q, const Offer&) {
                return prepare<true, values>(name, q);
              });
  return op;
}

}  // namespace

void register_clip(OpRegistry& r) {
  add<ClipAttrs, 2>(r, "clip", "The input clipped to a range.", 1,
                    [](const ClipAttrs&, GradientBuilder& g) {
                      return g.call_with_same_attrs("_backward_clip", {g.head(0), g.input(0)});
                    })
      .as_epilogue([](const ClipAttrs& a) {
        return EpilogueItem{EpilogueItem::Kind::kClip, static_cast<double>(a.a_min),
                            static_cast<double>(a.a_max)};
      });
  add<HardSigmoidAttrs, 2>(
      r, "hard_sigmoid", "A line clipped to [0, 1].", 2,
      [](const HardSigmoidAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_hard_sigmoid", {g.head(0), g.input(0)});
      });
  add<SmoothL1Attrs, 1>(
      r, "smooth_l1", "A parabola near 0, the absolute value elsewhere.", 3,
      [](const SmoothL1Attrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_smooth_l1", {g.head(0), g.input(0)});
      });
}

}  // namespace symbind
