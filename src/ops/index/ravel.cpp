// Between tuples of indices and flat indices of an array in C order.
//
//   _ravel_multi_index  (axes, n) → (n):     flat = (…(i₀·s₁ + i₁)·s₂ + …)
//   _unravel_index      (…) → (axes, …):     the reverse; an excess over the shape stays in i₀
//
// Decided here: numbers are read and computed as int64, which wraps around, and written in the
// input's type; the first extent is not read and may be -1. Nothing is checked against the extents.
// No gradient.
#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct RavelAttrs {
  std::optional<Tuple> shape;
  void describe(AttrVisitor& v) { v.field("shape", shape, "The shape of the indexed array."); }
  /// Throws if there is no shape, or if an extent is not positive.
  const Tuple& extents() const {
    check(shape && !shape->empty(),
          "the parameter shape is required: the shape of the indexed array");
    for (std::size_t d = 1; d < shape->size(); ++d)
      check((*shape)[d] > 0, "shape {} must have extents above 0 after the first",
            tuple_text(*shape));
    return *shape;
  }
};

void infer_ravel(const RavelAttrs& a, Inference& io) {
  io.all_same_dtype();
  const auto axes = static_cast<std::int64_t>(a.extents().size());
  io.set_shape(io.in(0), Shape{axes, kUnknownDim}, "one row of indices for each axis of shape");
  io.set_shape(io.out(0), Shape{io.shape(io.in(0))[1]},
               "one flat index for each column of indices");
  io.set_shape(io.in(0), Shape{axes, io.shape(io.out(0))[0]}, "one column for each flat index");
}
void infer_unravel(const RavelAttrs& a, Inference& io) {
  io.all_same_dtype();
  const Shape& in = io.shape(io.in(0));
  if (in.rank_known()) {
    Shape out{static_cast<std::int64_t>(a.extents().size())};
    for (const std::int64_t extent : in) out.push_back(extent);
    io.set_shape(io.out(0), out, "one row for each axis of shape");
  }
  const Shape& out = io.shape(io.out(0));
  if (out.rank() > 0)
    io.set_shape(io.in(0), Shape(std::span(out.begin() + 1, out.end())), "one row of the output");
}

Prepared prepare_ravel(const RavelAttrs& a, const KernelRequest& q) {
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [extents = a.extents(), n = q.out[0].shape.size()](const Args& args) {
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      parallel_for(n, 16384, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          std::uint64_t place = 0;
          for (std::size_t d = 0; d < extents.size(); ++d)
            place = place * static_cast<std::uint64_t>(extents[d]) +
                    static_cast<std::uint64_t>(
                        convert_element<std::int64_t>(x[static_cast<std::int64_t>(d) * n + i]));
          y[i] = convert_element<T>(static_cast<std::int64_t>(place));
        }
      });
    };
  });
}
Prepared prepare_unravel(const RavelAttrs& a, const KernelRequest& q) {
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [extents = a.extents(), n = q.in[0].shape.size()](const Args& args) {
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      parallel_for(n, 16384, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          auto place = convert_element<std::int64_t>(x[i]);
          for (std::size_t d = extents.size() - 1; d > 0; --d) {
            y[static_cast<std::int64_t>(d) * n + i] = convert_element<T>(place % extents[d]);
            place /= extents[d];
          }
          y[i] = convert_element<T>(place);
        }
      });
    };
  });
}

NodeEntries no_gradient(const RavelAttrs&, GradientBuilder&) { return {{}}; }

}  // namespace

void register_ravel(OpRegistry& r) {
  r.add<RavelAttrs>("_ravel_multi_index")
      .inputs(std::vector<std::string>{"data"})
      .doc("Flat indices into an array of the given shape, from one row of indices for each axis.")
      .alias("ravel_multi_index")
      .infer(infer_ravel)
      .gradient(no_gradient)
      .reference(prepare_ravel);
  r.add<RavelAttrs>("_unravel_index")
      .inputs(std::vector<std::string>{"data"})
      .doc("One row of indices for each axis of the given shape, from flat indices.")
      .alias("unravel_index")
      .infer(infer_unravel)
      .gradient(no_gradient)
      .reference(prepare_unravel);
}

}  // namespace symbind
