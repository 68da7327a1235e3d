// One array broadcast to a shape: broadcast_to, broadcast_axis, broadcast_like.
//
// Decided here: axes of extent 1 repeat; the gradient is the sum over the repeated axes
// (_sum_like). In broadcast_to an extent 0 means the input's extent.
#include <symbind/operator.h>

#include "base/check.h"
#include "kernels/copy_block.h"
#include "kernels/reduce.h"

namespace symbind {
namespace {

struct BroadcastToAttrs {
  Tuple shape;
  void describe(AttrVisitor& v) {
    v.field("shape", shape, "The shape to broadcast to; 0 keeps the input's extent.");
  }
};
struct BroadcastAxisAttrs {
  Tuple axis, size;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axes to broadcast.");
    v.field("size", size, "Their new extents.");
  }
};
struct BroadcastLikeAttrs {
  std::optional<Tuple> lhs_axes, rhs_axes;
  void describe(AttrVisitor& v) {
    v.field("lhs_axes", lhs_axes, "Axes of lhs to broadcast; None means all.");
    v.field("rhs_axes", rhs_axes, "Axes of rhs that give the extents.");
  }
};

/// Axis d gets this extent; while that is unknown, an axis of extent 1 may get any extent.
void set_extent(Shape& out, const Shape& in, int d, std::int64_t extent) {
  check(in[d] == 1 || in[d] < 0 || extent < 0 || in[d] == extent, ErrorKind::kShape,
        "cannot broadcast axis {} of shape {} to {}: its extent is not 1", d, in.str(), extent);
  if (extent >= 0 || in[d] == 1) out[d] = extent;
}

void infer_to(const BroadcastToAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  const Shape target(a.shape);
  check(in.rank() == target.rank(), ErrorKind::kShape,
        "cannot broadcast shape {} to {}: the ranks differ", in.str(), target.str());
  Shape out = in;
  for (int d = 0; d < in.rank(); ++d)
    if (target[d] != 0) set_extent(out, in, d, target[d]);
  io.set_shape(io.out(0), out, "attribute shape");
}

void infer_axis(const BroadcastAxisAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  check(a.axis.size() == a.size.size(), "broadcast_axis has {} axes but {} sizes", a.axis.size(),
        a.size.size());
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  Shape out = in;
  for (std::size_t i = 0; i < a.axis.size(); ++i)
    set_extent(out, in, normalize_axis(a.axis[i], in.rank()), a.size[i]);
  io.set_shape(io.out(0), out, "attributes axis and size");
}

void infer_like(const BroadcastLikeAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape in = io.shape(io.in(0)), like = io.shape(io.in(1));
  if (!in.rank_known() || !like.rank_known()) return;
  Shape out = in;
  if (!a.lhs_axes || !a.rhs_axes) {
    check(in.rank() == like.rank(), ErrorKind::kShape,
          "cannot broadcast shape {} to {}: the ranks differ", in.str(), like.str());
    for (int d = 0; d < in.rank(); ++d) set_extent(out, in, d, like[d]);
  } else {
    check(a.lhs_axes->size() == a.rhs_axes->size() && !a.lhs_axes->empty(),
          "lhs_axes and rhs_axes must have the same length, at least 1");
    for (std::size_t i = 0; i < a.lhs_axes->size(); ++i)
      set_extent(out, in, normalize_axis((*a.lhs_axes)[i], in.rank()),
                 like[normalize_axis((*a.rhs_axes)[i], like.rank())]);
  }
  io.set_shape(io.out(0), out, "the extents of rhs");
}

template <class A>
NodeEntries gradient(const A&, GradientBuilder& g) {
  NodeEntries result(static_cast<std::size_t>(g.num_inputs()));
  result[0] = g.call("_sum_like", {g.head(0), g.input(0)});
  return result;
}

template <class A>
Prepared prepare(const A&, const KernelRequest& q) {
  BlockCopy copy{.shape = q.out[0].shape,
                 .to = contiguous_strides(q.out[0].shape),
                 .element_bytes = size_of(q.out[0].dtype)};
  const Shape& in = q.in[0].shape;
  copy.from = contiguous_strides(in);
  for (int d = 0; d < in.rank(); ++d)
    if (in[d] == 1) copy.from[static_cast<std::size_t>(d)] = 0;
  return [copy](const Args& a) { copy(a.outputs[0].data, a.inputs[0].data); };
}

}  // namespace

void register_broadcast_to(OpRegistry& r) {
  r.add<BroadcastToAttrs>("broadcast_to")
      .flops(0)
      .doc("The input broadcast to a shape.")
      .infer(infer_to)
      .gradient(gradient)
      .reference(prepare);
  r.add<BroadcastAxisAttrs>("broadcast_axis")
      .flops(0)
      .doc("The input broadcast along axes.")
      .alias("broadcast_axes")
      .infer(infer_axis)
      .gradient(gradient)
      .reference(prepare);
  r.add<BroadcastLikeAttrs>("broadcast_like")
      .flops(0)
      .doc("lhs broadcast to the shape of rhs.")
      .inputs(std::vector<std::string>{"lhs", "rhs"})
      .infer(infer_like)
      .gradient(gradient)
      .reference(prepare);
}

}  // namespace symbind
