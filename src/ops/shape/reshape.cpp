// The same elements under another shape: Reshape, Flatten, expand_dims, squeeze, reshape_like.
//
// Decided here: the output may take the input's memory; then nothing is copied. The gradient is
// reshape_like(head, data). Reshape's codes are those of ndarray/reshape_codes.h; for a partly
// known input the codes are applied as far as possible, and one missing extent of the input is
// computed from the output. `target_shape` and `keep_highest` are the parameters before codes
// existed: 0 means "the rest".
#include <algorithm>

#include <symbind/operator.h>

#include "base/check.h"
#include "kernels/copy_block.h"
#include "ndarray/reshape_codes.h"

namespace symbind {
namespace {

struct ReshapeAttrs {
  Tuple shape;
  bool reverse = false;
  Tuple target_shape;
  bool keep_highest = false;
  void describe(AttrVisitor& v) {
    v.field("shape", shape,
            "The new shape; 0 copies, -1 is inferred, -2 copies the rest, -3 merges two, -4 "
            "splits one.");
    v.field("reverse", reverse, "Reads the codes from the right.");
    v.field("target_shape", target_shape, "Older form of shape; 0 is inferred.");
    v.field("keep_highest", keep_highest, "With target_shape: the first extent is the input's.");
  }
};

struct ExpandDimsAttrs {
  int axis = 0;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "Position of the new axis of extent 1.").required();
  }
};

struct SqueezeAttrs {
  std::optional<Tuple> axis;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "Axes of extent 1 to drop; None drops all of them.");
  }
};

struct ReshapeLikeAttrs {
  std::optional<int> lhs_begin, lhs_end, rhs_begin, rhs_end;
  void describe(AttrVisitor& v) {
    v.field("lhs_begin", lhs_begin, "First axis of lhs that is replaced.");
    v.field("lhs_end", lhs_end, "Axis of lhs after the last one that is replaced.");
    v.field("rhs_begin", rhs_begin, "First axis of rhs whose extent is taken.");
    v.field("rhs_end", rhs_end, "Axis of rhs after the last one that is taken.");
  }
};

std::vector<std::int64_t> codes_of(const ReshapeAttrs& a) {
  if (!a.shape.empty()) return a.shape;
  check(!a.target_shape.empty(), "Reshape needs the attribute shape");
  std::vector<std::int64_t> codes = a.target_shape;
  for (std::int64_t& code : codes)
    if (code == 0) code = -1;
  if (a.keep_highest) codes[0] = 0;
  return codes;
}

/// The result of the codes for a partly known input.
Shape reshape_partly(const Shape& in, const std::vector<std::int64_t>& codes, bool reverse) {
  if (reverse) {
    if (!in.rank_known() || std::ranges::count(codes, -4) > 0) return Shape::unknown();
    const auto turned = [](const Shape& s) {
      return Shape(std::vector<std::int64_t>(std::reverse_iterator(s.end()),
                                             std::reverse_iterator(s.begin())));
    };
    const Shape out = reshape_partly(turned(in), {codes.rbegin(), codes.rend()}, false);
    return out.rank_known() ? turned(out) : out;
  }
  Shape out;
  int next = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::int64_t code = codes[i];
    if (code > 0 || code == -1) {
      out.push_back(code);
      ++next;
      continue;
    }
    if (!in.rank_known() || next >= in.rank()) return Shape::unknown();
    if (code == 0) {
      out.push_back(in[next++]);
    } else if (code == -2) {
      while (next < in.rank()) out.push_back(in[next++]);
    } else if (code == -3) {
      if (next + 1 >= in.rank()) return Shape::unknown();
      const bool both = in[next] >= 0 && in[next + 1] >= 0;
      out.push_back(both ? in[next] * in[next + 1] : kUnknownDim);
      next += 2;
    } else {
      if (code != -4 || i + 2 >= codes.size()) return Shape::unknown();
      std::int64_t first = codes[++i], second = codes[++i];
      const std::int64_t whole = in[next++];
      if (whole >= 0 && first < 0 && second > 0) first = whole / second;
      if (whole >= 0 && second < 0 && first > 0) second = whole / first;
      out.push_back(first);
      out.push_back(second);
    }
  }
  return out;
}

