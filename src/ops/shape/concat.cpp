// Arrays joined along an axis (Concat), along a new axis (stack), and split into equal parts
// (SliceChannel).
//
// Decided here: rows of bytes are copied. Joined along the channels, samples of any layout are such
// rows, so Concat and SliceChannel keep a blocked layout when every part has whole blocks; then no
// reorder is needed.
#include <cstring>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/channel_lanes.h"

namespace symbind {
namespace {

struct ConcatAttrs {
  int num_args = 1;
  int dim = 1;
  void describe(AttrVisitor& v) {
    v.field("num_args", num_args, "Number of inputs.").required().at_least(1);
    v.field("dim", dim, "The axis along which inputs are joined; negative counts from the end.");
  }
};
struct StackAttrs {
  int axis = 0;
  int num_args = 1;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "Position of the new axis in the output.");
    v.field("num_args", num_args, "Number of inputs.").required().at_least(1);
  }
};
struct SliceChannelAttrs {
  int num_outputs = 1;
  int axis = 1;
  bool squeeze_axis = false;
  void describe(AttrVisitor& v) {
    v.field("num_outputs", num_outputs, "Number of parts; the axis must divide by it.")
        .required()
        .at_least(1);
    v.field("axis", axis, "The axis to split.");
    v.field("squeeze_axis", squeeze_axis, "Drops the axis; parts must have extent 1.");
  }
};

// ---- shapes

void infer_concat(const ConcatAttrs& a, Inference& io) {
  io.all_same_dtype();
  Shape common = io.shape(io.out(0));  // without the joined axis
  const auto forget_axis = [&](Shape s) {
    if (s.rank_known()) s[normalize_axis(a.dim, s.rank())] = kUnknownDim;
    return s;
  };
  common = forget_axis(common);
  const std::string because = "all inputs agree on every axis but axis " + std::to_string(a.dim);
  for (int i = 0; i < io.num_inputs(); ++i) {
    io.set_shape(io.in(i), common, because);
    merge(common, forget_axis(io.shape(io.in(i))));
  }
  if (!common.rank_known()) return;
  const int axis = normalize_axis(a.dim, common.rank());
  std::int64_t sum = 0;
  int unknown = -1, missing = 0;
  for (int i = 0; i < io.num_inputs(); ++i) {
    io.set_shape(io.in(i), common, because);
    const std::int64_t extent = io.shape(io.in(i))[axis];
    if (extent < 0)
      unknown = i, ++missing;
    else
      sum = checked_add(sum, extent, "the inputs' extents on the axis of Concat");
  }
  Shape out = common;
  if (missing == 0) out[axis] = sum;
  io.set_shape(io.out(0), out, "the inputs' extents on the axis add up");
  const std::int64_t total = io.shape(io.out(0))[axis];
  if (missing == 1 && total >= sum) {
    common[axis] = total - sum;
    io.set_shape(io.in(unknown), common, "the inputs' extents on the axis add up");
  }
}

// The missing extents of both directions of a first layer are equal.
void infer_rnn_params(const ConcatAttrs& a, Inference& io) {
  infer_concat(a, io);
  if (!io.shape(io.out(0)).rank_known()) return;
  const int axis = normalize_axis(a.dim, io.rank(io.out(0)));
  std::int64_t rest = io.shape(io.out(0))[axis];
  if (rest < 0) return;
  std::vector<int> unknown;
  for (int i = 0; i < io.num_inputs(); ++i) {
    const std::int64_t extent = io.shape(io.in(i))[axis];
    if (extent < 0)
      unknown.push_back(i);
    else
      rest -= extent;
  }
  if (unknown.size() != 2 || rest < 0 || rest % 2 != 0) return;
  for (const int i : unknown) {
    Shape half = io.shape(io.in(i));
    half[axis] = rest / 2;
    io.set_shape(io.in(i), half, "the layer's weights fill its parameters");
  }
}

void infer_backward_concat(const ConcatAttrs& a, Inference& io) {
  ForwardSides sides{.inputs = io.num_outputs(), .outputs = 1, .from = {io.out(0)}};
  for (int i = 0; i < io.num_outputs(); ++i) sides.from.push_back(io.in(i));
  tie_to_forward(a, io, infer_concat, sides);
  for (int i = 0; i < io.num_outputs(); ++i) io.same_shape(io.in(i + 1), io.out(i));
  io.all_same_dtype();
}

