// Elements by tuples of indices: gather_nd, and back into an array of a given shape: scatter_nd,
// _scatter_set_nd, _backward_gather_nd.
//
//   gather_nd            y[i, :] = x[index[0, i], …, index[m-1, i], :]
//   scatter_nd           y[index[0, i], …, :] = x[i, :] over zeros; the last of equal indices wins
//   _scatter_set_nd      the same over lhs instead of zeros
//   _backward_gather_nd  the same over zeros, with += instead of =
//
// Decided here: indices of any element type are truncated to integers, negative ones count from the
// end, others out of range are a run-time error. No gradient flows to indices.
#include <array>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/copy_block.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct ScatterAttrs {
  Tuple shape;
  void describe(AttrVisitor& v) { v.field("shape", shape, "The shape of the output.").required(); }
};

// ---- shapes

/// The shape of the result: the indices without their first axis, then the axes of `whole` without
/// an index.
Shape part_shape(const Shape& whole, const Shape& index) {
  if (!index.rank_known()) return Shape::unknown();
  check(index.rank() > 1, ErrorKind::kShape,
        "the indices must have 2 axes or more, (axes, positions …), not {}", index.str());
  if (!whole.rank_known() || index[0] < 0) return Shape::unknown();
  check(index[0] <= whole.rank(), ErrorKind::kShape,
        "indices of shape {} index {} axes, but the array {} has {}", index.str(), index[0],
        whole.str(), whole.rank());
  Shape part;
  for (int d = 1; d < index.rank(); ++d) part.push_back(index[d]);
  for (int d = static_cast<int>(index[0]); d < whole.rank(); ++d) part.push_back(whole[d]);
  return part;
}

void infer_gather(const NoAttrs&, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape part = part_shape(io.shape(io.in(0)), io.shape(io.in(1)));
  io.set_shape(io.out(0), part, "the indices' positions, then the axes without an index");
}
/// `data` is what is scattered; the indices are the last input.
template <int data>
void infer_scatter(const ScatterAttrs& a, Inference& io) {
  for (int i = 0; i <= data; ++i) io.same_dtype(io.in(i), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  const Shape shape = from_user(Shape(a.shape));
  io.set_shape(io.out(0), shape, "attribute shape");
  if (data == 1) io.set_shape(io.in(0), shape, "attribute shape");
  io.set_shape(io.in(data), part_shape(shape, io.shape(io.in(data + 1))),
               "the indices' positions, then the axes without an index");
}
// Inputs: head, indices, data (its shape).
void infer_backward(const NoAttrs& a, Inference& io) {
  io.same_shape(io.in(2), io.out(0));
  io.same_dtype(io.in(2), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  tie_to_forward(a, io, infer_gather,
                 {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(1), io.in(0)}});
}

// ---- kernels

/// The positions in an array that a block of indices selects.
struct Places {
  int axes = 0;
  std::int64_t count = 0, inner = 1;
  std::array<std::int64_t, kMaxRank> extents{}, strides{};
  std::int64_t (*read)(const void*, std::int64_t) = nullptr;

  Places(const Shape& whole, const TensorDesc& index)
      : axes(static_cast<int>(index.shape[0])),
        count(index.shape.count(1)),
        inner(whole.count(axes)) {
    for (int d = 0; d < axes; ++d) {
      extents[static_cast<std::size_t>(d)] = whole[d];
      strides[static_cast<std::size_t>(d)] = whole.count(d + 1);
    }
    read = dispatch_dtype(index.dtype, []<class I>() {
      return +[](const void* data, std::int64_t at) {
        return convert_element<std::int64_t>(static_cast<const I*>(data)[at]);
      };
    });
  }
  /// Where the elements of the i-th tuple begin.
  std::int64_t place(const void* index, std::int64_t i) const {
    std::int64_t at = 0;
    for (int d = 0; d < axes; ++d) {
      const auto k = static_cast<std::size_t>(d);
      const std::int64_t value = read(index, d * count + i);
      const std::int64_t from_start = value < 0 ? value + extents[k] : value;
      check(from_start >= 0 && from_start < extents[k], ErrorKind::kIndex,
            "index {} is out of bounds for axis {} with size {}", value, d, extents[k]);
      at += from_start * strides[k];
    }
    return at;
  }
};

Prepared prepare_gather(const NoAttrs&, const KernelRequest& q) {
  return [places = Places(q.in[0].shape, q.in[1]),
          bytes = static_cast<std::int64_t>(size_of(q.in[0].dtype))](const Args& args) {
    const auto* x = args.in<char>(0);
    auto* y = args.out<char>(0);
    const std::int64_t row = places.inner * bytes;
    parallel_for(places.count, std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, row)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     std::memcpy(y + i * row, x + places.place(args.inputs[1].data, i) * bytes,
                                 static_cast<std::size_t>(row));
                 });
  };
}

