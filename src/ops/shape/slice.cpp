// Parts of an array: slice (begin, end, step per axis), slice_axis (one axis), slice_like; and
// _slice_assign, _slice_assign_scalar, which write to the part that slice reads.
//
// Decided here: bounds have Python's meaning, but reading an empty part is an error; writing one
// has no effect. The gradient of reading is zero outside the part, that of writing is zero inside.
// A part with whole blocks of channels keeps its layout.
#include <algorithm>
#include <limits>

#include <symbind/operator.h>

#include "base/check.h"
#include "kernels/channel_lanes.h"
#include "kernels/copy_block.h"
#include "ndarray/convert.h"

namespace symbind {
namespace {

/// A member of begin or end that was written None.
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

struct SliceAttrs {
  Tuple begin, end, step;
  void describe(AttrVisitor& v) {
    v.field("begin", begin, "First index per axis; None starts at the edge.").required();
    v.field("end", end, "Index after the last, per axis; None goes to the edge.").required();
    v.field("step", step, "Step per axis; negative runs backwards.");
  }
};
struct SliceAxisAttrs {
  int axis = 0, begin = 0;
  std::optional<int> end;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axis to slice.").required();
    v.field("begin", begin, "First index; negative counts from the end.").required();
    v.field("end", end, "Index after the last; None goes to the edge.").required();
  }
};
struct SliceLikeAttrs {
  Tuple axes;
  void describe(AttrVisitor& v) { v.field("axes", axes, "The axes to slice; () means all."); }
};

struct SliceAssignScalarAttrs : SliceAttrs {
  double scalar = 0;
  void describe(AttrVisitor& v) {
    v.field("scalar", scalar, "The value that is written.").per_call();
    SliceAttrs::describe(v);
  }
};

/// One axis of a part.
struct Range {
  std::int64_t begin = 0, step = 1, count = kUnknownDim;
};

Range range_of(std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t extent,
               int axis, bool may_be_empty = false) {
  check(step != 0, "the step of a slice must not be 0");
  if (extent < 0) return {};
  const auto bound = [extent](std::int64_t at) { return at < 0 ? at + extent : at; };
  const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? extent : extent - 1;
  const std::int64_t first =
      begin == kNone ? (step > 0 ? 0 : extent - 1) : std::clamp(bound(begin), lowest, highest);
  const std::int64_t last =
      end == kNone ? (step > 0 ? extent : -1) : std::clamp(bound(end), lowest, highest);
  const std::int64_t distance = step > 0 ? last - first : first - last;
  const std::int64_t count = distance <= 0 ? 0 : (distance - 1) / (step > 0 ? step : -step) + 1;
  check(count > 0 || may_be_empty, ErrorKind::kValue,
        "slice [{}, {}) by {} of axis {} with extent {} is empty", begin == kNone ? 0 : begin,
        end == kNone ? extent : end, step, axis, extent);
  return {first, count > 1 ? step : 1, count};  // one element needs no step, which may be huge
}

using Ranges = std::vector<Range>;
Ranges whole(const Shape& in) {
  Ranges ranges;
  for (const std::int64_t extent : in) ranges.push_back({0, 1, extent});
  return ranges;
}

Ranges ranges_of(const SliceAttrs& a, const Shape& in, const Shape&, bool may_be_empty = false) {
  check(a.begin.size() == a.end.size() && static_cast<int>(a.begin.size()) <= in.rank(),
        ErrorKind::kShape, "begin {} and end {} do not fit an input of shape {}",
        tuple_text(a.begin), tuple_text(a.end), in.str());
  check(a.step.empty() || a.step.size() == a.begin.size(), ErrorKind::kShape,
        "step {} must have as many members as begin {}", tuple_text(a.step), tuple_text(a.begin));
  Ranges ranges = whole(in);
  for (std::size_t d = 0; d < a.begin.size(); ++d) {
    const std::int64_t step = a.step.empty() || a.step[d] == kNone ? 1 : a.step[d];
    ranges[d] = range_of(a.begin[d], a.end[d], step, in[static_cast<int>(d)], static_cast<int>(d),
                         may_be_empty);
  }
  return ranges;
}
Ranges ranges_of(const SliceAxisAttrs& a, const Shape& in, const Shape&) {
  Ranges ranges = whole(in);
  const int axis = normalize_axis(a.axis, in.rank());
  const std::int64_t extent = in[axis];
  check(extent < 0 ||
            (a.begin >= -extent && a.end.value_or(0) >= -extent && a.end.value_or(0) <= extent),
        ErrorKind::kValue, "slice_axis from {} to {} leaves axis {} with extent {}", a.begin,
        a.end ? std::to_string(*a.end) : "None", axis, extent);
  ranges[static_cast<std::size_t>(axis)] =
      range_of(a.begin, a.end ? *a.end : kNone, 1, in[axis], axis);
  return ranges;
}
Ranges ranges_of(const SliceLikeAttrs& a, const Shape& in, const Shape& like) {
  Ranges ranges = whole(in);
  if (!like.rank_known()) return Ranges(ranges.size());
  const auto cut = [&](std::int64_t axis) {
    const int d = normalize_axis(axis, in.rank()), k = normalize_axis(axis, like.rank());
    check(in[d] < 0 || like[k] <= in[d], ErrorKind::kShape,
          "axis {} of shape {} cannot be reduced to {}", axis, in.str(), like[k]);
    ranges[static_cast<std::size_t>(d)].count = like[k];
  };
  if (a.axes.empty()) {
    check(in.rank() == like.rank(), ErrorKind::kShape, "slice_like needs equal ranks: {} and {}",
          in.str(), like.str());
    for (int d = 0; d < in.rank(); ++d) cut(d);
  }
  for (const std::int64_t axis : a.axes) cut(axis);
  return ranges;
}

template <class A>
void infer(const A& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  const Ranges ranges =
      ranges_of(a, in, io.num_inputs() > 1 ? io.shape(io.in(1)) : Shape::unknown());
  Shape out;
  for (const Range& range : ranges) out.push_back(range.count);
  io.set_shape(io.out(0), out, "the part that begin, end and step describe");
}

// Inputs: head and data. The head has the extents that slice_like reduced to.
template <class A>
void infer_backward(const A& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  io.same_dtype(io.in(1), io.out(0));
  const Shape &head = io.shape(io.in(0)), &data = io.shape(io.in(1));
  if (!head.rank_known() || !data.rank_known()) return;
  check(head.rank() == data.rank(), ErrorKind::kShape, "a gradient {} for a part of {}", head.str(),
        data.str());
  Shape part;
  for (const Range& range : ranges_of(a, data, head)) part.push_back(range.count);
  io.set_shape(io.in(0), part, "the part that begin, end and step describe");
}

/// The layout in which the part can be copied: that of the whole, or plain.
Layout layout_of_part(const Ranges& ranges, const TensorDesc& whole) {
  if (whole.layout == Layout::kPlain || whole.shape.rank() < 3) return Layout::kPlain;
  const Range& channels = ranges[1];
  const bool fits = channels.step == 1 && has_whole_lanes(channels.begin, whole.layout) &&
                    has_whole_lanes(channels.count, whole.layout);
  return fits ? whole.layout : Layout::kPlain;
}

/// Ranges of all axes in the order of memory; the extents follow.
void store(Ranges& ranges, Shape& in, Layout layout) {
  if (layout == Layout::kPlain) return;
  if (layout == Layout::kChannelsLast) {
    std::rotate(ranges.begin() + 1, ranges.begin() + 2, ranges.end());
    std::vector<std::int64_t> extents = in.dims();
    std::rotate(extents.begin() + 1, extents.begin() + 2, extents.end());
    in = Shape(extents);
    return;
  }
  const std::int64_t lanes = channel_lanes(in, layout);
  ranges[1] = {ranges[1].begin / lanes, 1, ranges[1].count / lanes};
  ranges.push_back({0, 1, lanes});
  in[1] /= lanes;
  in.push_back(lanes);
}

/// The part within the whole: strides and offset.
BlockCopy part_of(Ranges ranges, Shape in, DType dtype, Layout layout = Layout::kPlain) {
  store(ranges, in, layout);
  BlockCopy copy{.element_bytes = size_of(dtype)};
  const Strides whole_strides = contiguous_strides(in);
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    copy.shape.push_back(ranges[d].count);
    copy.from[d] = whole_strides[d] * ranges[d].step;
    copy.from_offset += whole_strides[d] * ranges[d].begin;
  }
  copy.to = contiguous_strides(copy.shape);
  return copy;
}

