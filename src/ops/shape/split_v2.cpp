// An array split along an axis at given indices (_split_v2), or into equal parts.
//
// Decided here: `indices` holds where each part begins, the first of them 0; with `sections` it is
// ignored. The gradient joins the heads.
#include <symbind/operator.h>

#include "base/check.h"
#include "kernels/copy_block.h"

namespace symbind {
namespace {

struct SplitAttrs {
  Tuple indices;
  int axis = 1;
  bool squeeze_axis = false;
  int sections = 0;
  void describe(AttrVisitor& v) {
    v.field("indices", indices, "Where each part begins; the first is 0.").required();
    v.field("axis", axis, "The axis to split.");
    v.field("squeeze_axis", squeeze_axis, "Drops the axis; parts must have extent 1.");
    v.field("sections", sections, "Number of equal parts, instead of indices; 0 means none.")
        .at_least(0);
  }
  int parts() const { return sections > 0 ? sections : static_cast<int>(indices.size()); }
};

/// Where part i begins on an axis of this extent; the part after the last begins at the extent.
std::int64_t begin_of(const SplitAttrs& a, int i, std::int64_t extent) {
  if (a.sections > 0) return extent / a.sections * i;
  return i == a.parts() ? extent : a.indices[static_cast<std::size_t>(i)];
}

void check_parts(const SplitAttrs& a, const Shape& in, int axis) {
  const std::int64_t extent = in[axis];
  if (a.sections > 0) {
    check(extent % a.sections == 0, ErrorKind::kShape,
          "axis {} of shape {} cannot be split into {} equal parts", a.axis, in.str(), a.sections);
  } else {
    check(!a.indices.empty() && a.indices[0] == 0, ErrorKind::kValue,
          "indices {} must begin with 0, where the first part begins", tuple_text(a.indices));
  }
  for (int i = 0; i < a.parts(); ++i) {
    const std::int64_t begin = begin_of(a, i, extent), end = begin_of(a, i + 1, extent);
    check(begin <= end, ErrorKind::kValue,
          "part {} of axis {} of shape {} would begin at {} and end at {}; indices {} must ascend",
          i, a.axis, in.str(), begin, end, tuple_text(a.indices));
    check(!a.squeeze_axis || end - begin == 1, ErrorKind::kShape,
          "squeeze_axis needs parts of extent 1; part {} has {}", i, end - begin);
  }
}

void infer(const SplitAttrs& a, Inference& io) {
  io.all_same_dtype();
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  const int axis = normalize_axis(a.axis, in.rank());
  if (in[axis] >= 0) check_parts(a, in, axis);
  Shape back = in;
  for (int i = 0; i < io.num_outputs(); ++i) {
    Shape part;
    for (int d = 0; d < in.rank(); ++d) {
      if (d != axis)
        part.push_back(in[d]);
      else if (!a.squeeze_axis)
        part.push_back(in[d] < 0 ? kUnknownDim : begin_of(a, i + 1, in[d]) - begin_of(a, i, in[d]));
    }
    io.set_shape(io.out(i), part, "a part of the input");
    const Shape& known = io.shape(io.out(i));
    for (int d = 0, k = 0; d < in.rank(); ++d) {
      if (d != axis) back[d] = std::max(back[d], known[k]);
      if (d != axis || !a.squeeze_axis) ++k;
    }
  }
  io.set_shape(io.in(0), back, "the parts joined");
}

NodeEntries gradient(const SplitAttrs& a, GradientBuilder& g) {
  NodeEntries heads;
  for (int i = 0; i < a.parts(); ++i) heads.push_back(g.head(i));
  const std::string axis = std::to_string(a.axis), count = std::to_string(a.parts());
  if (a.squeeze_axis)
    return {g.call("stack", std::move(heads), {{"axis", axis}, {"num_args", count}})};
  return {g.call("Concat", std::move(heads), {{"dim", axis}, {"num_args", count}})};
}

Prepared prepare(const SplitAttrs& a, const KernelRequest& q) {
  const Shape& in = q.in[0].shape;
  const int axis = normalize_axis(a.axis, in.rank());
  const std::int64_t inner = in.count(axis + 1);
  std::vector<BlockCopy> copies;
  for (int i = 0; i < a.parts(); ++i) {
    const std::int64_t begin = begin_of(a, i, in[axis]), end = begin_of(a, i + 1, in[axis]);
    BlockCopy copy{.shape = Shape{in.count(0, axis), (end - begin) * inner},
                   .from_offset = begin * inner,
                   .element_bytes = size_of(q.in[0].dtype)};
    copy.to[0] = (end - begin) * inner;
    copy.from[0] = in[axis] * inner;
    copy.to[1] = copy.from[1] = 1;
    copies.push_back(copy);
  }
  return [copies](const Args& args) {
    for (std::size_t i = 0; i < copies.size(); ++i)
      if (args.wants(static_cast<int>(i)) && copies[i].shape.size() > 0)
        copies[i](args.outputs[i].data, args.inputs[0].data);
  };
}

}  // namespace

void register_split_v2(OpRegistry& r) {
  r.add<SplitAttrs>("_split_v2")
      .flops(0)
      .inputs(std::vector<std::string>{"data"})
      .doc("Splits the input along an axis, at given indices or into equal parts.")
      .outputs(
          [](const SplitAttrs& a) {
            std::vector<std::string> names;
            if (a.parts() == 1) return std::vector<std::string>{"output"};
            for (int i = 0; i < a.parts(); ++i) names.push_back("output" + std::to_string(i));
            return names;
          },
          [](const SplitAttrs& a) { return a.parts(); })
      .skips_unread()
      .infer(infer)
      .gradient(gradient)
      .reference(prepare);
}

}  // namespace symbind
