// box_nms: of boxes that overlap, the one with the highest score.
//
// A row of the data holds a box at coord_start, its score and perhaps a class; leading axes are
// batches. Rows whose score is above valid_thresh and whose class is not background_id are ordered
// by score, the first topk of them compared: a row is dropped if it overlaps an earlier one by more
// than overlap_thresh (of the same class, unless force_suppress or there are no classes). The
// remaining rows come first in the output; the rest is -1.
//
// Decided here: the source index of each output row is a hidden output, and the gradient goes back
// there unchanged, even if the format of the box changes, as MXNet documents. MXNet treats a box
// whose first coordinate is negative as an empty row and does not convert its format; here every
// remaining box is converted.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "kernels/gather.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/vision/boxes.h"

namespace symbind {
namespace {

struct BoxNmsAttrs {
  float overlap_thresh = 0.5f;
  float valid_thresh = 0;
  int topk = -1;
  int coord_start = 2;
  std::int64_t coord_last() const { return std::int64_t{coord_start} + 3; }
  int score_index = 1;
  int id_index = -1;
  int background_id = -1;
  bool force_suppress = false;
  std::string in_format = "corner";
  std::string out_format = "corner";

  void describe(AttrVisitor& v) {
    v.field("overlap_thresh", overlap_thresh,
            "Overlap above which the box with the lower score is dropped.");
    v.field("valid_thresh", valid_thresh, "Scores up to this are ignored.");
    v.field("topk", topk, "Keeps the top k scores; negative: all, 0: no change.");
    v.field("coord_start", coord_start, "Where in a row the four coordinates begin.");
    v.field("score_index", score_index, "Where in a row the score is.");
    v.field("id_index", id_index, "Where in a row the class is; negative: there is none.");
    v.field("background_id", background_id, "The class of the background.");
    v.field("force_suppress", force_suppress, "Whether boxes of other classes also suppress.");
    v.field("in_format", in_format, "corner: (x1, y1, x2, y2); center: (x, y, width, height).")
        .choices({"center", "corner"});
    v.field("out_format", out_format, "The format of the remaining boxes.")
        .choices({"center", "corner"});
  }
};

/// An index in a row other than those of the coordinates.
void check_place(const BoxNmsAttrs& a, const char* name, int place, std::int64_t width) {
  check(place >= 0 && place < width, "{} {} is outside a row of {}", name, place, width);
  check(place < a.coord_start || place > a.coord_last(),
        "{} {} is one of the coordinates, {} to {}", name, place, a.coord_start, a.coord_last());
}

void infer(const BoxNmsAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  io.set_dtype(io.out(1), DType::kInt64, "places");
  const Shape& x = io.shape(io.in(0));
  if (!x.rank_known()) return;
  check(x.rank() >= 2, "the data {} must have rows of boxes, (…, boxes, width)", x.str());
  const std::int64_t width = x[x.rank() - 1];
  if (width >= 0) {
    check(a.coord_start >= 0 && a.coord_last() < width,
          "coordinates {} to {} are outside a row of {}", a.coord_start, a.coord_last(), width);
    check_place(a, "score_index", a.score_index, width);
    if (a.id_index >= 0) {
      check_place(a, "id_index", a.id_index, width);
      check(a.id_index != a.score_index, "id_index and score_index are both {}", a.id_index);
    }
  }
  Shape places = x;
  places[x.rank() - 1] = 1;
  io.set_shape(io.out(1), places, "a source index for each row");
}

// Inputs: dy, the source indices.
void infer_backward(const BoxNmsAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  io.set_dtype(io.in(1), DType::kInt64);
  tie_to_forward(a, io, infer, {.inputs = 1, .outputs = 2, .from = {io.out(0), io.out(1)}});
}

NodeEntries gradient(const BoxNmsAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_contrib_box_nms", {g.head(0), g.output(1)});
}

template <class T>
class Suppression {
  using Acc = Accumulator<T>;

 public:
  Suppression(const BoxNmsAttrs& a, std::int64_t rows, std::int64_t width)
      : a_(a), rows_(rows), width_(width) {}

  /// The indices of the remaining rows of one batch, best first.
  std::vector<std::int64_t> left(const T* x) const {
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < rows_; ++i)
      if (valid(x + i * width_)) order.push_back(i);
    std::ranges::stable_sort(order, [&](std::int64_t i, std::int64_t j) {
      return value(x, i, a_.score_index) > value(x, j, a_.score_index);
    });
    if (a_.topk > 0 && order.size() > static_cast<std::size_t>(a_.topk))
      order.resize(static_cast<std::size_t>(a_.topk));
    std::vector<std::int64_t> kept;
    std::vector<Corners<Acc>> boxes;
    for (const std::int64_t i : order) {
      const Corners<Acc> box = corners(x + i * width_);
      bool covered = false;
      for (std::size_t k = 0; k < kept.size() && !covered; ++k)
        covered = compared(x, kept[k], i) && overlap(boxes[k], box) > a_.overlap_thresh;
      if (covered) continue;
      kept.push_back(i);
      boxes.push_back(box);
    }
    return kept;
  }