template <class A>
Ranges ranges_of_request(const A& a, const KernelRequest& q) {
  return ranges_of(a, q.in[0].shape, q.in.size() > 1 ? q.in[1].shape : Shape::unknown());
}

template <class A>
Offer offer(const A& a, const KernelRequest& q) {
  Offer accepted = accept_plain(q);
  accepted.in_layouts[0] = accepted.out_layouts[0] =
      layout_of_part(ranges_of_request(a, q), q.in[0]);
  if (q.in.size() > 1) accepted.in_layouts[1] = q.in[1].layout;  // only its shape is read
  return accepted;
}

template <class A>
Prepared prepare(const A& a, const KernelRequest& q, const Offer& offer) {
  return
      [copy = part_of(ranges_of_request(a, q), q.in[0].shape, q.in[0].dtype, offer.in_layouts[0])](
          const Args& args) { copy(args.outputs[0].data, args.inputs[0].data); };
}

/// The gradient has the layout of the head.
template <class A>
Offer offer_backward(const A& a, const KernelRequest& q) {
  Offer accepted = accept_plain(q);
  accepted.in_layouts[0] = accepted.out_layouts[0] =
      layout_of_part(ranges_of(a, q.in[1].shape, q.in[0].shape),
                     {.shape = q.in[1].shape, .layout = q.in[0].layout});
  if (!has_whole_lanes(q.in[1].shape[1], accepted.in_layouts[0])) return accept_plain(q);
  return accepted;
}

