// Running sums along an axis: y[i] = Σ_{j ≤ i} x[j], and dx[i] = Σ_{j ≥ i} dy[j].
//
// Decided here: without an axis the array is one row. Elements are converted to the output's type
// first and summed in it, 16-bit floats in float.
#include <type_traits>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct CumsumAttrs {
  std::optional<int> axis;
  std::optional<DType> dtype;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axis along which to sum; None takes the array as one row.");
    v.field("dtype", dtype, "The element type of the output; None is the input's.");
  }
};

void infer(const CumsumAttrs& a, Inference& io) {
  if (a.dtype)
    io.set_dtype(io.out(0), *a.dtype, "attribute dtype");
  else
    io.same_dtype(io.in(0), io.out(0));
  const Shape& in = io.shape(io.in(0));
  if (a.axis) {
    io.same_shape(io.in(0), io.out(0));
    if (in.rank_known()) normalize_axis(*a.axis, in.rank());
  } else {
    io.set_shape(io.out(0), in.known() ? Shape{in.size()} : Shape::of_rank(1), "one row");
  }
}
// Inputs: head, data (its shape and type).
void infer_backward(const CumsumAttrs& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  io.same_dtype(io.in(1), io.out(0));
  tie_to_forward(a, io, infer, {.inputs = 1, .outputs = 1, .from = {io.out(0), io.in(0)}});
}

template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, T, Accumulator<T>>;

/// Running sums in place, from the front or from the end.
template <class T>
void run_sums(T* y, std::int64_t outer, std::int64_t extent, std::int64_t inner, bool from_end) {
  if (extent == 0) return;
  const std::int64_t first = from_end ? (extent - 1) * inner : 0, step = from_end ? -inner : inner;
  parallel_for(outer * inner, std::max<std::int64_t>(1, 16384 / extent),
               [=](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   T* at = y + row / inner * extent * inner + row % inner + first;
                   Sum<T> sum = 0;
                   for (std::int64_t i = 0; i < extent; ++i, at += step) {
                     sum = wrapped_add(sum, static_cast<Sum<T>>(*at));
                     *at = static_cast<T>(sum);
                   }
                 }
               });
}

Prepared sums(const CumsumAttrs& a, const KernelRequest& q, const Shape& shape, bool from_end) {
  const int axis = a.axis ? normalize_axis(*a.axis, shape.rank()) : 0;
  const std::int64_t outer = a.axis ? shape.count(0, axis) : 1,
                     extent = a.axis ? shape[axis] : shape.size(),
                     inner = a.axis ? shape.count(axis + 1) : 1;
  return dispatch_dtype(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [=, from = q.in[0].dtype, to = q.out[0].dtype, n = shape.size()](const Args& args) {
      convert(args.outputs[0].data, to, args.inputs[0].data, from, n);
      run_sums(args.out<T>(0), outer, extent, inner, from_end);
    };
  });
}

}  // namespace

void register_cumsum(OpRegistry& r) {
  r.add<CumsumAttrs>("cumsum")
      .doc("Running sums along an axis.")
      .inputs(std::vector<std::string>{"a"})
      .infer(infer)
      .gradient([](const CumsumAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_cumsum", {g.head(0), g.input(0)});
      })
      .reference([](const CumsumAttrs& a, const KernelRequest& q) {
        return sums(a, q, q.in[0].shape, false);
      });
  r.add<CumsumAttrs>("_backward_cumsum")
      .inputs(std::vector<std::string>{"head", "a"})
      .infer(infer_backward)
      .shape_only({1})
      .backward()
      .reference([](const CumsumAttrs& a, const KernelRequest& q) {
        return sums(a, q, q.out[0].shape, true);
      });
}

}  // namespace symbind
