// _contrib_boolean_mask: the rows of data whose entry of index is not zero.
//
//   y = data[index != 0]
//
// Decided here: the values of index determine the number of rows, so a call on arrays reads them
// first. A bound graph, whose shapes are known before its values, accepts the operator only if its
// neighbours determine the shape; a mask that selects another number of rows is then an error.
#include <cstring>

#include <symbind/ndarray.h>
#include <symbind/operator.h>

#include "base/check.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct MaskAttrs {
  int axis = 0;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axis whose rows are chosen; only 0.");
  }
};

/// data (rows, …), index (rows,), chosen (?, …).
void infer_rows(const MaskAttrs& a, Inference& io, Inference::Ref data, Inference::Ref index,
                Inference::Ref chosen) {
  check(a.axis == 0, ErrorKind::kValue, "boolean_mask chooses along axis 0, not along axis {}",
        a.axis);
  io.same_dtype(data, chosen);
  io.set_shape(index, Shape::of_rank(1), "one entry for each row of data");
  const Shape d = io.shape(data), c = io.shape(chosen);
  if (d.rank_known()) {
    check(d.rank() > 0, ErrorKind::kShape, "boolean_mask: an array without axes has no rows");
    io.set_shape(index, Shape{d[0]}, "one entry for each row of data");
    Shape wanted = d;
    wanted[0] = -1;
    io.set_shape(chosen, wanted, "rows of data");
  }
  if (c.rank_known() && c.rank() > 0) {
    Shape wanted = c;
    wanted[0] = io.shape(index)[0];
    io.set_shape(data, wanted, "rows as long as the chosen ones");
  }
}
void infer(const MaskAttrs& a, Inference& io) { infer_rows(a, io, io.in(0), io.in(1), io.out(0)); }
void infer_backward(const MaskAttrs& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  infer_rows(a, io, io.out(0), io.in(2), io.in(0));
}

template <class T>
std::int64_t count_chosen(const T* index, std::int64_t rows) {
  std::int64_t chosen = 0;
  for (std::int64_t i = 0; i < rows; ++i) chosen += index[i] != T(0) ? 1 : 0;
  return chosen;
}

Shape shape_of_result(const MaskAttrs&, const std::vector<NDArray>& inputs) {
  const NDArray index = inputs[1].as_in_context(cpu());
  index.wait_to_read();
  Shape shape = inputs[0].shape();
  if (shape.rank() == 0) return Shape::unknown();  // the rule reports the error
  shape[0] = dispatch_dtype(index.dtype(), [&]<class T>() {
    return count_chosen(static_cast<const T*>(index.data()), index.size());
  });
  return shape;
}

NodeEntries gradient(const MaskAttrs&, GradientBuilder& g) {
  return {g.call_with_same_attrs("_backward_contrib_boolean_mask",
                                 {g.head(0), g.input(0), g.input(1)})[0],
          NodeEntry{}};
}

struct Rows {
  std::int64_t all, chosen;
  std::size_t bytes;
  Rows(const TensorDesc& data, const TensorDesc& result)
      : all(data.shape[0]), chosen(result.shape[0]) {
    bytes = all == 0 ? 0 : data.bytes() / static_cast<std::size_t>(all);
  }
  /// Calls of(row, number among the chosen, or -1) for all rows, in order.
  template <class T, class F>
  void each(const T* index, F of) const {
    const std::int64_t found = count_chosen(index, all);
    check(found == chosen, ErrorKind::kShape,
          "boolean_mask: index selects {} rows, but the graph was bound for {}", found, chosen);
    std::int64_t next = 0;
    for (std::int64_t row = 0; row < all; ++row) of(row, index[row] != T(0) ? next++ : -1);
  }
  std::byte* at(void* data, std::int64_t row) const {
    return static_cast<std::byte*>(data) + static_cast<std::size_t>(row) * bytes;
  }
};

Prepared forward(const MaskAttrs&, const KernelRequest& q) {
  return dispatch_dtype(q.in[1].dtype, [&]<class T>() -> Prepared {
    return [rows = Rows(q.in[0], q.out[0])](const Args& a) {
      rows.each(a.in<T>(1), [&](std::int64_t row, std::int64_t to) {
        if (to < 0) return;
        std::memcpy(rows.at(a.outputs[0].data, to), rows.at(a.inputs[0].data, row), rows.bytes);
      });
    };
  });
}

Prepared backward(const MaskAttrs&, const KernelRequest& q) {
  return dispatch_dtype(q.in[2].dtype, [&]<class T>() -> Prepared {
    return [rows = Rows(q.out[0], q.in[0])](const Args& a) {
      rows.each(a.in<T>(2), [&](std::int64_t row, std::int64_t from) {
        std::byte* to = rows.at(a.outputs[0].data, row);
        if (from < 0)
          std::memset(to, 0, rows.bytes);
        else
          std::memcpy(to, rows.at(a.inputs[0].data, from), rows.bytes);
      });
    };
  });
}

}  // namespace

void register_boolean_mask(OpRegistry& r) {
  r.add<MaskAttrs>("_contrib_boolean_mask")
      .doc("The rows of data whose entry of index is not zero.")
      .inputs(std::vector<std::string>{"data", "index"})
      .infer(infer)
      .shape_from_values(shape_of_result)
      .gradient(gradient)
      .reference(forward);
  r.add<MaskAttrs>("_backward_contrib_boolean_mask")
      .backward()
      .inputs(std::vector<std::string>{"head", "data", "index"})
      .shape_only({1})
      .infer(infer_backward)
      .reference(backward);
}

}  // namespace symbind