/// The one extent of `shape` that is missing, when the whole has `size` elements.
void fill_one_unknown(Shape shape, std::int64_t size, Inference& io, Inference::Ref ref) {
  if (!shape.rank_known()) return;
  std::int64_t rest = 1;
  int missing = -1, count = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] >= 0)
      rest *= shape[d];
    else
      missing = d, ++count;
  }
  if (count != 1 || rest <= 0 || size % rest != 0) return;
  shape[missing] = size / rest;
  io.set_shape(ref, shape, "the number of elements stays the same");
}

void infer_reshape(const ReshapeAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const auto codes = codes_of(a);
  const Shape in = io.shape(io.in(0));
  io.set_shape(
      io.out(0),
      in.known() ? apply_reshape_codes(in, codes, a.reverse) : reshape_partly(in, codes, a.reverse),
      "attribute shape");
  if (!in.known() && io.known(io.out(0)))
    fill_one_unknown(in, io.shape(io.out(0)).size(), io, io.in(0));
}

void infer_flatten(const NoAttrs&, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return io.set_shape(io.out(0), Shape::of_rank(2), "Flatten gives two axes");
  check(in.rank() >= 1, ErrorKind::kShape, "Flatten needs at least one axis");
  Shape out{in[0], 1};
  for (int d = 1; d < in.rank(); ++d)
    out[1] = in[d] < 0 || out[1] < 0 ? kUnknownDim : out[1] * in[d];
  io.set_shape(io.out(0), out, "Flatten keeps the first axis and joins the others");
  Shape back = in;
  back[0] = io.shape(io.out(0))[0];
  io.set_shape(io.in(0), back);
}

void infer_expand_dims(const ExpandDimsAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape in = io.shape(io.in(0)), out = io.shape(io.out(0));
  if (!in.rank_known() && !out.rank_known()) return;
  const int rank = in.rank_known() ? in.rank() + 1 : out.rank();
  const int axis = normalize_axis(a.axis, rank);
  Shape larger, smaller;
  for (int d = 0; d < rank; ++d) {
    if (in.rank_known()) larger.push_back(d == axis ? 1 : in[d < axis ? d : d - 1]);
    if (out.rank_known() && d != axis) smaller.push_back(out[d]);
  }
  if (in.rank_known()) io.set_shape(io.out(0), larger, "expand_dims inserts one axis");
  if (out.rank_known()) io.set_shape(io.in(0), smaller, "expand_dims inserts one axis");
}

void infer_squeeze(const SqueezeAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  std::array<bool, kMaxRank> drop{};
  if (a.axis) {
    for (const std::int64_t axis : *a.axis) {
      const int d = normalize_axis(axis, in.rank());
      check(in[d] == 1 || in[d] < 0, ErrorKind::kShape,
            "cannot squeeze axis {} of shape {}: its extent is not 1", axis, in.str());
      drop[static_cast<std::size_t>(d)] = true;
    }
  } else {
    if (!in.known()) return;
    for (int d = 0; d < in.rank(); ++d) drop[static_cast<std::size_t>(d)] = in[d] == 1;
  }
  Shape out;
  for (int d = 0; d < in.rank(); ++d)
    if (!drop[static_cast<std::size_t>(d)]) out.push_back(in[d]);
  if (out.rank() == 0) out = scalar_shape();
  io.set_shape(io.out(0), out, "squeeze drops axes of extent 1");
}