template <class A>
Prepared prepare_backward(const A& a, const KernelRequest& q, const Offer& offer) {
  BlockCopy copy = part_of(ranges_of(a, q.in[1].shape, q.in[0].shape), q.in[1].shape, q.in[1].dtype,
                           offer.in_layouts[0]);
  std::swap(copy.to, copy.from);
  std::swap(copy.to_offset, copy.from_offset);
  return [copy, dtype = q.out[0].dtype, n = q.out[0].shape.size()](const Args& args) {
    fill(args.outputs[0].data, dtype, 0, n);
    copy(args.outputs[0].data, args.inputs[0].data);
  };
}

// ---- writing

void infer_assign_scalar(const SliceAssignScalarAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  const Shape& in = io.shape(io.in(0));
  if (in.rank_known()) ranges_of(a, in, in, true);
}
void infer_assign(const SliceAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  const Shape& in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  Shape part;
  for (const Range& range : ranges_of(a, in, in, true)) part.push_back(range.count);
  io.set_shape(io.in(1), part, "the part that begin, end and step describe");
}

AttrDict part_attrs(const SliceAttrs& a) {
  return {{"begin", tuple_text(a.begin)}, {"end", tuple_text(a.end)}, {"step", tuple_text(a.step)}};
}
template <class A>
NodeEntry outside(const A& a, GradientBuilder& g) {
  return g.call("_slice_assign_scalar", {g.head(0)}, part_attrs(a));
}
NodeEntries gradient_assign(const SliceAttrs& a, GradientBuilder& g) {
  return {g.wanted(0) ? outside(a, g) : NodeEntry{},
          g.wanted(1) ? g.call("slice", {g.head(0)}, part_attrs(a)) : NodeEntry{}};
}
NodeEntries gradient_assign_scalar(const SliceAssignScalarAttrs& a, GradientBuilder& g) {
  return {outside(a, g)};
}

