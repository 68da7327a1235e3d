// Axes in reverse order: y[…, i, …] = x[…, n-1-i, …]. The gradient is reversed the same way.
//
// Decided here: negative axes count from the end (MXNet refuses them); an axis named twice is
// reversed twice, which has no effect.
#include <symbind/operator.h>

#include "kernels/copy_block.h"

namespace symbind {
namespace {

struct ReverseAttrs {
  Tuple axis;
  void describe(AttrVisitor& v) { v.field("axis", axis, "The axes to reverse.").required(); }
};

void infer(const ReverseAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  const Shape& in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  for (const std::int64_t axis : a.axis) normalize_axis(axis, in.rank());
}

Prepared prepare(const ReverseAttrs& a, const KernelRequest& q) {
  const Shape& in = q.in[0].shape;
  const Strides strides = contiguous_strides(in);
  BlockCopy copy{
      .shape = in, .to = strides, .from = strides, .element_bytes = size_of(q.in[0].dtype)};
  for (const std::int64_t named : a.axis) {
    const int axis = normalize_axis(named, in.rank());
    std::int64_t& step = copy.from[static_cast<std::size_t>(axis)];
    copy.from_offset += (in[axis] - 1) * step;
    step = -step;
  }
  if (in.size() == 0) return [](const Args&) {};
  return [copy](const Args& args) { copy(args.outputs[0].data, args.inputs[0].data); };
}

}  // namespace

void register_reverse(OpRegistry& r) {
  r.add<ReverseAttrs>("reverse")
      .flops(0)
      .inputs(std::vector<std::string>{"data"})
      .doc("The elements in reverse order along axes.")
      .alias("flip")
      .infer(infer)
      .gradient([](const ReverseAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("reverse", {g.head(0)});
      })
      .reference(prepare);
}

}  // namespace symbind
