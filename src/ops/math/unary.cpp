// Functions of one array: y[i] = f(x[i]).
//
// The table with the formulas and derivatives is kernels/elementwise_unary.cpp; here each line of
// it becomes an operator `name` and, where the derivative is not zero, `_backward_name` with the
// inputs (dy, x) or (dy, y).
#include <limits>
#include <utility>

#include <symbind/operator.h>

#include "kernels/elementwise.h"
#include "ops/math/second_derivatives.h"

namespace symbind {
namespace {

using Needs = UnaryFunction::Needs;

std::string backward_name(const UnaryFunction& f) { return std::string("_backward_") + f.name; }

void infer(const NoAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

NodeEntries gradient_of(const UnaryFunction& f, GradientBuilder& g) {
  switch (f.needs) {
    case Needs::kNothing: return {{}};
    case Needs::kHeadOnly: return {g.call(f.name, {g.head(0)})};  // linear: its own derivative
    case Needs::kInput: return {g.call(backward_name(f), {g.head(0), g.input(0)})};
    case Needs::kOutput: return {g.call(backward_name(f), {g.head(0), g.output(0)})};
  }
  return {};
}

/// Of _backward_name(dy, v), which is linear in dy.
NodeEntries gradient_of_backward(const UnaryFunction& f, GradientBuilder& g) {
  const Expression head(g, g.head(0)), dy(g, g.input(0)), v(g, g.input(1));
  const SecondDerivative& d = *second_derivative(f.name);
  return {g.wanted(0) ? g.call(backward_name(f), {head.entry(), v.entry()}) : NodeEntry{},
          g.wanted(1) ? (head * dy * d.of(v)).entry() : NodeEntry{}};
}

Offer offer(const NoAttrs&, const KernelRequest& request) { return accept_same_layout(request); }

Prepared prepare_forward(const UnaryFunction& f, const KernelRequest& request) {
  const TensorDesc& out = request.out[0];
  return [run = UnaryRun(f, out.dtype), n = out.shape.size()](const Args& a) {
    run(a.inputs[0].data, a.outputs[0].data, n);
  };
}

Prepared prepare_backward(const UnaryFunction& f, const KernelRequest& request) {
  const TensorDesc& out = request.out[0];
  const ElementType type = element_type(out.dtype, Compute::kDouble);
  BinaryRun run(f.backward[static_cast<std::size_t>(type.compute)], type);
  run.grain = 16384;
  return [run, n = out.shape.size()](const Args& a) {
    run(a.inputs[0].data, a.inputs[1].data, a.outputs[0].data, n);
  };
}

/// The functions that a layer can apply to its output.
std::optional<EpilogueItem> item_of(std::string_view name) {
  if (name == "relu")  // keeps NaN, as clip does and Activation does not
    return EpilogueItem{EpilogueItem::Kind::kClip, 0, std::numeric_limits<double>::infinity()};
  if (name == "sigmoid") return EpilogueItem{EpilogueItem::Kind::kSigmoid};
  if (name == "tanh") return EpilogueItem{EpilogueItem::Kind::kTanh};
  return std::nullopt;
}

using GradientRule = NodeEntries (*)(const NoAttrs&, GradientBuilder&);

void add(OpRegistry& r, const UnaryFunction& f, GradientRule gradient,
         GradientRule gradient_of_gradient) {
  r.add(f.name)
      .slices(Slices::kFirst)
      .precision(Precision::kAsStored)
      .as_epilogue([item = item_of(f.name)](const NoAttrs&) { return item; })
      .flops(1)
      .doc(std::string("Elementwise ") + f.name + ".")
      .infer(infer)
      .gradient(gradient)
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "native", offer,
              [&f](const NoAttrs&, const KernelRequest& q, const Offer&) {
                return prepare_forward(f, q);
              });
  if (f.needs != Needs::kInput && f.needs != Needs::kOutput) return;
  auto backward = r.add(backward_name(f));
  backward.precision(Precision::kAsStored);
  if (second_derivative(f.name) != nullptr) backward.gradient(gradient_of_gradient);
  backward.inputs(std::vector<std::string>{"head", f.needs == Needs::kInput ? "data" : "output"})
      .flops(2)
      .infer(infer)
      .backward()
      .inplace(0, 0)
      .inplace(1, 0)
      .kernel(DeviceType::kCpu, "native", offer,
              [&f](const NoAttrs&, const KernelRequest& q, const Offer&) {
                return prepare_backward(f, q);
              });
}

}  // namespace

void register_unary(OpRegistry& r) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (add(
         r, unary_functions()[I],
         [](const NoAttrs&, GradientBuilder& g) { return gradient_of(unary_functions()[I], g); },
         [](const NoAttrs&, GradientBuilder& g) {
           return gradient_of_backward(unary_functions()[I], g);
         }),
     ...);
  }
  (std::make_index_sequence<kNumUnaryFunctions>());
}

}  // namespace symbind