/// Threads split the columns of an indexed block, so that equal positions are written in order.
template <class T, bool adds>
void scatter(const Places& places, const T* x, const void* index, T* y) {
  if (places.count == 0) return;
  parallel_for(places.inner, std::max<std::int64_t>(1, 32768 / places.count),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = 0; i < places.count; ++i) {
                   const T* from = x + i * places.inner;
                   T* to = y + places.place(index, i);
                   for (std::int64_t j = begin; j < end; ++j)
                     to[j] = adds ? wrapped_add(to[j], from[j]) : from[j];
                 }
               });
}

/// Over zeros; inputs: data, indices.
template <bool adds>
Prepared prepare_scatter_over_zeros(const KernelRequest& q) {
  return dispatch_dtype(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [places = Places(q.out[0].shape, q.in[1]), n = q.out[0].shape.size()](const Args& args) {
      std::fill_n(args.out<T>(0), n, T(0));
      scatter<T, adds>(places, args.in<T>(0), args.inputs[1].data, args.out<T>(0));
    };
  });
}
/// Over lhs; inputs: lhs, rhs, indices.
Prepared prepare_scatter_set(const ScatterAttrs&, const KernelRequest& q) {
  return dispatch_dtype(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [places = Places(q.out[0].shape, q.in[2]), bytes = q.out[0].bytes()](const Args& args) {
      copy_bytes(args.outputs[0].data, args.inputs[0].data, bytes);
      scatter<T, false>(places, args.in<T>(1), args.inputs[2].data, args.out<T>(0));
    };
  });
}

NodeEntries gather_back(const ScatterAttrs&, GradientBuilder& g) {
  return {g.call("gather_nd", {g.head(0), g.input(1)}), {}};
}

using Names = std::vector<std::string>;

}  // namespace

void register_gather_nd(OpRegistry& r) {
  r.add("gather_nd")
      .flops(0)
      .doc("Elements by tuples of indices; the indices have the axes first.")
      .inputs(Names{"data", "indices"})
      .infer(infer_gather)
      .gradient([](const NoAttrs&, GradientBuilder& g) -> NodeEntries {
        return {g.call("_backward_gather_nd_like", {g.head(0), g.input(1), g.input(0)}), {}};
      })
      .reference(prepare_gather);
  r.add("_backward_gather_nd_like")
      .inputs(Names{"head", "indices", "data"})
      .infer(infer_backward)
      .shape_only({2})
      .backward()
      .reference([](const NoAttrs&, const KernelRequest& q) {
        return prepare_scatter_over_zeros<true>(q);
      });
  r.add<ScatterAttrs>("scatter_nd")
      .doc("Writes data to the positions given by tuples of indices, over zeros.")
      .inputs(Names{"data", "indices"})
      .infer(infer_scatter<0>)
      .gradient(gather_back)
      .reference([](const ScatterAttrs&, const KernelRequest& q) {
        return prepare_scatter_over_zeros<false>(q);
      });
  r.add<ScatterAttrs>("_backward_gather_nd")
      .doc("Adds data to the positions given by tuples of indices, over zeros.")
      .inputs(Names{"data", "indices"})
      .infer(infer_scatter<0>)
      .gradient(gather_back)
      .reference([](const ScatterAttrs&, const KernelRequest& q) {
        return prepare_scatter_over_zeros<true>(q);
      });
  r.add<ScatterAttrs>("_scatter_set_nd")
      .doc("Writes rhs to the positions given by tuples of indices, over lhs.")
      .inputs(Names{"lhs", "rhs", "indices"})
      .infer(infer_scatter<1>)
      .inplace(0, 0)
      .reference(prepare_scatter_set);
}

}  // namespace symbind
