// The diagonal of two axes, or a matrix with a given diagonal.
//
//   rank ≥ 2   y[…, i] = x[… i at axis1, i + k at axis2 …], the other axes first (k < 0: i - k, i)
//   rank 1     y[i, i + k] = x[i], zeros elsewhere
//
// Decided here: the gradient is zero off the diagonal. A diagonal that begins outside is an error.
#include <algorithm>
#include <cstdlib>

#include <symbind/operator.h>

#include "base/check.h"
#include "graph/forward_rule.h"
#include "kernels/copy_block.h"
#include "ndarray/convert.h"

namespace symbind {
namespace {

struct DiagAttrs {
  int k = 0, axis1 = 0, axis2 = 1;
  std::int64_t shift() const { return std::abs(std::int64_t{k}); }
  void describe(AttrVisitor& v) {
    v.field("k", k, "Which diagonal: above the main one when positive, below when negative.");
    v.field("axis1", axis1, "The axis that counts rows.");
    v.field("axis2", axis2, "The axis that counts columns.");
  }
};

struct Axes {
  int rows, columns;
};
Axes axes_of(const DiagAttrs& a, const Shape& in) {
  const Axes axes{normalize_axis(a.axis1, in.rank()), normalize_axis(a.axis2, in.rank())};
  check(axes.rows != axes.columns, "diag: axis1={} and axis2={} are the same axis of {}", a.axis1,
        a.axis2, in.str());
  return axes;
}

std::int64_t length_of(const DiagAttrs& a, const Shape& in, Axes axes) {
  const std::int64_t rows = in[axes.rows], columns = in[axes.columns];
  if (rows < 0 || columns < 0) return kUnknownDim;
  const std::int64_t length =
      a.k > 0 ? std::min(rows, columns - a.k) : std::min(rows + a.k, columns);
  check(length >= 0, "diag: the diagonal k={} does not exist in {} rows and {} columns", a.k, rows,
        columns);
  return length;
}

void infer(const DiagAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  check(in.rank() > 0, ErrorKind::kShape, "diag does not accept a scalar");
  const std::int64_t shift = a.shift();
  if (in.rank() == 1) {
    const std::int64_t side = in[0] < 0 ? kUnknownDim : in[0] + shift;
    io.set_shape(io.out(0), Shape{side, side}, "a square matrix around the diagonal");
    const Shape& known = io.shape(io.out(0));
    const std::int64_t back = std::max(known[0], known[1]);
    if (back >= shift) io.set_shape(io.in(0), Shape{back - shift}, "the output's diagonal");
    return;
  }
  const Axes axes = axes_of(a, in);
  Shape out;
  for (int d = 0; d < in.rank(); ++d)
    if (d != axes.rows && d != axes.columns) out.push_back(in[d]);
  out.push_back(length_of(a, in, axes));
  io.set_shape(io.out(0), out, "the other axes, then the diagonal");
  const Shape& known = io.shape(io.out(0));
  for (int d = 0, k = 0; d < in.rank(); ++d)
    if (d != axes.rows && d != axes.columns) in[d] = known[k++];
  io.set_shape(io.in(0), in, "the output's axes");
}
void infer_backward(const DiagAttrs& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  io.all_same_dtype();
  tie_to_forward(a, io, infer, {.inputs = 1, .outputs = 1, .from = {io.out(0), io.in(0)}});
}

/// From the whole array to its diagonal; for a vector the whole array is the output.
BlockCopy diagonal_of(const DiagAttrs& a, const Shape& whole, Axes axes, DType dtype) {
  BlockCopy copy{.element_bytes = size_of(dtype)};
  const Strides strides = contiguous_strides(whole);
  std::size_t d_out = 0;
  for (int d = 0; d < whole.rank(); ++d) {
    if (d == axes.rows || d == axes.columns) continue;
    copy.shape.push_back(whole[d]);
    copy.from[d_out++] = strides[static_cast<std::size_t>(d)];
  }
  const std::int64_t row = strides[static_cast<std::size_t>(axes.rows)],
                     column = strides[static_cast<std::size_t>(axes.columns)];
  copy.shape.push_back(length_of(a, whole, axes));
  copy.from[d_out] = row + column;
  copy.from_offset = a.shift() * (a.k > 0 ? column : row);
  copy.to = contiguous_strides(copy.shape);
  return copy;
}
BlockCopy turned(BlockCopy copy) {
  std::swap(copy.to, copy.from);
  std::swap(copy.to_offset, copy.from_offset);
  return copy;
}

/// `whole` is the larger side; `out` of it is zero except on the diagonal.
Prepared read(const BlockCopy& copy) {
  if (copy.shape.size() == 0) return [](const Args&) {};
  return [copy](const Args& args) { copy(args.outputs[0].data, args.inputs[0].data); };
}
Prepared write(const BlockCopy& copy, const TensorDesc& out) {
  return [copy = turned(copy), dtype = out.dtype, n = out.shape.size(),
          empty = copy.shape.size() == 0](const Args& args) {
    fill(args.outputs[0].data, dtype, 0, n);
    if (!empty) copy(args.outputs[0].data, args.inputs[0].data);
  };
}

constexpr Axes kMatrix{0, 1};

Prepared prepare(const DiagAttrs& a, const KernelRequest& q) {
  const TensorDesc &in = q.in[0], &out = q.out[0];
  if (in.shape.rank() == 1) return write(diagonal_of(a, out.shape, kMatrix, in.dtype), out);
  return read(diagonal_of(a, in.shape, axes_of(a, in.shape), in.dtype));
}
// Inputs: head, data (its shape).
Prepared prepare_backward(const DiagAttrs& a, const KernelRequest& q) {
  const TensorDesc &head = q.in[0], &out = q.out[0];
  if (out.shape.rank() == 1) return read(diagonal_of(a, head.shape, kMatrix, out.dtype));
  return write(diagonal_of(a, out.shape, axes_of(a, out.shape), out.dtype), out);
}

}  // namespace

void register_diag(OpRegistry& r) {
  r.add<DiagAttrs>("diag")
      .inputs(std::vector<std::string>{"data"})
      .doc("The diagonal of two axes; of a vector, the matrix that has it as diagonal.")
      .infer(infer)
      .gradient([](const DiagAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_diag", {g.head(0), g.input(0)});
      })
      .reference(prepare);
  r.add<DiagAttrs>("_backward_diag")
      .inputs(std::vector<std::string>{"head", "data"})
      .infer(infer_backward)
      .shape_only({1})
      .backward()
      .reference(prepare_backward);
}

}  // namespace symbind