/// From a dense part into its place in the whole.
BlockCopy into_part(const SliceAttrs& a, const TensorDesc& whole) {
  BlockCopy copy = part_of(ranges_of(a, whole.shape, whole.shape, true), whole.shape, whole.dtype);
  std::swap(copy.to, copy.from);
  std::swap(copy.to_offset, copy.from_offset);
  return copy;
}
Prepared prepare_assign(const SliceAttrs& a, const KernelRequest& q) {
  const BlockCopy copy = into_part(a, q.in[0]);
  return [copy, bytes = q.in[0].bytes(), empty = copy.shape.size() == 0](const Args& args) {
    copy_bytes(args.outputs[0].data, args.inputs[0].data, bytes);
    if (!empty) copy(args.outputs[0].data, args.inputs[1].data);
  };
}
Prepared prepare_assign_scalar(const SliceAssignScalarAttrs& a, const KernelRequest& q) {
  BlockCopy copy = into_part(a, q.in[0]);
  copy.from = Strides{};  // one value, everywhere
  return [copy, bytes = q.in[0].bytes(), dtype = q.in[0].dtype,
          empty = copy.shape.size() == 0](const Args& args) {
    copy_bytes(args.outputs[0].data, args.inputs[0].data, bytes);
    alignas(8) char value[8];
    fill(value, dtype, args.values[0], 1);
    if (!empty) copy(args.outputs[0].data, value);
  };
}

template <class A>
void add(OpRegistry& r, const std::string& name, const char* doc, std::vector<std::string> inputs,
         const char* alias, NodeEntries (*gradient)(const A&, GradientBuilder&)) {
  auto op = r.add<A>(name)
                .precision(Precision::kAsStored)
                .flops(0)
                .doc(doc)
                .infer(infer<A>)
                .gradient(gradient)
                .kernel(DeviceType::kCpu, "reference", offer<A>, prepare<A>);
  if (!inputs.empty()) op.inputs(std::move(inputs));
  if (alias != nullptr) op.alias(alias);
  r.add<A>("_backward_" + name)
      .precision(Precision::kAsStored)
      .flops(0)
      .inputs(std::vector<std::string>{"head", "data"})
      .infer(infer_backward<A>)
      .shape_only({1})
      .backward()
      .kernel(DeviceType::kCpu, "reference", offer_backward<A>, prepare_backward<A>);
}

}  // namespace

void register_slice(OpRegistry& r) {
  add<SliceAttrs>(r, "slice", "A part of the input: begin, end and step per axis.", {}, "crop",
                  [](const SliceAttrs&, GradientBuilder& g) {
                    return g.call_with_same_attrs("_backward_slice", {g.head(0), g.input(0)});
                  });
  add<SliceAxisAttrs>(
      r, "slice_axis", "A part of the input along one axis.", {}, nullptr,
      [](const SliceAxisAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_slice_axis", {g.head(0), g.input(0)});
      });
  add<SliceLikeAttrs>(r, "slice_like", "The input reduced to the extents of another array.",
                      {"data", "shape_like"}, nullptr,
                      [](const SliceLikeAttrs&, GradientBuilder& g) {
                        NodeEntries result =
                            g.call_with_same_attrs("_backward_slice_like", {g.head(0), g.input(0)});
                        result.emplace_back();
                        return result;
                      });
  r.add<SliceAttrs>("_slice_assign")
      .flops(0)
      .doc("A copy of lhs in which the part that begin, end and step describe is rhs.")
      .alias("_crop_assign")
      .inputs(std::vector<std::string>{"lhs", "rhs"})
      .infer(infer_assign)
      .gradient(gradient_assign)
      .inplace(0, 0)
      .reference(prepare_assign);
  r.add<SliceAssignScalarAttrs>("_slice_assign_scalar")
      .flops(0)
      .doc("A copy of data in which the part that begin, end and step describe is one value.")
      .alias("_crop_assign_scalar")
      .infer(infer_assign_scalar)
      .gradient(gradient_assign_scalar)
      .inplace(0, 0)
      .reference(prepare_assign_scalar);
}

}  // namespace symbind