  /// A remaining row, in the output format.
  void copy(const T* row, T* out) const {
    std::copy_n(row, width_, out);
    if (a_.in_format == a_.out_format) return;
    const T* in = row + a_.coord_start;
    T* to = out + a_.coord_start;
    for (int axis = 0; axis < 2; ++axis) {
      const Acc first = static_cast<Acc>(in[axis]), second = static_cast<Acc>(in[axis + 2]);
      const bool to_center = a_.out_format == "center";
      to[axis] = static_cast<T>(to_center ? (first + second) / 2 : first - second / 2);
      to[axis + 2] = static_cast<T>(to_center ? second - first : first + second / 2);
    }
  }

 private:
  Acc value(const T* x, std::int64_t row, int place) const {
    return static_cast<Acc>(x[row * width_ + place]);
  }
  bool valid(const T* row) const {
    if (!(static_cast<Acc>(row[a_.score_index]) > static_cast<Acc>(a_.valid_thresh))) return false;
    return a_.id_index < 0 ||
           static_cast<Acc>(row[a_.id_index]) != static_cast<Acc>(a_.background_id);
  }
  bool compared(const T* x, std::int64_t i, std::int64_t j) const {
    return a_.force_suppress || a_.id_index < 0 ||
           std::trunc(value(x, i, a_.id_index)) == std::trunc(value(x, j, a_.id_index));
  }
  Corners<Acc> corners(const T* row) const {
    return Corners<Acc>(row + a_.coord_start, a_.in_format == "center");
  }

  BoxNmsAttrs a_;
  std::int64_t rows_, width_;
};

Prepared forward(const BoxNmsAttrs& a, const KernelRequest& r) {
  const Shape& x = r.in[0].shape;
  const std::int64_t rows = x[x.rank() - 2], width = x[x.rank() - 1],
                     batches = rows * width == 0 ? 0 : x.size() / (rows * width);
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [nms = Suppression<T>(a, rows, width), unchanged = a.topk == 0, rows, width,
            batches](const Args& args) {
      std::int64_t* places = args.wants(1) ? args.out<std::int64_t>(1) : nullptr;
      if (unchanged) {
        std::copy_n(args.in<T>(0), batches * rows * width, args.out<T>(0));
        for (std::int64_t i = 0; places && i < batches * rows; ++i) places[i] = i;
        return;
      }
      const std::int64_t grain = grain_of(8 * rows);
      parallel_for(batches, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n) {
          const T* x = args.in<T>(0) + n * rows * width;
          T* y = args.out<T>(0) + n * rows * width;
          const std::vector<std::int64_t> kept = nms.left(x);
          const auto count = static_cast<std::int64_t>(kept.size());
          for (std::int64_t i = 0; i < count; ++i)
            nms.copy(x + kept[static_cast<std::size_t>(i)] * width, y + i * width);
          std::fill_n(y + count * width, (rows - count) * width, T(-1.f));
          for (std::int64_t i = 0; places && i < rows; ++i)
            places[n * rows + i] = i < count ? n * rows + kept[static_cast<std::size_t>(i)] : -1;
        }
      });
    };
  });
}

Prepared backward(const BoxNmsAttrs&, const KernelRequest& r) {
  const Shape& x = r.out[0].shape;
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [size = x.size(), width = x[x.rank() - 1]](const Args& args) {
      const T* dy = args.in<T>(0);
      T* dx = args.out<T>(0);
      const auto* places = args.in<std::int64_t>(1);
      std::fill_n(dx, size, T(0.f));
      for (std::int64_t i = 0; i * width < size; ++i)
        if (places[i] >= 0)
          std::copy_n(dy + i * width, width, dx + checked_index(places[i], size / width) * width);
    };
  });
}

}  // namespace

void register_box_nms(OpRegistry& r) {
  using A = BoxNmsAttrs;
  r.add<A>("_contrib_box_nms")
      .alias("_contrib_box_non_maximum_suppression")
      .doc("Of boxes that overlap, keeps the one with the highest score.")
      .outputs({"output0", "output1"}, 1)
      .skips_unread(1)
      .infer(infer)
      .gradient(gradient)
      .reference(forward);
  r.add<A>("_backward_contrib_box_nms")
      .backward()
      .inputs({"dy", "places"})
      .infer(infer_backward)
      .reference(backward);
}

}  // namespace symbind
