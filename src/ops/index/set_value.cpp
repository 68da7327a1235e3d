// Writing into an array that the caller gives as out, as MXNet's oldest functions do.
//
//   _set_value            y = src everywhere
//   _onehot_encode        y[i, k] = 1 where k = lhs[i], else 0; rhs has y's shape, its values are
//                         not read
//   fill_element_0index   y = lhs, except y[i, rhs[i]] = mhs[i]
//
// Decided here: an index out of range gives a row of zeros (_onehot_encode) or is a run-time error
// (fill_element_0index). None has a gradient.
#include <symbind/operator.h>

#include "kernels/copy_block.h"
#include "kernels/gather.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct SetValueAttrs {
  float src = 0;
  void describe(AttrVisitor& v) {
    v.field("src", src, "The value of every element.").required().per_call();
  }
};

void infer_set_value(const SetValueAttrs&, Inference& io) {
  io.set_dtype(io.out(0), DType::kFloat32);
}

/// `rows` inputs are vectors with one number for each row of the matrix `matrix`.
void infer_rows(Inference& io, Inference::Ref matrix, std::initializer_list<Inference::Ref> rows) {
  io.same_shape(matrix, io.out(0));
  io.same_dtype(matrix, io.out(0));
  io.set_shape(matrix, Shape::of_rank(2), "a matrix is needed");
  for (const Inference::Ref vector : rows) {
    io.set_shape(vector, Shape{io.shape(matrix)[0]}, "one number for each row of the matrix");
    io.set_shape(matrix, Shape{io.shape(vector)[0], kUnknownDim});
  }
  io.same_shape(matrix, io.out(0));
}
void infer_onehot(const NoAttrs&, Inference& io) { infer_rows(io, io.in(1), {io.in(0)}); }
void infer_fill(const NoAttrs&, Inference& io) {
  io.same_dtype(io.in(0), io.in(1));
  infer_rows(io, io.in(0), {io.in(1), io.in(2)});
}

Prepared prepare_set_value(const SetValueAttrs&, const KernelRequest& q) {
  return [out = q.out[0]](const Args& a) {
    fill(a.outputs[0].data, out.dtype, a.values[0], out.shape.size());
  };
}

Prepared prepare_onehot(const NoAttrs&, const KernelRequest& q) {
  const Shape& out = q.out[0].shape;
  return dispatch_dtype(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [rows = out[0], columns = out[1], type = q.in[0].dtype](const Args& a) {
      T* y = a.out<T>(0);
      std::fill_n(y, rows * columns, T(0));
      for_indices(type, a.inputs[0].data, 0, rows,
                  [&](std::int64_t first, std::int64_t n, const std::int64_t* at) {
                    for (std::int64_t i = 0; i < n; ++i)
                      if (at[i] >= 0 && at[i] < columns) y[(first + i) * columns + at[i]] = T(1);
                  });
    };
  });
}

Prepared prepare_fill(const NoAttrs&, const KernelRequest& q) {
  const Shape& out = q.out[0].shape;
  return dispatch_dtype(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [rows = out[0], columns = out[1], type = q.in[2].dtype,
            bytes = q.out[0].bytes()](const Args& a) {
      const T* values = a.in<T>(1);
      T* y = a.out<T>(0);
      copy_bytes(y, a.inputs[0].data, bytes);
      for_indices(type, a.inputs[2].data, 0, rows,
                  [&](std::int64_t first, std::int64_t n, const std::int64_t* at) {
                    for (std::int64_t i = first; i < first + n; ++i)
                      y[i * columns + in_range(at[i - first], columns, OutOfRange::kRaise)] =
                          values[i];
                  });
    };
  });
}

using Names = std::vector<std::string>;

}  // namespace

void register_set_value(OpRegistry& r) {
  r.add<SetValueAttrs>("_set_value")
      .flops(0)
      .doc("Sets every element of the array given as out.")
      .inputs(Names{})
      .infer(infer_set_value)
      .reference(prepare_set_value);
  r.add("_onehot_encode")
      .doc("Indices as one-hot rows; rhs gives the shape and is usually out as well.")
      .inputs(Names{"lhs", "rhs"})
      .infer(infer_onehot)
      .shape_only({1})
      .inplace(1, 0)
      .reference(prepare_onehot);
  r.add("fill_element_0index")
      .doc("A copy of lhs with one element of every row replaced: lhs[i, rhs[i]] = mhs[i].")
      .inputs(Names{"lhs", "mhs", "rhs"})
      .infer(infer_fill)
      .inplace(0, 0)
      .reference(prepare_fill);
}

}  // namespace symbind
