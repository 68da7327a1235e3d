// One element of every row: y[…] = x[…, index[…], …] along `axis`; batch_take is the older form,
// along the last axis with int32 indices.
//
// Decided here: the index has the output's shape or that shape with the axis kept; out of range it
// is clipped or wrapped. The gradient is zero where nothing was picked. Without an axis it throws,
// as MXNet does.
#include <symbind/operator.h>

#include "graph/forward_rule.h"
#include "kernels/gather.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct PickAttrs {
  std::optional<int> axis = -1;
  bool keepdims = false;
  std::string mode = "clip";
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axis from which one element is picked.");
    v.field("keepdims", keepdims, "Keeps the axis with extent 1.");
    v.field("mode", mode, "What to do with an index out of range.").choices({"clip", "wrap"});
  }
};

int axis_of(const PickAttrs& a, int rank) {
  check(a.axis.has_value(), ErrorKind::kValue, "pick needs an axis");
  return normalize_axis(*a.axis, rank);
}

void infer(const PickAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  const int axis = axis_of(a, in.rank());
  Shape kept = in, dropped;
  kept[axis] = 1;
  for (int d = 0; d < in.rank(); ++d)
    if (d != axis) dropped.push_back(in[d]);
  if (dropped.rank() == 0) dropped.push_back(1);
  io.set_shape(io.out(0), a.keepdims ? kept : dropped, "one element of every row");
  const Shape& index = io.shape(io.in(1));
  const bool keeps = index.rank_known() && index.rank() == in.rank() && in.rank() > 1;
  io.set_shape(io.in(1), keeps ? kept : dropped, "one index for every row");
}
void infer_batch_take(const NoAttrs&, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  io.set_dtype(io.in(1), DType::kInt32, "batch_take reads int32 indices; pick reads any");
  const Shape &in = io.shape(io.in(0)), &index = io.shape(io.in(1));
  io.same_shape(io.in(1), io.out(0));
  if (in.rank_known()) {
    check(in.rank() >= 2, ErrorKind::kShape, "batch_take needs rows, but {} has none", in.str());
    io.set_shape(io.in(1), Shape(std::span(in.begin(), in.end() - 1)), "one index for every row");
    io.same_shape(io.in(1), io.out(0));
  }
  if (!index.rank_known()) return;
  Shape back = index;
  back.push_back(kUnknownDim);
  io.set_shape(io.in(0), back, "one row for every index");
}
void infer_backward(const PickAttrs& a, Inference& io) {
  io.same_shape(io.in(2), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  io.same_dtype(io.in(2), io.out(0));
  tie_to_forward(a, io, infer,
                 {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(1), io.in(0)}});
}

struct Picks {
  std::int64_t outer, extent, inner;
  DType index_type;
  OutOfRange mode;
  Picks(const PickAttrs& a, const Shape& in, const TensorDesc& index)
      : index_type(index.dtype), mode(a.mode == "wrap" ? OutOfRange::kWrap : OutOfRange::kClip) {
    const int axis = axis_of(a, in.rank());
    outer = in.count(0, axis);
    extent = in[axis];
    check(extent > 0, ErrorKind::kIndex, "there is nothing to pick: axis {} of {} has no elements",
          axis, in.str());
    inner = in.count(axis + 1);
  }
  /// Calls use(row, index of the picked element).
  template <class Use>
  void each(const void* index, Use use) const {
    parallel_for(outer * inner, 8192, [&](std::int64_t begin, std::int64_t end) {
      for_indices(index_type, index, begin, end,
                  [&](std::int64_t first, std::int64_t n, const std::int64_t* at) {
                    for (std::int64_t k = 0; k < n; ++k) {
                      const std::int64_t row = first + k;
                      use(row, (row / inner * extent + in_range(at[k], extent, mode)) * inner +
                                   row % inner);
                    }
                  });
    });
  }
};

Prepared prepare(const PickAttrs& a, const KernelRequest& q) {
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [picks = Picks(a, q.in[0].shape, q.in[1])](const Args& args) {
      picks.each(args.inputs[1].data,
                 [x = args.in<T>(0), y = args.out<T>(0)](std::int64_t row, std::int64_t place) {
                   y[row] = x[place];
                 });
    };
  });
}
Prepared prepare_backward(const PickAttrs& a, const KernelRequest& q) {
  return dispatch_dtype(q.out[0].dtype, [&]<class T>() -> Prepared {
    return
        [picks = Picks(a, q.out[0].shape, q.in[1]), n = q.out[0].shape.size()](const Args& args) {
          std::fill_n(args.out<T>(0), n, T(0));
          picks.each(args.inputs[1].data,
                     [dy = args.in<T>(0), dx = args.out<T>(0)](
                         std::int64_t row, std::int64_t place) { dx[place] = dy[row]; });
        };
  });
}

}  // namespace

void register_pick(OpRegistry& r) {
  r.add<PickAttrs>("pick")
      .flops(0)
      .doc("One element of every row, by index.")
      .alias("choose_element_0index")
      .inputs(std::vector<std::string>{"data", "index"})
      .infer(infer)
      .gradient([](const PickAttrs&, GradientBuilder& g) -> NodeEntries {
        return {
            g.call_with_same_attrs("_backward_pick", {g.head(0), g.input(1), g.input(0)}).front(),
            {}};
      })
      .reference(prepare);
  r.add("batch_take")
      .doc("One element of every row of the last axis, by index.")
      .inputs(std::vector<std::string>{"a", "indices"})
      .infer(infer_batch_take)
      .reference([](const NoAttrs&, const KernelRequest& q) { return prepare(PickAttrs{}, q); });
  r.add<PickAttrs>("_backward_pick")
      .inputs(std::vector<std::string>{"head", "index", "data"})
      .infer(infer_backward)
      .shape_only({2})
      .backward()
      .reference(prepare_backward);
}

}  // namespace symbind
