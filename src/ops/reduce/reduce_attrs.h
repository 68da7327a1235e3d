// Shared by the reducing operators: attributes, shapes, and the gradient.
#pragma once

#include <algorithm>

#include <symbind/operator.h>

#include "kernels/elementwise.h"
#include "kernels/reduce.h"

namespace symbind {

struct ReduceAttrs {
  std::optional<Tuple> axis;
  bool keepdims = false;
  bool exclude = false;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axes to reduce; None and () mean all.");
    v.field("keepdims", keepdims, "Keeps reduced axes with extent 1.");
    v.field("exclude", exclude, "Reduces all axes but the given ones.");
  }
  Tuple axes() const { return axis.value_or(Tuple{}); }
};

/// The output's shape; extents that stay are inferred both ways.
inline void infer_reduced(const Tuple& axes, bool exclude, bool keepdims, Inference& io) {
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  const auto reduced = reduced_axes(axes, exclude, in.rank());
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    if (!reduced[static_cast<std::size_t>(d)])
      out.push_back(in[d]);
    else if (keepdims)
      out.push_back(1);
  }
  const bool is_full = out.rank() == 0;
  if (is_full) out = scalar_shape();
  io.set_shape(io.out(0), out, "the axes that are not reduced stay");
  if (is_full) return;
  Shape back = in;
  const Shape& known = io.shape(io.out(0));
  for (int d = 0, k = 0; d < in.rank(); ++d) {
    if (!reduced[static_cast<std::size_t>(d)])
      back[d] = known[k++];
    else if (keepdims)
      ++k;
  }
  io.set_shape(io.in(0), back);
}

/// dx = f(dy · scale, x, y) where dy (input 0) and y (input 2, when there is one) have the shape
/// `small` and x (input 1) the shape `large`.
inline Prepared spread_back(TernaryLoop f, const ElementType& type, const Shape& large,
                            const Shape& small, double scale, bool has_output) {
  const bool is_double = type.compute == Compute::kDouble;
  return [f, type, is_double, scale, has_output,
          walk = BroadcastWalk(large, small, large)](const Args& args) {
    const auto* head = static_cast<const char*>(args.inputs[0].data);
    const auto* x = static_cast<const char*>(args.inputs[1].data);
    const auto* y = has_output ? static_cast<const char*>(args.inputs[2].data) : head;
    auto* dx = static_cast<char*>(args.outputs[0].data);
    const auto size = static_cast<std::int64_t>(type.size);
    const bool value = walk.form() == Operand::kRightValue;
    const auto load = [&](const char* from, void* to, std::int64_t n) {
      if (type.load != nullptr)
        type.load(from, to, n);
      else
        std::copy_n(from, n * size, static_cast<char*>(to));
    };
    const auto prepare = [&]<class T>(T* g, T* o, std::int64_t ib, std::int64_t n) {
      load(head + ib * size, g, value ? 1 : n);
      load(y + ib * size, o, value ? 1 : n);
      if (value) {
        std::fill_n(g + 1, n - 1, *g);
        std::fill_n(o + 1, n - 1, *o);
      }
      if (scale != 1)
        for (std::int64_t i = 0; i < n; ++i) g[i] *= static_cast<T>(scale);
    };
    for_runs(walk, 8192, [&](std::int64_t at, std::int64_t, std::int64_t ib, std::int64_t n) {
      alignas(64) char g[kChunk * 8], o[kChunk * 8], in[kChunk * 8];
      for (std::int64_t i = 0; i < n; i += kChunk) {
        const std::int64_t m = std::min(kChunk, n - i), b = value ? ib : ib + i;
        if (is_double)
          prepare(reinterpret_cast<double*>(g), reinterpret_cast<double*>(o), b, m);
        else
          prepare(reinterpret_cast<float*>(g), reinterpret_cast<float*>(o), b, m);
        const char* xs = x + (at + i) * size;
        if (type.load != nullptr) {
          type.load(xs, in, m);
          f(g, in, o, in, m);
          type.store(in, dx + (at + i) * size, m);
        } else {
          f(g, xs, o, dx + (at + i) * size, m);
        }
      }
    });
  };
}

}  // namespace symbind