void infer_stack(const StackAttrs& a, Inference& io) {
  io.all_same_dtype();
  for (int round = 0; round < 2; ++round)
    for (int i = 1; i < io.num_inputs(); ++i) io.same_shape(io.in(0), io.in(i));
  const Shape in = io.shape(io.in(0)), known = io.shape(io.out(0));
  if (!in.rank_known() && !known.rank_known()) return;
  const int rank = in.rank_known() ? in.rank() + 1 : known.rank(),
            axis = normalize_axis(a.axis, rank);
  Shape out = Shape::of_rank(rank), part = Shape::of_rank(rank - 1);
  out[axis] = io.num_inputs();
  for (int d = 0, k = 0; d < rank; ++d) {
    if (d == axis) continue;
    if (in.rank_known()) out[d] = in[k];
    if (known.rank_known()) part[k] = known[d];
    ++k;
  }
  io.set_shape(io.out(0), out, "a new axis with one index for each input");
  for (int i = 0; i < io.num_inputs(); ++i)
    io.set_shape(io.in(i), part, "the output without the new axis");
}

void infer_slice_channel(const SliceChannelAttrs& a, Inference& io) {
  io.all_same_dtype();
  const Shape in = io.shape(io.in(0));
  if (in.rank_known()) {
    const int axis = normalize_axis(a.axis, in.rank());
    check(in[axis] < 0 || in[axis] % a.num_outputs == 0, ErrorKind::kShape,
          "axis {} of shape {} cannot be split into {} equal parts", a.axis, in.str(),
          a.num_outputs);
    Shape part = in;
    if (in[axis] >= 0) part[axis] = in[axis] / a.num_outputs;
    if (a.squeeze_axis) {
      check(part[axis] < 0 || part[axis] == 1, ErrorKind::kShape,
            "squeeze_axis needs parts of extent 1: axis {} of {} split into {}", a.axis, in.str(),
            a.num_outputs);
      Shape squeezed;
      for (int d = 0; d < in.rank(); ++d)
        if (d != axis) squeezed.push_back(part[d]);
      part = squeezed;
    }
    for (int i = 0; i < io.num_outputs(); ++i)
      io.set_shape(io.out(i), part, "equal parts of the input");
  }
  for (int i = 1; i < io.num_outputs(); ++i) io.same_shape(io.out(0), io.out(i));
  const Shape part = io.shape(io.out(0));
  if (!part.rank_known()) return;
  const int rank = part.rank() + (a.squeeze_axis ? 1 : 0), axis = normalize_axis(a.axis, rank);
  Shape back = Shape::of_rank(rank);
  for (int d = 0, k = 0; d < rank; ++d) {
    if (d == axis && a.squeeze_axis) {
      back[d] = a.num_outputs;
      continue;
    }
    const std::int64_t extent = part[k++];
    back[d] = d == axis && extent >= 0
                  ? checked_mul(extent, a.num_outputs, "num_outputs parts of SliceChannel")
                  : extent;
  }
  io.set_shape(io.in(0), back, "the parts joined");
}

// ---- gradients

NodeEntries gradient_concat(const ConcatAttrs&, GradientBuilder& g) {
  NodeEntries inputs{g.head(0)};
  for (int i = 0; i < g.num_inputs(); ++i) inputs.push_back(g.input(i));
  return g.call_with_same_attrs("_backward_Concat", std::move(inputs));
}

NodeEntries gradient_stack(const StackAttrs& a, GradientBuilder& g) {
  const NodeEntry first = g.call("SliceChannel", {g.head(0)},
                                 {{"num_outputs", std::to_string(g.num_inputs())},
                                  {"axis", std::to_string(a.axis)},
                                  {"squeeze_axis", "True"}});
  NodeEntries result;
  for (int i = 0; i < g.num_inputs(); ++i) result.push_back({first.node, i});
  return result;
}

