// Functions of an array and a number: y[i] = f(x[i], s), or f(s, x[i]) for the reverse forms.
//
// Decided here: the number is a per-call attribute; it is rounded to the array's element type
// before use, so an integer array truncates it first (7 · 1.5 = 7), as MXNet does.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <symbind/operator.h>

#include "kernels/elementwise.h"
#include "ops/math/expression.h"

namespace symbind {
namespace {

struct ScalarAttrs {
  double scalar = 1.0;
  bool is_int = true;
  void describe(AttrVisitor& v) {
    v.field("scalar", scalar, "The number.").per_call();
    v.field("is_int", is_int, "Whether the number was written as an integer; without effect.");
  }
};

enum class Gradient { kNone, kHead, kNegative, kSelf, kNode };

struct Entry {
  const char* name;
  const char* function;
  bool reverse;  ///< the number is the left operand
  Gradient gradient;
  const char* alias;
};

constexpr Entry kEntries[] = {
    {"_plus_scalar", "add", false, Gradient::kHead, "_PlusScalar"},
    {"_minus_scalar", "sub", false, Gradient::kHead, "_MinusScalar"},
    {"_rminus_scalar", "sub", true, Gradient::kNegative, "_RMinusScalar"},
    {"_mul_scalar", "mul", false, Gradient::kSelf, "_MulScalar"},
    {"_div_scalar", "div", false, Gradient::kSelf, "_DivScalar"},
    {"_rdiv_scalar", "div", true, Gradient::kNode, "_RDivScalar"},
    {"_mod_scalar", "mod", false, Gradient::kHead, "_ModScalar"},
    {"_rmod_scalar", "mod", true, Gradient::kNode, "_RModScalar"},
    {"_power_scalar", "power", false, Gradient::kNode, "_PowerScalar"},
    {"_rpower_scalar", "power", true, Gradient::kNode, "_RPowerScalar"},
    {"_maximum_scalar", "maximum", false, Gradient::kNode, "_MaximumScalar"},
    {"_minimum_scalar", "minimum", false, Gradient::kNode, "_MinimumScalar"},
    {"_hypot_scalar", "hypot", false, Gradient::kNode, "_HypotScalar"},
    {"_equal_scalar", "equal", false, Gradient::kNone, "_EqualScalar"},
    {"_not_equal_scalar", "not_equal", false, Gradient::kNone, "_NotEqualScalar"},
    {"_greater_scalar", "greater", false, Gradient::kNone, "_GreaterScalar"},
    {"_greater_equal_scalar", "greater_equal", false, Gradient::kNone, "_GreaterEqualScalar"},
    {"_lesser_scalar", "lesser", false, Gradient::kNone, "_LesserScalar"},
    {"_lesser_equal_scalar", "lesser_equal", false, Gradient::kNone, "_LesserEqualScalar"},
    {"_logical_and_scalar", "logical_and", false, Gradient::kNone, "_LogicalAndScalar"},
    {"_logical_or_scalar", "logical_or", false, Gradient::kNone, "_LogicalOrScalar"},
    {"_logical_xor_scalar", "logical_xor", false, Gradient::kNone, "_LogicalXorScalar"},
};

std::string backward_name(const Entry& e) { return std::string("_backward") + e.name; }

void infer(const ScalarAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

NodeEntries gradient_entry(const Entry& e, GradientBuilder& g) {
  switch (e.gradient) {
    case Gradient::kNone: return {{}};
    case Gradient::kHead: return {g.head(0)};
    case Gradient::kNegative: return {g.call("negative", {g.head(0)})};
    case Gradient::kSelf: return g.call_with_same_attrs(e.name, {g.head(0)});
    case Gradient::kNode: return g.call_with_same_attrs(backward_name(e), {g.head(0), g.input(0)});
  }
  return {};
}

/// The slope of the derivative, for gradients of gradients: of s/x, x^s, s^x.
struct Second {
  const char* name;
  Expression (*of)(const Expression& x, double s);
};
constexpr Second kSecond[] = {
    {"_rdiv_scalar", [](const Expression& x, double s) { return 2.0 * s * x.pow(-3); }},
    {"_power_scalar", [](const Expression& x, double s) { return s * (s - 1) * x.pow(s - 2); }},
    {"_rpower_scalar",
     [](const Expression& x, double s) {
       return std::log(s) * std::log(s) * x.with("_rpower_scalar", s);
     }},
};
const Second* second_of(const Entry& e) {
  const auto* it = std::ranges::find(kSecond, std::string_view(e.name),
                                     [](const Second& s) { return std::string_view(s.name); });
  return it == std::end(kSecond) ? nullptr : it;
}

/// Of _backward_name(dy, x), which is linear in dy.
NodeEntries gradient_of_backward(const Entry& e, const ScalarAttrs& a, GradientBuilder& g) {
  const Expression head(g, g.head(0)), dy(g, g.input(0)), x(g, g.input(1));
  return {g.call_with_same_attrs(backward_name(e), {head.entry(), x.entry()}).front(),
          g.wanted(1) ? (head * dy * second_of(e)->of(x, a.scalar)).entry() : NodeEntry{}};
}

Offer offer(const ScalarAttrs&, const KernelRequest& request) {
  return accept_same_layout(request);
}

Prepared prepare_forward(const Entry& e, const KernelRequest& request) {
  const TensorDesc& out = request.out[0];
  const ElementType type = element_type(out.dtype);
  const Operand form = e.reverse ? Operand::kLeftValue : Operand::kRightValue;
  const BinaryRun run(
      binary_function(e.function).loops[static_cast<int>(type.compute)][static_cast<int>(form)],
      type);
  const std::int64_t n = out.shape.size();
  if (type.load == nullptr && n <= run.grain && out.dtype == DType::kFloat32)  // the short path
    return [loop = run.loop, n, reverse = e.reverse](const Args& a) {
      const auto s = static_cast<float>(a.values[0]);
      const void* x = a.inputs[0].data;
      reverse ? loop(&s, x, a.outputs[0].data, n) : loop(x, &s, a.outputs[0].data, n);
    };
  return [run, n, form, dtype = out.dtype](const Args& a) {
    const ComputeValue s = scalar_as(a.values[0], dtype, run.type.compute);
    const void* x = a.inputs[0].data;
    if (form == Operand::kLeftValue)
      run(&s, x, a.outputs[0].data, n, form);
    else
      run(x, &s, a.outputs[0].data, n, form);
  };
}

Prepared prepare_backward(const Entry& e, const KernelRequest& request) {
  const Shape& shape = request.out[0].shape;
  const DType dtype = request.out[0].dtype;
  const ElementType type = element_type(dtype, Compute::kDouble);
  const BinaryGradient& f = binary_gradient(e.function, dtype);
  const auto* forms =
      e.reverse ? f.right[static_cast<int>(type.compute)] : f.left[static_cast<int>(type.compute)];
  const BroadcastWalk walk =
      e.reverse ? BroadcastWalk({}, shape, shape) : BroadcastWalk(shape, {}, shape);
  return [forms, type, dtype, walk, reverse = e.reverse](const Args& a) {
    alignas(8) char s[8];
    converter_from(Compute::kDouble, dtype)(&a.values[0], s, 1);
    const void *g = a.inputs[0].data, *x = a.inputs[1].data;
    run_broadcast(walk, forms, type, g, reverse ? s : x, reverse ? x : s, a.outputs[0].data);
  };
}

using GradientRule = NodeEntries (*)(const ScalarAttrs&, GradientBuilder&);

void add(OpRegistry& r, const Entry& e, GradientRule gradient, GradientRule gradient_of_gradient) {
  r.add<ScalarAttrs>(e.name)
      .slices(Slices::kFirst)
      .precision(Precision::kAsStored)
      .flops(1)
      .doc(std::string("Elementwise ") + e.function +
           (e.reverse ? " of a number and an array." : " of an array and a number."))
      .alias(e.alias)
      .infer(infer)
      .gradient(gradient)
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "native", offer,
              [&e](const ScalarAttrs&, const KernelRequest& q, const Offer&) {
                return prepare_forward(e, q);
              });
  if (e.gradient != Gradient::kNode) return;
  auto backward = r.add<ScalarAttrs>(backward_name(e));
  backward.precision(Precision::kAsStored);
  if (second_of(e) != nullptr) backward.gradient(gradient_of_gradient);
  backward.inputs(std::vector<std::string>{"head", "data"})
      .flops(1)
      .infer(infer)
      .backward()
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "native", offer,
              [&e](const ScalarAttrs&, const KernelRequest& q, const Offer&) {
                return prepare_backward(e, q);
              });
}

}  // namespace

void register_scalar(OpRegistry& r) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (add(
         r, kEntries[I],
         [](const ScalarAttrs&, GradientBuilder& g) { return gradient_entry(kEntries[I], g); },
         [](const ScalarAttrs& a, GradientBuilder& g) {
           return gradient_of_backward(kEntries[I], a, g);
         }),
     ...);
  }
  (std::make_index_sequence<std::size(kEntries)>());
}

}  // namespace symbind
