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
#include "kernels/channel_lanes.h"
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

/// For every axis from 2 on, the input index each output index reads; -1 is the border. An element
/// has as many numbers as the layout has lanes.
struct Maps {
  /// Neighbours in a row of the output that are neighbours in the input, or border.
  struct Run {
    std::int64_t to, from, count;  ///< in numbers; `from` is -1 for the border
  };
  std::array<std::vector<std::int64_t>, 2> axis;  ///< of the rows; (0) where there is no such axis
  std::vector<Run> runs;                          ///< of the last axis
  std::array<std::int64_t, 3> in{1, 1, 1};
  std::int64_t planes, lanes, out_width = 0;

  Maps(const PadAttrs& a, const Shape& shape, Layout layout) {
    const ChannelLanes stored(shape, layout);
    planes = stored.batch * stored.groups;
    lanes = stored.lanes;
    const int skipped = 5 - shape.rank();
    std::array<std::vector<std::int64_t>, 3> maps;
    for (int k = 0; k < 3; ++k) {
      auto& map = maps[static_cast<std::size_t>(k)];
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
    axis = {std::move(maps[0]), std::move(maps[1])};
    out_width = static_cast<std::int64_t>(maps[2].size()) * lanes;
    std::int64_t to = 0;
    for (const std::int64_t i : maps[2]) {
      const std::int64_t from = i < 0 ? -1 : i * lanes;
      const bool extends =
          !runs.empty() &&
          (from < 0 ? runs.back().from < 0
                    : runs.back().from >= 0 && runs.back().from + runs.back().count == from);
      if (extends)
        runs.back().count += lanes;
      else
        runs.push_back({to, from, lanes});
      to += lanes;
    }
  }
  std::int64_t in_plane() const { return in[0] * in[1] * in[2] * lanes; }
  std::int64_t out_plane() const {
    return static_cast<std::int64_t>(axis[0].size() * axis[1].size()) * out_width;
  }
  /// Calls run(place in the output, place in the input or -1, count) for one plane.
  template <class F>
  void each_run(F run) const {
    std::int64_t at = 0;
    for (const std::int64_t z : axis[0])
      for (const std::int64_t y : axis[1]) {
        const std::int64_t row = z < 0 || y < 0 ? -1 : (z * in[1] + y) * in[2] * lanes;
        for (const Run& r : runs)
          run(at + r.to, row < 0 || r.from < 0 ? -1 : row + r.from, r.count);
        at += out_width;
      }
  }
  template <class F>
  void each_plane(F plane) const {
    parallel_for(planes, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, out_plane())),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t p = begin; p < end; ++p) plane(p);
                 });
  }
};

/// Any layout: channels are not padded.
Offer offer(const PadAttrs&, const KernelRequest& q) {
  Offer accepted = accept_plain(q);
  accepted.in_layouts[0] = accepted.out_layouts[0] = q.in[0].layout;
  return accepted;
}

Prepared prepare(const PadAttrs& a, const KernelRequest& q, const Offer& offer) {
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [made = FirstRun([a, shape = q.in[0].shape, layout = offer.in_layouts[0]] {
              return Maps(a, shape, layout);
            }),
            border = convert_element<T>(a.constant_value)](const Args& args) {
      const Maps& maps = made();
      maps.each_plane([&](std::int64_t p) {
        const T* x = args.in<T>(0) + p * maps.in_plane();
        T* y = args.out<T>(0) + p * maps.out_plane();
        maps.each_run([&](std::int64_t to, std::int64_t from, std::int64_t count) {
          if (from < 0)
            std::fill_n(y + to, count, border);
          else
            std::copy_n(x + from, count, y + to);
        });
      });
    };
  });
}

Prepared prepare_backward(const PadAttrs& a, const KernelRequest& q, const Offer& offer) {
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [made = FirstRun([a, shape = q.in[1].shape, layout = offer.in_layouts[0]] {
              return Maps(a, shape, layout);
            })](const Args& args) {
      const Maps& maps = made();
      maps.each_plane([&](std::int64_t p) {
        const T* dy = args.in<T>(0) + p * maps.out_plane();
        T* dx = args.out<T>(0) + p * maps.in_plane();
        std::fill_n(dx, maps.in_plane(), T(0));
        maps.each_run([&](std::int64_t at, std::int64_t to, std::int64_t count) {
          for (std::int64_t i = 0; to >= 0 && i < count; ++i)
            dx[to + i] = static_cast<T>(dx[to + i] + dy[at + i]);
        });
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
      .kernel(DeviceType::kCpu, "reference", offer, prepare);
  r.add<PadAttrs>("_backward_Pad")
      .precision(Precision::kAsStored)
      .flops(0)
      .inputs(std::vector<std::string>{"head", "data"})
      .infer(infer_backward)
      .shape_only({1})
      .backward()
      .kernel(DeviceType::kCpu, "reference", offer, prepare_backward);
}

}  // namespace symbind