NodeEntries gradient_slice_channel(const SliceChannelAttrs& a, GradientBuilder& g) {
  NodeEntries heads;
  for (int i = 0; i < a.num_outputs; ++i) heads.push_back(g.head(i));
  const std::string axis = std::to_string(a.axis), count = std::to_string(a.num_outputs);
  if (a.squeeze_axis)
    return {g.call("stack", std::move(heads), {{"axis", axis}, {"num_args", count}})};
  return {g.call("Concat", std::move(heads), {{"dim", axis}, {"num_args", count}})};
}

// ---- kernels

/// The joined array as `outer` rows, each made of one run per part.
struct Rows {
  std::int64_t outer = 1;
  std::vector<std::int64_t> bytes;  ///< of each part's run
  std::int64_t total = 0;

  void add(std::int64_t run_bytes) {
    bytes.push_back(run_bytes);
    total += run_bytes;
  }
  /// Calls copy(part, joined_offset, part_offset, bytes) for every run.
  template <class Copy>
  void each(Copy copy) const {
    parallel_for(outer, std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(1, total)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row) {
                     std::int64_t at = row * total;
                     for (std::size_t p = 0; p < bytes.size(); ++p) {
                       if (bytes[p] == 0) continue;  // an array without elements has no memory
                       copy(static_cast<int>(p), at, row * bytes[p],
                            static_cast<std::size_t>(bytes[p]));
                       at += bytes[p];
                     }
                   }
                 });
  }
};

Rows rows_of(const std::vector<TensorDesc>& parts, std::size_t first, int axis, Layout layout) {
  Rows rows;
  const Shape& shape = parts[first].shape;
  const bool channels_last = layout == Layout::kChannelsLast && axis == 1;
  rows.outer = channels_last ? shape[0] * shape.count(2) : shape.count(0, axis);
  for (std::size_t i = first; i < parts.size(); ++i) {
    const Shape& s = parts[i].shape;
    rows.add((channels_last ? s[1] : s.count(axis)) *
             static_cast<std::int64_t>(size_of(parts[i].dtype)));
  }
  return rows;
}

void join(const Rows& rows, const Args& a) {
  auto* y = a.out<char>(0);
  rows.each([&](int part, std::int64_t joined, std::int64_t at, std::size_t n) {
    std::memcpy(y + joined, a.in<char>(part) + at, n);
  });
}
void cut(const Rows& rows, const Args& a) {
  const auto* x = a.in<char>(0);
  rows.each([&](int part, std::int64_t joined, std::int64_t at, std::size_t n) {
    if (a.wants(part)) std::memcpy(a.out<char>(part) + at, x + joined, n);
  });
}

/// `preferred` if it is possible, else plain: every part must have whole blocks.
Layout common_layout(const std::vector<TensorDesc>& parts, std::size_t first, int axis,
                     Layout preferred) {
  if (axis > 1 || parts[first].shape.rank() < 3) return Layout::kPlain;
  for (std::size_t i = first; i < parts.size(); ++i)
    if (!has_whole_lanes(parts[i].shape[1], preferred)) return Layout::kPlain;
  return preferred;
}

Offer offer_concat(const ConcatAttrs& a, const KernelRequest& q) {
  Layout preferred = Layout::kPlain;
  for (const TensorDesc& in : q.in)
    if (in.layout != Layout::kPlain) preferred = in.layout;
  Offer offer = accept_plain(q);
  const Layout layout =
      common_layout(q.in, 0, normalize_axis(a.dim, q.out[0].shape.rank()), preferred);
  offer.in_layouts.assign(q.in.size(), layout);
  offer.out_layouts.assign(1, layout);
  return offer;
}
Offer offer_backward_concat(const ConcatAttrs& a, const KernelRequest& q) {
  Offer offer = accept_plain(q);
  const Layout layout =
      common_layout(q.out, 0, normalize_axis(a.dim, q.in[0].shape.rank()), q.in[0].layout);
  for (std::size_t i = 0; i < q.in.size(); ++i)
    offer.in_layouts[i] = i == 0 ? layout : q.in[i].layout;  // only their shapes are read
  offer.out_layouts.assign(q.out.size(), layout);
  return offer;
}

