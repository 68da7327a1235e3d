// Functions of two arrays that are broadcast to one shape: axes of extent 1 repeat, missing leading
// axes count as extent 1.
// The functions are in kernels/elementwise_functors.h. A gradient is formed in the broadcast shape
// and summed over the axes along which its operand was broadcast (_sum_like). No in-place hints: a
// result must never overwrite an operand that is read again for the next row.
#include <utility>

#include <symbind/operator.h>

#include "base/check.h"
#include "kernels/copy_block.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"

namespace symbind {
namespace {

enum class Gradient { kNone, kAdd, kSub, kMul, kNode };

struct Entry {
  const char* name;
  const char* function;
  Gradient gradient;
  const char* alias = nullptr;
};

constexpr Entry kEntries[] = {
    {"broadcast_add", "add", Gradient::kAdd, "broadcast_plus"},
    {"broadcast_sub", "sub", Gradient::kSub, "broadcast_minus"},
    {"broadcast_mul", "mul", Gradient::kMul},
    {"broadcast_div", "div", Gradient::kNode},
    {"broadcast_mod", "mod", Gradient::kNode},
    {"broadcast_power", "power", Gradient::kNode},
    {"broadcast_maximum", "maximum", Gradient::kNode},
    {"broadcast_minimum", "minimum", Gradient::kNode},
    {"broadcast_hypot", "hypot", Gradient::kNode},
    {"broadcast_equal", "equal", Gradient::kNone},
    {"broadcast_not_equal", "not_equal", Gradient::kNone},
    {"broadcast_greater", "greater", Gradient::kNone},
    {"broadcast_greater_equal", "greater_equal", Gradient::kNone},
    {"broadcast_lesser", "lesser", Gradient::kNone},
    {"broadcast_lesser_equal", "lesser_equal", Gradient::kNone},
    {"broadcast_logical_and", "logical_and", Gradient::kNone},
    {"broadcast_logical_or", "logical_or", Gradient::kNone},
    {"broadcast_logical_xor", "logical_xor", Gradient::kNone},
};

std::string backward_name(const Entry& e) { return std::string("_backward_") + e.name; }

void infer_operands(Inference& io, Inference::Ref a, Inference::Ref b, Inference::Ref out) {
  Shape shape;
  check(broadcast_shape(io.shape(a), io.shape(b), shape), ErrorKind::kShape,
        "shapes {} and {} cannot be broadcast together: each pair of extents, counted from the "
        "right, must be equal or contain a 1",
        io.shape(a).str(), io.shape(b).str());
  io.set_shape(out, shape, "both operands are broadcast to this shape");
}

void infer(const NoAttrs&, Inference& io) {
  infer_operands(io, io.in(0), io.in(1), io.out(0));
  io.all_same_dtype();
}

void infer_backward(const NoAttrs&, Inference& io) {
  infer_operands(io, io.in(1), io.in(2), io.in(0));
  io.same_shape(io.in(0), io.out(0));
  io.same_shape(io.in(0), io.out(1));
  io.all_same_dtype();
}

void infer_sum_like(const NoAttrs&, Inference& io) {
  infer_operands(io, io.in(0), io.in(1), io.in(0));
  io.same_shape(io.in(1), io.out(0));
  io.all_same_dtype();
}

NodeEntries gradient_entry(const Entry& e, GradientBuilder& g) {
  NodeEntries full(2);
  const NodeEntry head = g.head(0);
  switch (e.gradient) {
    case Gradient::kNone: return full;
    case Gradient::kAdd: full = {head, head}; break;
    case Gradient::kSub:
      full = {head, g.wanted(1) ? g.call("negative", {head}) : NodeEntry{}};
      break;
    case Gradient::kMul:
      for (int i = 0; i < 2; ++i)
        if (g.wanted(i))
          full[static_cast<std::size_t>(i)] = g.call("broadcast_mul", {head, g.input(1 - i)});
      break;
    case Gradient::kNode:
      full = g.call_with_same_attrs(backward_name(e), {head, g.input(0), g.input(1)});
      break;
  }
  for (int i = 0; i < 2; ++i) {
    NodeEntry& entry = full[static_cast<std::size_t>(i)];
    if (g.wanted(i)) entry = g.call("_sum_like", {entry, g.input(i)});
  }
  return full;
}

/// Operands of equal shape may keep any layout.
Offer offer(const NoAttrs&, const KernelRequest& request) { return accept_same_layout(request); }

Prepared prepare_forward(const BinaryFunction& f, const KernelRequest& q) {
  const ElementType type = element_type(q.out[0].dtype);
  const auto* forms = f.loops[static_cast<int>(type.compute)];
  return [forms, type,
          walk = BroadcastWalk(q.in[0].shape, q.in[1].shape, q.out[0].shape)](const Args& a) {
    run_broadcast(walk, forms, type, a.inputs[0].data, a.inputs[1].data, a.outputs[0].data);
  };
}

Prepared prepare_backward(const BinaryGradient& f, const KernelRequest& q) {
  const ElementType type = element_type(q.in[0].dtype, Compute::kDouble);
  return
      [&f, type, walk = BroadcastWalk(q.in[1].shape, q.in[2].shape, q.in[0].shape)](const Args& a) {
        const void *g = a.inputs[0].data, *x = a.inputs[1].data, *y = a.inputs[2].data;
        const auto c = static_cast<int>(type.compute);
        if (a.wants(0)) run_broadcast(walk, f.left[c], type, g, x, y, a.outputs[0].data);
        if (a.wants(1)) run_broadcast(walk, f.right[c], type, g, x, y, a.outputs[1].data);
      };
}

Prepared prepare_sum_like(const NoAttrs&, const KernelRequest& q, const Offer&) {
  const Shape &large = q.in[0].shape, &small = q.out[0].shape;
  if (large.size() == small.size())
    return [bytes = q.out[0].bytes()](const Args& a) {
      copy_bytes(a.outputs[0].data, a.inputs[0].data, bytes);
    };
  return [sum = Reducer(Reduction::kSum, q.in[0].dtype, large, broadcast_axes(large, small))](
             const Args& a) { sum(a.inputs[0].data, a.outputs[0].data); };
}

void add(OpRegistry& r, const Entry& e, NodeEntries (*gradient)(const NoAttrs&, GradientBuilder&)) {
  auto op =
      r.add(e.name)
          .flops(1)
          .doc(std::string("Elementwise ") + e.function + " of two arrays, broadcast to one shape.")
          .inputs(std::vector<std::string>{"lhs", "rhs"})
          .infer(infer)
          .gradient(gradient)
          .kernel(
              DeviceType::kCpu, "native", offer,
              [&f = binary_function(e.function)](const NoAttrs&, const KernelRequest& q,
                                                 const Offer&) { return prepare_forward(f, q); });
  if (e.alias != nullptr) op.alias(e.alias);
  if (e.gradient == Gradient::kAdd)
    op.as_epilogue([](const NoAttrs&) { return EpilogueItem{EpilogueItem::Kind::kSum}; });
  if (e.gradient != Gradient::kNode) return;
  r.add(backward_name(e))
      .inputs(std::vector<std::string>{"head", "lhs", "rhs"})
      .outputs({"lhs_grad", "rhs_grad"})
      .skips_unread()
      .infer(infer_backward)
      .backward()
      .kernel(DeviceType::kCpu, "native", offer,
              [function = e.function](const NoAttrs&, const KernelRequest& q, const Offer&) {
                return prepare_backward(binary_gradient(function, q.in[0].dtype), q);
              });
}

}  // namespace

void register_broadcast(OpRegistry& r) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (add(r, kEntries[I],
         [](const NoAttrs&, GradientBuilder& g) { return gradient_entry(kEntries[I], g); }),
     ...);
  }
  (std::make_index_sequence<std::size(kEntries)>());
  r.add("_sum_like")
      .flops(1, Per::kFirstInput)
      .doc("head summed over the axes along which `like` was broadcast to it.")
      .inputs(std::vector<std::string>{"head", "like"})
      .infer(infer_sum_like)
      .shape_only({1})
      .gradient([](const NoAttrs&, GradientBuilder& g) -> NodeEntries {
        const NodeEntry ones = g.call("ones_like", {g.input(0)});  // it may have more axes
        return {g.call("broadcast_mul", {ones, g.head(0)}), {}};
      })
      .backward()
      .kernel(DeviceType::kCpu, "native", offer, prepare_sum_like);
}

}  // namespace symbind
