// Repetition: tile repeats the whole array, repeat repeats every element.
//
//   tile    seen as (r0, d0, r1, d1, …): the r axes repeat         the gradient sums over them
//   repeat  seen as (…, d, repeats, …): the axis after d repeats
#include <algorithm>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/checked.h"
#include "graph/forward_rule.h"
#include "kernels/copy_block.h"
#include "kernels/reduce.h"

namespace symbind {
namespace {

struct TileAttrs {
  Tuple reps;
  void describe(AttrVisitor& v) {
    v.field("reps", reps, "Repetitions per axis, counted from the last.").required();
  }
};
struct RepeatAttrs {
  int repeats = 1;
  std::optional<int> axis;
  void describe(AttrVisitor& v) {
    v.field("repeats", repeats, "Repetitions of each element.").required().at_least(1);
    v.field("axis", axis, "The axis along which to repeat; None flattens first.");
  }
};

/// The output with the repeated axes separated.
struct Apart {
  Shape shape;
  std::array<bool, kMaxRank> repeated{};
  void push(std::int64_t extent, bool is_repeat) {
    check(shape.rank() < kMaxRank, ErrorKind::kShape, "too many axes to repeat");
    repeated[static_cast<std::size_t>(shape.rank())] = is_repeat;
    shape.push_back(extent);
  }
};

Apart apart(const TileAttrs& a, const Shape& in) {
  Apart result;
  const int reps = static_cast<int>(a.reps.size()), rank = std::max(in.rank(), reps);
  for (int d = 0; d < rank; ++d) {
    const int r = d - (rank - reps), k = d - (rank - in.rank());
    const std::int64_t times = r >= 0 ? a.reps[static_cast<std::size_t>(r)] : 1;
    if (times != 1) result.push(times, true);
    if (k >= 0) result.push(in[k], false);
  }
  return result;
}
Apart apart(const RepeatAttrs& a, const Shape& in) {
  Apart result;
  const int axis = a.axis ? normalize_axis(*a.axis, in.rank()) : in.rank() - 1;
  for (int d = 0; d < in.rank(); ++d) {
    result.push(in[d], false);
    if (d == axis) result.push(a.repeats, true);
  }
  return result;
}

void infer_tile(const TileAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  const int reps = static_cast<int>(a.reps.size()), rank = std::max(in.rank(), reps);
  Shape out;
  for (int d = 0; d < rank; ++d) {
    const int r = d - (rank - reps), k = d - (rank - in.rank());
    const std::int64_t times = r >= 0 ? a.reps[static_cast<std::size_t>(r)] : 1,
                       extent = k >= 0 ? in[k] : 1;
    check(times > 0, "reps {} must be positive", tuple_text(a.reps));
    out.push_back(extent < 0 ? kUnknownDim : checked_mul(extent, times, "an axis times reps"));
  }
  io.set_shape(io.out(0), out, "attribute reps");
}

void infer_repeat(const RepeatAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  Shape out = in;
  if (a.axis) {
    const int axis = normalize_axis(*a.axis, in.rank());
    if (in[axis] >= 0) out[axis] = checked_mul(in[axis], a.repeats, "an axis times repeats");
  } else {
    out = Shape{in.known() ? checked_mul(in.size(), a.repeats, "the elements times repeats")
                           : kUnknownDim};
  }
  io.set_shape(io.out(0), out, "attribute repeats");
}

template <class A>
void infer_backward(const A& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  io.all_same_dtype();
  const ForwardSides sides{.inputs = 1, .outputs = 1, .from = {io.out(0), io.in(0)}};
  if constexpr (std::is_same_v<A, TileAttrs>)
    tie_to_forward(a, io, infer_tile, sides);
  else
    tie_to_forward(a, io, infer_repeat, sides);
}

template <class A>
Prepared prepare(const A& a, const KernelRequest& q) {
  const Apart view = apart(a, q.in[0].shape);
  BlockCopy copy{.shape = view.shape,
                 .to = contiguous_strides(view.shape),
                 .element_bytes = size_of(q.in[0].dtype)};
  std::int64_t stride = 1;
  for (int d = view.shape.rank() - 1; d >= 0; --d) {
    const auto k = static_cast<std::size_t>(d);
    if (view.repeated[k]) continue;
    copy.from[k] = stride;
    stride *= view.shape[d];
  }
  return [copy](const Args& args) { copy(args.outputs[0].data, args.inputs[0].data); };
}

template <class A>
Prepared prepare_backward(const A& a, const KernelRequest& q) {
  const Apart view = apart(a, q.in[1].shape);
  return [sum = Reducer(Reduction::kSum, q.in[0].dtype, view.shape, view.repeated)](
             const Args& args) { sum(args.inputs[0].data, args.outputs[0].data); };
}

template <class A>
void add_backward(OpRegistry& r, const char* name) {
  r.add<A>(name)
      .flops(1, Per::kFirstInput)
      .inputs(std::vector<std::string>{"head", "data"})
      .infer(infer_backward<A>)
      .shape_only({1})
      .backward()
      .cpu_kernel("native", prepare_backward<A>);
}

}  // namespace

void register_tile(OpRegistry& r) {
  r.add<TileAttrs>("tile")
      .flops(0)
      .inputs(std::vector<std::string>{"data"})
      .doc("The input repeated along axes.")
      .infer(infer_tile)
      .gradient([](const TileAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_tile", {g.head(0), g.input(0)});
      })
      .reference(prepare);
  r.add<RepeatAttrs>("repeat")
      .flops(0)
      .inputs(std::vector<std::string>{"data"})
      .doc("Every element repeated.")
      .infer(infer_repeat)
      .gradient([](const RepeatAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_repeat", {g.head(0), g.input(0)});
      })
      .reference(prepare);
  add_backward<TileAttrs>(r, "_backward_tile");
  add_backward<RepeatAttrs>(r, "_backward_repeat");
}

}  // namespace symbind
