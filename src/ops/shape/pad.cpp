// A border around an array of four or five axes: constant, edge (the nearest element) or reflect
// (mirrored at the edge, without repeating the edge).
//
// Decided here: only axes 2 and up are padded, as in MXNet. The gradient of a border element goes
// to the element it was copied from; for `constant` it is dropped.
#include <algorithm>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/first_run.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct PadAttrs {
  std::string mode;
  Tuple pad_width;
  double constant_value = 0;
  void describe(AttrVisitor& v) {
    v.field("mode", mode, "How the border is filled.")
        .required()
        .choices({"constant", "edge", "reflect"});
    v.field("pad_width", pad_width,
            "Before and after, for each axis: (before0, after0, before1, …).")
        .required();
    v.field("constant_value", constant_value, "The border's value with mode constant.");
  }
};

void infer(const PadAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  check(in.rank() == 4 || in.rank() == 5, ErrorKind::kShape,
        "Pad needs an input of rank 4 or 5, not shape {}", in.str());
  check(static_cast<int>(a.pad_width.size()) == 2 * in.rank(),
        "pad_width {} must have {} members, two for each axis", tuple_text(a.pad_width),
        2 * in.rank());
  Shape out = in;
  for (int d = 0; d < in.rank(); ++d) {
    const std::int64_t before = a.pad_width[static_cast<std::size_t>(2 * d)],
                       after = a.pad_width[static_cast<std::size_t>(2 * d + 1)];
    check(before >= 0 && after >= 0, "pad_width {} must not be negative", tuple_text(a.pad_width));
    check(d >= 2 || (before == 0 && after == 0),
          "pad_width {} pads axis {}: only axes 2 and up can be padded", tuple_text(a.pad_width),
          d);
    if (in[d] < 0) continue;
    out[d] = checked_add(checked_add(in[d], before, "an axis with its border"), after,
                         "an axis with its border");
    if (before == 0 && after == 0) continue;
    check(a.mode != "edge" || in[d] > 0, ErrorKind::kShape,
          "edge has nothing to repeat: axis {} of {} has no elements", d, in.str());
    check(a.mode != "reflect" || std::max(before, after) < in[d],
          "reflect needs a border smaller than the extent {} of axis {}", in[d], d);
  }
  io.set_shape(io.out(0), out, "attribute pad_width");
}

void infer_backward(const PadAttrs& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  io.all_same_dtype();
  tie_to_forward(a, io, infer, {.inputs = 1, .outputs = 1, .from = {io.out(0), io.in(0)}});
}

/// For every axis from 2 on, the input index each output index reads; -1 is the border.
struct Maps {
  std::array<std::vector<std::int64_t>, 3>
      axis;  ///< of the last three axes; (0) where there are fewer
  std::array<std::int64_t, 3> in{1, 1, 1};
  std::int64_t planes = 1;
  Maps(const PadAttrs& a, const Shape& shape) : planes(shape.count(0, 2)) {
    const int skipped = 5 - shape.rank();
    for (int k = 0; k < 3; ++k) {
      auto& map = axis[static_cast<std::size_t>(k)];
      const int d = 2 + k - skipped;
      if (d < 2) {
        map = {0};
        continue;
      }
      const std::int64_t n = shape[d], before = a.pad_width[static_cast<std::size_t>(2 * d)],
                         after = a.pad_width[static_cast<std::size_t>(2 * d + 1)];
      in[static_cast<std::size_t>(k)] = n;
      map.reserve(static_cast<std::size_t>(before + n + after));
      for (std::int64_t i = -before; i < n + after; ++i) {
        if (i >= 0 && i < n)
          map.push_back(i);
        else if (a.mode == "constant")
          map.push_back(-1);
        else if (a.mode == "edge")
          map.push_back(i < 0 ? 0 : n - 1);
        else
          map.push_back(i < 0 ? -i : 2 * (n - 1) - i);
      }
    }
  }
  std::int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  std::int64_t out_plane() const {
    return static_cast<std::int64_t>(axis[0].size() * axis[1].size() * axis[2].size());
  }
  /// Calls row(out_offset, in_offset or -1) for every row of one plane.
  template <class Row>
  void rows(Row row) const {
    std::int64_t at = 0;
    for (const std::int64_t z : axis[0])
      for (const std::int64_t y : axis[1]) {
        row(at, z < 0 || y < 0 ? -1 : (z * in[1] + y) * in[2]);
        at += static_cast<std::int64_t>(axis[2].size());
      }
  }
};

Prepared prepare(const PadAttrs& a, const KernelRequest& q) {
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [made = FirstRun([a, shape = q.in[0].shape] { return Maps(a, shape); }),
            border = convert_element<T>(a.constant_value)](const Args& args) {
      const Maps& maps = made();
      parallel_for(maps.planes, std::max<std::int64_t>(1, 16384 / maps.out_plane()),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t p = begin; p < end; ++p) {
                       const T* x = args.in<T>(0) + p * maps.in_plane();
                       T* y = args.out<T>(0) + p * maps.out_plane();
                       maps.rows([&](std::int64_t to, std::int64_t from) {
                         for (const std::int64_t i : maps.axis[2])
                           y[to++] = from < 0 || i < 0 ? border : x[from + i];
                       });
                     }
                   });
    };
  });
}

Prepared prepare_backward(const PadAttrs& a, const KernelRequest& q) {
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return
        [made = FirstRun([a, shape = q.in[1].shape] { return Maps(a, shape); })](const Args& args) {
          const Maps& maps = made();
          parallel_for(maps.planes, std::max<std::int64_t>(1, 16384 / maps.out_plane()),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t p = begin; p < end; ++p) {
                           const T* dy = args.in<T>(0) + p * maps.out_plane();
                           T* dx = args.out<T>(0) + p * maps.in_plane();
                           std::fill_n(dx, maps.in_plane(), T(0));
                           maps.rows([&](std::int64_t at, std::int64_t to) {
                             for (const std::int64_t i : maps.axis[2]) {
                               if (to >= 0 && i >= 0)
                                 dx[to + i] = static_cast<T>(dx[to + i] + dy[at]);
                               ++at;
                             }
                           });
                         }
                       });
        };
  });
}

}  // namespace

void register_pad(OpRegistry& r) {
  r.add<PadAttrs>("Pad")
      .precision(Precision::kAsStored)
      .flops(0)
      .inputs(std::vector<std::string>{"data"})
      .doc("The input with a border.")
      .alias("pad")
      .infer(infer)
      .gradient([](const PadAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_Pad", {g.head(0), g.input(0)});
      })
      .reference(prepare);
  r.add<PadAttrs>("_backward_Pad")
      .precision(Precision::kAsStored)
      .flops(0)
      .inputs(std::vector<std::string>{"head", "data"})
      .infer(infer_backward)
      .shape_only({1})
      .backward()
      .reference(prepare_backward);
}

}  // namespace symbind