Offer offer_slice_channel(const SliceChannelAttrs& a, const KernelRequest& q) {
  Offer offer = accept_plain(q);
  if (a.squeeze_axis) return offer;
  const Layout layout =
      common_layout(q.out, 0, normalize_axis(a.axis, q.in[0].shape.rank()), q.in[0].layout);
  offer.in_layouts.assign(1, layout);
  offer.out_layouts.assign(q.out.size(), layout);
  return offer;
}

Prepared prepare_concat(const ConcatAttrs& a, const KernelRequest& q, const Offer& offer) {
  return [rows = rows_of(q.in, 0, normalize_axis(a.dim, q.out[0].shape.rank()),
                         offer.out_layouts[0])](const Args& args) { join(rows, args); };
}
Prepared prepare_backward_concat(const ConcatAttrs& a, const KernelRequest& q, const Offer& offer) {
  return [rows = rows_of(q.out, 0, normalize_axis(a.dim, q.in[0].shape.rank()),
                         offer.in_layouts[0])](const Args& args) { cut(rows, args); };
}
Prepared prepare_stack(const StackAttrs& a, const KernelRequest& q) {
  return [rows = rows_of(q.in, 0, normalize_axis(a.axis, q.out[0].shape.rank()), Layout::kPlain)](
             const Args& args) { join(rows, args); };
}
Prepared prepare_slice_channel(const SliceChannelAttrs& a, const KernelRequest& q,
                               const Offer& offer) {
  return [rows = rows_of(q.out, 0, normalize_axis(a.axis, q.in[0].shape.rank()),
                         offer.in_layouts[0])](const Args& args) { cut(rows, args); };
}

std::vector<std::string> numbered(const char* stem, int count,
                                  std::vector<std::string> names = {}) {
  for (int i = 0; i < count; ++i) names.push_back(stem + std::to_string(i));
  return names;
}

}  // namespace

void register_concat(OpRegistry& r) {
  r.add<ConcatAttrs>("Concat")
      .precision(Precision::kAsStored)
      .flops(0)
      .slices([](const ConcatAttrs& a, std::span<const Shape> in, const Shape& out) {
        return std::vector<bool>(normalize_axis(a.dim, out.rank()) > 0 ? in.size() : 0, true);
      })
      .doc("Joins the inputs along an axis.")
      .alias("concat")
      .variadic("num_args", &ConcatAttrs::num_args)
      .infer(infer_concat)
      .gradient(gradient_concat)
      .kernel(DeviceType::kCpu, "reference", offer_concat, prepare_concat);
  r.add<ConcatAttrs>("_rnn_param_concat")
      .doc("Concat under the name that files of Gluon's recurrent layers use.")
      .variadic("num_args", &ConcatAttrs::num_args)
      .infer(infer_rnn_params)
      .gradient(gradient_concat)
      .kernel(DeviceType::kCpu, "reference", offer_concat, prepare_concat);
  r.add<ConcatAttrs>("_backward_Concat")
      .precision(Precision::kAsStored)
      .flops(0)
      .inputs([](const ConcatAttrs& a) { return numbered("arg", a.num_args, {"head"}); })
      .outputs([](const ConcatAttrs& a) { return numbered("grad", a.num_args); },
               [](const ConcatAttrs& a) { return a.num_args; })
      .skips_unread()
      .infer(infer_backward_concat)
      .backward()
      .kernel(DeviceType::kCpu, "reference", offer_backward_concat, prepare_backward_concat);
  r.add<StackAttrs>("stack")
      .precision(Precision::kAsStored)
      .flops(0)
      .doc("Joins the inputs along a new axis.")
      .variadic("num_args", &StackAttrs::num_args)
      .infer(infer_stack)
      .gradient(gradient_stack)
      .reference(prepare_stack);
  r.add<SliceChannelAttrs>("SliceChannel")
      .precision(Precision::kAsStored)
      .flops(0)
      .inputs(std::vector<std::string>{"data"})
      .doc("Splits the input into equal parts along an axis.")
      .alias("split")
      .outputs([](const SliceChannelAttrs& a) { return numbered("output", a.num_outputs); },
               [](const SliceChannelAttrs& a) { return a.num_outputs; })
      .skips_unread()
      .infer(infer_slice_channel)
      .gradient(gradient_slice_channel)
      .kernel(DeviceType::kCpu, "reference", offer_slice_channel, prepare_slice_channel);
}

}  // namespace symbind
