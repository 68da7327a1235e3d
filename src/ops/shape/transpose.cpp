// Axes in another order: transpose and SwapAxis. The gradient is the inverse order.
#include <symbind/operator.h>

#include "base/check.h"
#include "kernels/copy_block.h"

namespace symbind {
namespace {

struct TransposeAttrs {
  Tuple axes;
  void describe(AttrVisitor& v) {
    v.field("axes", axes, "Output axis k is input axis axes[k]; () reverses the order.");
  }
};
struct SwapAxisAttrs {
  int dim1 = 0, dim2 = 0;
  void describe(AttrVisitor& v) {
    v.field("dim1", dim1, "The first axis.");
    v.field("dim2", dim2, "The axis it is swapped with.");
  }
};

using Order = std::vector<int>;

Order order_of(const TransposeAttrs& a, int rank) {
  Order order;
  if (a.axes.empty()) {
    for (int d = rank - 1; d >= 0; --d) order.push_back(d);
    return order;
  }
  check(static_cast<int>(a.axes.size()) == rank, ErrorKind::kShape,
        "axes {} has {} members for an input of rank {}", tuple_text(a.axes), a.axes.size(), rank);
  std::array<bool, kMaxRank> seen{};
  for (const std::int64_t axis : a.axes) {
    const int d = normalize_axis(axis, rank);
    check(!seen[static_cast<std::size_t>(d)], "axes {} names axis {} twice", tuple_text(a.axes),
          axis);
    seen[static_cast<std::size_t>(d)] = true;
    order.push_back(d);
  }
  return order;
}

Order order_of(const SwapAxisAttrs& a, int rank) {
  Order order;
  for (int d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order[static_cast<std::size_t>(normalize_axis(a.dim1, rank))],
            order[static_cast<std::size_t>(normalize_axis(a.dim2, rank))]);
  return order;
}

template <class A>
void infer(const A& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape in = io.shape(io.in(0)), out = io.shape(io.out(0));
  const int rank = in.rank_known() ? in.rank() : out.rank();
  if (rank < 0) return;
  const Order order = order_of(a, rank);
  if (in.rank_known()) {
    Shape moved;
    for (const int d : order) moved.push_back(in[d]);
    io.set_shape(io.out(0), moved, "the input's axes in their new order");
  }
  if (io.shape(io.out(0)).rank_known()) {
    const Shape& known = io.shape(io.out(0));
    Shape back = Shape::of_rank(rank);
    for (int k = 0; k < rank; ++k) back[order[static_cast<std::size_t>(k)]] = known[k];
    io.set_shape(io.in(0), back, "the output's axes in their old order");
  }
}

NodeEntries gradient(const TransposeAttrs& a, GradientBuilder& g) {
  AttrDict attrs;
  if (!a.axes.empty()) {
    // When an operator is recorded, no shape has been inferred yet: the axes are unchecked.
    const Order order = order_of(a, Shape::of_rank(static_cast<int>(a.axes.size())).rank());
    Tuple inverse(order.size());
    for (std::size_t k = 0; k < order.size(); ++k)
      inverse[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(k);
    attrs["axes"] = tuple_text(inverse);
  }
  return {g.call("transpose", {g.head(0)}, attrs)};
}
NodeEntries gradient_swap(const SwapAxisAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("SwapAxis", {g.head(0)});
}

template <class A>
Prepared prepare(const A& a, const KernelRequest& q) {
  const Shape& out = q.out[0].shape;
  const Strides from = contiguous_strides(q.in[0].shape);
  BlockCopy copy{
      .shape = out, .to = contiguous_strides(out), .element_bytes = size_of(q.out[0].dtype)};
  const Order order = order_of(a, out.rank());
  for (std::size_t k = 0; k < order.size(); ++k)
    copy.from[k] = from[static_cast<std::size_t>(order[k])];
  return [copy](const Args& args) { copy(args.outputs[0].data, args.inputs[0].data); };
}

}  // namespace

void register_transpose(OpRegistry& r) {
  r.add<TransposeAttrs>("transpose")
      .precision(Precision::kAsStored)
      .flops(0)
      .slices([](const TransposeAttrs& a, std::span<const Shape> in, const Shape& out) {
        return std::vector<bool>(order_of(a, out.rank()).front() == 0 ? in.size() : 0, true);
      })
      .doc("The axes in another order.")
      .infer(infer)
      .gradient(gradient)
      .reference(prepare);
  r.add<SwapAxisAttrs>("SwapAxis")
      .precision(Precision::kAsStored)
      .flops(0)
      .inputs(std::vector<std::string>{"data"})
      .doc("Swaps two axes.")
      .alias("swapaxes")
      .infer(infer)
      .gradient(gradient_swap)
      .reference(prepare);
}

}  // namespace symbind
