// _contrib_index_array: the indices of every element; with `axes` those along these axes.
//
//   y[i₀, …, iₙ, k] = i_k, or i_{axes[k]}; int64
//
// _contrib_index_copy: old_tensor with its rows index_vector[k] replaced by new_tensor[k]. The
// gradient of replaced rows goes to new_tensor, that of the others to old_tensor.
//
// Decided here: if a row is replaced twice the last one wins, and only that one has the gradient.
// An index out of range depends on values, so the error is stored on the result.
#include <algorithm>
#include <cstring>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

// ---- _contrib_index_array -----------------------------------------------------------------------

struct IndexArrayAttrs {
  std::optional<Tuple> axes;
  void describe(AttrVisitor& v) {
    v.field("axes", axes, "The axes whose indices to return; None is all.");
  }
};

std::vector<int> chosen(const IndexArrayAttrs& a, int rank) {
  std::vector<int> axes;
  if (a.axes)
    for (const std::int64_t axis : *a.axes) axes.push_back(normalize_axis(axis, rank));
  else
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

void infer_array(const IndexArrayAttrs& a, Inference& io) {
  io.set_dtype(io.out(0), DType::kInt64, "indices are int64");
  const Shape data = io.shape(io.in(0)), made = io.shape(io.out(0));
  if (data.rank_known()) {
    Shape shape = data;
    shape.push_back(static_cast<std::int64_t>(chosen(a, data.rank()).size()));
    io.set_shape(io.out(0), shape, "the input's shape, then an axis of indices");
  } else if (made.rank_known() && made.rank() > 0) {
    io.set_shape(io.in(0), Shape(Tuple(made.begin(), made.end() - 1)),
                 "the output's without its last axis");
  }
}

NodeEntries no_gradient(const IndexArrayAttrs&, GradientBuilder&) { return NodeEntries(1); }

Prepared index_array(const IndexArrayAttrs& attrs, const KernelRequest& q) {
  const Shape shape = q.in[0].shape;
  struct Axis {
    std::int64_t step, extent;
  };
  std::vector<Axis> axes;
  for (const int axis : chosen(attrs, shape.rank()))
    axes.push_back({shape.count(axis + 1), shape[axis]});
  return [axes, n = shape.size()](const Args& a) {
    auto* y = a.out<std::int64_t>(0);
    const auto many = static_cast<std::int64_t>(axes.size());
    parallel_for(n, 4096, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        for (std::int64_t k = 0; k < many; ++k) {
          const Axis& axis = axes[static_cast<std::size_t>(k)];
          y[i * many + k] = i / axis.step % axis.extent;
        }
    });
  };
}

// ---- _contrib_index_copy ------------------------------------------------------------------------

/// old (rows, …), index (k,), new (k, …).
void infer_rows(Inference& io, Inference::Ref old, Inference::Ref index, Inference::Ref fresh) {
  io.same_dtype(old, fresh);
  io.set_shape(index, Shape::of_rank(1), "one index for each new row");
  const Shape o = io.shape(old), f = io.shape(fresh);
  const std::int64_t count = io.shape(index)[0];
  if (o.rank_known()) {
    check(o.rank() > 0, ErrorKind::kShape, "an array without axes has no rows");
    Shape wanted = o;
    wanted[0] = count;
    io.set_shape(fresh, wanted, "rows as long as the old ones, one for each index");
  }
  if (f.rank_known() && f.rank() > 0) {
    io.set_shape(index, Shape{f[0]}, "one index for each new row");
    Shape wanted = f;
    wanted[0] = o.rank_known() ? o[0] : -1;
    io.set_shape(old, wanted, "rows as long as the new ones");
  }
}
void infer_copy(const NoAttrs&, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  infer_rows(io, io.in(0), io.in(1), io.in(2));
}
void infer_copy_backward(const NoAttrs&, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  infer_rows(io, io.out(0), io.in(1), io.out(1));
}

NodeEntries copy_gradient(const NoAttrs&, GradientBuilder& g) {
  NodeEntries both =
      g.call_with_same_attrs("_contrib_backward_index_copy", {g.head(0), g.input(1)});
  return {both[0], NodeEntry{}, both[1]};
}