void infer_reshape_like(const ReshapeLikeAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape lhs = io.shape(io.in(0)), rhs = io.shape(io.in(1));
  if (!a.lhs_begin && !a.lhs_end && !a.rhs_begin && !a.rhs_end) {
    if (lhs.known() && rhs.known())
      check(lhs.size() == rhs.size(), ErrorKind::kShape,
            "reshape_like cannot give {} the shape {}: {} and {} elements", lhs.str(), rhs.str(),
            lhs.size(), rhs.size());
    return io.set_shape(io.out(0), rhs, "the shape of rhs");
  }
  if (!lhs.rank_known() || !rhs.rank_known()) return;
  const auto place = [](std::optional<int> at, int rank, int otherwise) {
    if (!at) return otherwise;
    const int p = *at < 0 ? *at + rank : *at;
    check(p >= 0 && p <= rank, ErrorKind::kIndex, "axis {} is out of range for rank {}", *at, rank);
    return p;
  };
  const int lb = place(a.lhs_begin, lhs.rank(), 0), le = place(a.lhs_end, lhs.rank(), lhs.rank());
  const int rb = place(a.rhs_begin, rhs.rank(), 0), re = place(a.rhs_end, rhs.rank(), rhs.rank());
  Shape out;
  for (int d = 0; d < lb; ++d) out.push_back(lhs[d]);
  for (int d = rb; d < re; ++d) out.push_back(rhs[d]);
  for (int d = le; d < lhs.rank(); ++d) out.push_back(lhs[d]);
  if (lhs.known() && out.known())
    check(lhs.size() == out.size(), ErrorKind::kShape,
          "reshape_like cannot give {} the shape {}: {} and {} elements", lhs.str(), out.str(),
          lhs.size(), out.size());
  io.set_shape(io.out(0), out, "axes of rhs in place of axes of lhs");
}

template <class A>
NodeEntries gradient(const A&, GradientBuilder& g) {
  return {g.call("reshape_like", {g.head(0), g.input(0)})};
}
NodeEntries gradient_like(const ReshapeLikeAttrs&, GradientBuilder& g) {
  return {g.call("reshape_like", {g.head(0), g.input(0)}), {}};
}

template <class A>
Prepared prepare(const A&, const KernelRequest& request) {
  return [bytes = request.out[0].bytes()](const Args& a) {
    copy_bytes(a.outputs[0].data, a.inputs[0].data, bytes);
  };
}

}  // namespace

void register_reshape(OpRegistry& r) {
  r.add<ReshapeAttrs>("Reshape")
      .precision(Precision::kAsStored)
      .flops(0)
      .slices(Slices::kFirst)
      .doc("The same elements under another shape.")
      .alias("reshape")
      .infer(infer_reshape)
      .gradient(gradient)
      .inplace(0, 0)
      .reference(prepare);
  r.add("Flatten")
      .precision(Precision::kAsStored)
      .flops(0)
      .slices(Slices::kFirst)
      .doc("Joins all axes but the first.")
      .alias("flatten")
      .infer(infer_flatten)
      .gradient(gradient)
      .inplace(0, 0)
      .reference(prepare);
  r.add<ExpandDimsAttrs>("expand_dims")
      .precision(Precision::kAsStored)
      .flops(0)
      .doc("Inserts an axis of extent 1.")
      .infer(infer_expand_dims)
      .gradient(gradient)
      .inplace(0, 0)
      .reference(prepare);
  r.add<SqueezeAttrs>("squeeze")
      .precision(Precision::kAsStored)
      .flops(0)
      .inputs(std::vector<std::string>{"data"})
      .doc("Drops axes of extent 1.")
      .infer(infer_squeeze)
      .gradient(gradient)
      .inplace(0, 0)
      .reference(prepare);
  r.add<ReshapeLikeAttrs>("reshape_like")
      .precision(Precision::kAsStored)
      .flops(0)
      .doc("lhs with the shape of rhs, or with some axes of it.")
      .inputs(std::vector<std::string>{"lhs", "rhs"})
      .infer(infer_reshape_like)
      .shape_only({1})
      .gradient(gradient_like)
      .inplace(0, 0)
      .reference(prepare);
}

}  // namespace symbind
