// Functions of two arrays of equal shape: y[i] = f(a[i], b[i]).
// The functions are in kernels/elementwise_functors.h. Gradients are written as graph nodes where a
// forward operator computes them (a·b), else as one backward operator with both gradients as
// outputs. Decided here: shapes are never broadcast (broadcast_add and similar do that); the result
// of a comparison has the operands' type, as in MXNet.
#include <utility>

#include <symbind/operator.h>

#include "base/build.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/launch.h"
#include "kernels/elementwise.h"

namespace symbind {
namespace {

enum class Gradient { kNone, kAdd, kSub, kMul, kNode };

struct Entry {
  const char* name;
  const char* function;
  const char* broadcast;  ///< the operator that broadcasts, for the error's hint
  Gradient gradient;
  std::vector<const char*> aliases;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> table = {
      {"elemwise_add", "add", "broadcast_add", Gradient::kAdd, {"_add", "_plus", "_Plus"}},
      {"_grad_add", "add", "broadcast_add", Gradient::kAdd, {}},
      {"elemwise_sub", "sub", "broadcast_sub", Gradient::kSub, {"_sub", "_minus", "_Minus"}},
      {"elemwise_mul", "mul", "broadcast_mul", Gradient::kMul, {"_mul", "_Mul"}},
      {"elemwise_div", "div", "broadcast_div", Gradient::kNode, {"_div", "_Div"}},
      {"_mod", "mod", "broadcast_mod", Gradient::kNode, {"_Mod"}},
      {"_power", "power", "broadcast_power", Gradient::kNode, {"_Power"}},
      {"_maximum", "maximum", "broadcast_maximum", Gradient::kNode, {"_Maximum"}},
      {"_minimum", "minimum", "broadcast_minimum", Gradient::kNode, {"_Minimum"}},
      {"_hypot", "hypot", "broadcast_hypot", Gradient::kNode, {"_Hypot"}},
      {"_equal", "equal", "broadcast_equal", Gradient::kNone, {"_Equal"}},
      {"_not_equal", "not_equal", "broadcast_not_equal", Gradient::kNone, {"_Not_Equal"}},
      {"_greater", "greater", "broadcast_greater", Gradient::kNone, {"_Greater"}},
      {"_greater_equal",
       "greater_equal",
       "broadcast_greater_equal",
       Gradient::kNone,
       {"_Greater_Equal"}},
      {"_lesser", "lesser", "broadcast_lesser", Gradient::kNone, {"_Lesser"}},
      {"_lesser_equal",
       "lesser_equal",
       "broadcast_lesser_equal",
       Gradient::kNone,
       {"_Lesser_Equal"}},
      {"_logical_and", "logical_and", "broadcast_logical_and", Gradient::kNone, {"_Logical_And"}},
      {"_logical_or", "logical_or", "broadcast_logical_or", Gradient::kNone, {"_Logical_Or"}},
      {"_logical_xor", "logical_xor", "broadcast_logical_xor", Gradient::kNone, {"_Logical_Xor"}},
  };
  return table;
}
constexpr std::size_t kEntries = 19;

std::string backward_name(const Entry& e) { return std::string("_backward_") + e.function; }

/// Equal shapes for both operands and the result; suggests broadcasting if that would work.
void infer_entry(const Entry& e, Inference& io) {
  Shape common;
  const Shape a = io.shape(io.in(0)), b = io.shape(io.in(1));
  std::string because = std::string(e.name) + " needs operands of equal shape";
  if (a.rank_known() && b.rank_known() && broadcast_shape(a, b, common))
    because += std::string("; use ") + e.broadcast + " to broadcast one to the other";
  io.set_shape(io.in(1), a, because);
  io.set_shape(io.in(0), b, because);
  io.set_shape(io.out(0), a);
  io.same_shape(io.in(0), io.out(0));
  io.same_shape(io.in(1), io.out(0));
  io.all_same_dtype();
}

NodeEntries gradient_entry(const Entry& e, GradientBuilder& g) {
  const NodeEntry head = g.head(0);
  switch (e.gradient) {
    case Gradient::kNone: return {{}, {}};
    case Gradient::kAdd: return {head, head};
    case Gradient::kSub: return {head, g.wanted(1) ? g.call("negative", {head}) : NodeEntry{}};
    case Gradient::kMul:
      return {g.wanted(0) ? g.call("elemwise_mul", {head, g.input(1)}) : NodeEntry{},
              g.wanted(1) ? g.call("elemwise_mul", {head, g.input(0)}) : NodeEntry{}};
    case Gradient::kNode:
      return g.call_with_same_attrs(backward_name(e), {head, g.input(0), g.input(1)});
  }
  return {};
}

void infer_backward(const NoAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

Offer offer(const NoAttrs&, const KernelRequest& request) { return accept_same_layout(request); }

Prepared prepare_forward(const BinaryFunction& f, const KernelRequest& request) {
  const TensorDesc& out = request.out[0];
  const ElementType type = element_type(out.dtype);
  const BinaryLoop loop = f.loops[static_cast<int>(type.compute)][0];
  const std::int64_t n = out.shape.size();
  const BinaryRun run(loop, type);
  if (type.load == nullptr && n <= run.grain)  // the short path: nothing but the loop
    return [loop, n](const Args& a) {
      loop(a.inputs[0].data, a.inputs[1].data, a.outputs[0].data, n);
    };
  return [run, n](const Args& a) { run(a.inputs[0].data, a.inputs[1].data, a.outputs[0].data, n); };
}

Prepared prepare_backward(const BinaryGradient& f, const KernelRequest& request) {
  const Shape& shape = request.in[0].shape;
  const ElementType type = element_type(request.in[0].dtype, Compute::kDouble);
  return [&f, type, walk = BroadcastWalk(shape, shape, shape)](const Args& a) {
    const void *g = a.inputs[0].data, *x = a.inputs[1].data, *y = a.inputs[2].data;
    const auto c = static_cast<int>(type.compute);
    if (a.wants(0)) run_broadcast(walk, f.left[c], type, g, x, y, a.outputs[0].data);
    if (a.wants(1)) run_broadcast(walk, f.right[c], type, g, x, y, a.outputs[1].data);
  };
}

using InferRule = void (*)(const NoAttrs&, Inference&);
using GradientRule = NodeEntries (*)(const NoAttrs&, GradientBuilder&);

void add(OpRegistry& r, const Entry& e, InferRule infer, GradientRule gradient) {
  auto op = r.add(e.name)
                .precision(Precision::kAsStored)
                .flops(1)
                .slices(Slices::kElementwise)
                .doc(std::string("Elementwise ") + e.function + " of two arrays of equal shape.")
                .inputs(std::vector<std::string>{"lhs", "rhs"})
                .infer(infer)
                .gradient(gradient)
                .inplace(0, 0)
                .inplace(1, 0)
                .kernel(DeviceType::kCpu, "native", offer,
                        [&f = binary_function(e.function)](const NoAttrs&, const KernelRequest& q,
                                                           const Offer&) {
                          return prepare_forward(f, q);
                        });
  if (e.gradient == Gradient::kMul)
    op.as_epilogue([](const NoAttrs&) { return EpilogueItem{EpilogueItem::Kind::kProduct}; });
  if (e.gradient == Gradient::kAdd) {
    op.as_epilogue([](const NoAttrs&) { return EpilogueItem{EpilogueItem::Kind::kSum}; });
    op.kernel_if<kCuda>(
        DeviceType::kGpu, "cuda",
        [](const NoAttrs&, const KernelRequest& q) { return cuda::offer_floats(q); },
        [](const NoAttrs&, const KernelRequest& q, const Offer&) -> Prepared {
          return
              [number = cuda::number_of(q.out[0].dtype), n = q.out[0].shape.size()](const Args& a) {
                cuda::check_launch(cuda::add(a.run->stream, number, a.inputs[0].data,
                                             a.inputs[1].data, a.outputs[0].data, n),
                                   "add");
              };
        });
  }
  for (const char* alias : e.aliases) op.alias(alias);
  if (e.gradient != Gradient::kNode) return;
  r.add(backward_name(e))
      .precision(Precision::kAsStored)
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

template <std::size_t I>
void add_numbered(OpRegistry& r) {
  add(
      r, entries()[I], [](const NoAttrs&, Inference& io) { infer_entry(entries()[I], io); },
      [](const NoAttrs&, GradientBuilder& g) { return gradient_entry(entries()[I], g); });
}

}  // namespace

void register_binary(OpRegistry& r) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (add_numbered<I>(r), ...); }
  (std::make_index_sequence<kEntries>());
}

}  // namespace symbind