struct Rows {
  std::int64_t old = 0, fresh = 0;
  std::size_t bytes = 0;
  DType index = DType::kInt64;
  Rows(const TensorDesc& whole, const TensorDesc& indices)
      : old(whole.shape[0]), fresh(indices.shape[0]), index(indices.dtype) {
    bytes = old == 0 ? 0 : whole.bytes() / static_cast<std::size_t>(old);
  }
  std::byte* row(void* data, std::int64_t at) const {
    return static_cast<std::byte*>(data) + static_cast<std::size_t>(at) * bytes;
  }
  template <class T>
  std::int64_t at(const Args& a, std::int64_t k) const {
    const double given = static_cast<double>(a.in<T>(1)[k]);
    check(given >= 0 && given < static_cast<double>(old), ErrorKind::kIndex,
          "index_copy: index {} is out of range for {} rows", given, old);
    return static_cast<std::int64_t>(given);
  }
};

Prepared index_copy(const NoAttrs&, const KernelRequest& q) {
  return dispatch_dtype(q.in[1].dtype, [&]<class T>() -> Prepared {
    return [rows = Rows(q.in[0], q.in[1]), bytes = q.in[0].bytes()](const Args& a) {
      void* out = a.outputs[0].data;
      if (out != a.inputs[0].data && bytes > 0) std::memcpy(out, a.inputs[0].data, bytes);
      for (std::int64_t k = 0; k < rows.fresh; ++k)
        std::memcpy(rows.row(out, rows.at<T>(a, k)), rows.row(a.inputs[2].data, k), rows.bytes);
    };
  });
}

Offer offer_backward(const NoAttrs&, const KernelRequest& q) {
  return accept_plain(q, static_cast<std::size_t>(q.in[0].shape[0]) * sizeof(std::int64_t));
}

Prepared index_copy_backward(const NoAttrs&, const KernelRequest& q, const Offer&) {
  return dispatch_dtype(q.in[1].dtype, [&]<class T>() -> Prepared {
    return [rows = Rows(q.in[0], q.in[1])](const Args& a) {
      void *head = a.inputs[0].data, *old = a.outputs[0].data, *fresh = a.outputs[1].data;
      auto* writer = static_cast<std::int64_t*>(a.workspace);  // of each row, or -1
      std::fill_n(writer, rows.old, std::int64_t{-1});
      for (std::int64_t k = 0; k < rows.fresh; ++k) writer[rows.at<T>(a, k)] = k;
      const auto give = [&](void* to, std::int64_t at, std::int64_t row, bool whole) {
        if (whole)
          std::memcpy(rows.row(to, at), rows.row(head, row), rows.bytes);
        else
          std::memset(rows.row(to, at), 0, rows.bytes);
      };
      for (std::int64_t k = 0; fresh != nullptr && k < rows.fresh; ++k) {
        const std::int64_t row = rows.at<T>(a, k);
        give(fresh, k, row, writer[row] == k);
      }
      for (std::int64_t row = 0; old != nullptr && row < rows.old; ++row)
        give(old, row, row, writer[row] < 0);
    };
  });
}

}  // namespace

void register_index_array(OpRegistry& r) {
  using Names = std::vector<std::string>;
  r.add<IndexArrayAttrs>("_contrib_index_array")
      .inputs(std::vector<std::string>{"data"})
      .doc("The indices of every element.")
      .infer(infer_array)
      .shape_only({0})
      .gradient(no_gradient)
      .reference(index_array);
  r.add("_contrib_index_copy")
      .doc("The old tensor with some rows replaced by the new tensor's.")
      .inputs(Names{"old_tensor", "index_vector", "new_tensor"})
      .infer(infer_copy)
      .gradient(copy_gradient)
      .inplace(0, 0)
      .reference(index_copy);
  r.add("_contrib_backward_index_copy")
      .backward()
      .inputs(Names{"head", "index_vector"})
      .outputs({"d_old", "d_new"})
      .infer(infer_copy_backward)
      .kernel(DeviceType::kCpu, "reference", offer_backward, index_copy_backward);
}

}  // namespace symbind
