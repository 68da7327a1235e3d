// MultiBoxTarget: training targets of anchors, given the objects of each image.
//
// A label row is (class, x1, y1, x2, y2, …); -1 ends them. Each object is matched to the free
// anchor that overlaps it most, best pairs first; then every anchor whose best overlap is above the
// threshold is matched to that object. A matched anchor's class is the object's + 1, its location
//   ((gx − ax)/aw/v0, (gy − ay)/ah/v1, log(gw/aw)/v2, log(gh/ah)/v3)   of centres and extents.
// All others are background (0), or with negative_mining_ratio only that many for each matched one:
// those with the lowest background probability among those that overlap no object by
// negative_mining_thresh; the rest is ignored. In an image without objects all anchors are ignored.
//
// Decided here: no gradient goes to any input. Where MXNet fails because too few anchors remain to
// mine, all of them are used.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/vision/boxes.h"

namespace symbind {
namespace {

struct TargetAttrs {
  float overlap_threshold = 0.5f, ignore_label = -1, negative_mining_ratio = -1,
        negative_mining_thresh = 0.5f;
  int minimum_negative_samples = 0;
  FloatTuple variances = {0.1, 0.1, 0.2, 0.2};

  void describe(AttrVisitor& v) {
    v.field("overlap_threshold", overlap_threshold, "Overlap from which an anchor is a match.");
    v.field("ignore_label", ignore_label, "The class of anchors to ignore.");
    v.field("negative_mining_ratio", negative_mining_ratio,
            "Background anchors for each match; negative: all.");
    v.field("negative_mining_thresh", negative_mining_thresh,
            "Overlap below which an anchor may be background.");
    v.field("minimum_negative_samples", minimum_negative_samples, "Accepted, without effect.");
    v.field("variances", variances, "Divisors of the locations.");
  }
};

void infer(const TargetAttrs& a, Inference& io) {
  check(a.variances.size() == 4, "variances are four numbers, not {}", a.variances.size());
  check(a.negative_mining_ratio <= 0 || a.negative_mining_thresh > 0,
        "negative_mining_thresh must be positive");
  io.all_same_dtype();
  io.set_shape(io.in(0), Shape{1, kUnknownDim, 4}, "anchors (x1, y1, x2, y2), for all images");
  io.set_shape(io.in(1), Shape::of_rank(3), "(batch, objects, label width)");
  io.set_shape(io.in(2), Shape{io.shape(io.in(1))[0], kUnknownDim, io.shape(io.in(0))[1]},
               "(batch, classes, anchors)");
  const std::int64_t width = io.shape(io.in(1))[2];
  check(width < 0 || width >= 5, ErrorKind::kShape,
        "a label has five numbers at least, class and corners; these have {}", width);
  const std::int64_t batch = io.shape(io.in(1))[0], anchors = io.shape(io.in(0))[1];
  const Shape locations{batch, anchors < 0 ? kUnknownDim : 4 * anchors};
  io.set_shape(io.out(0), locations, "four numbers for each anchor");
  io.set_shape(io.out(1), locations, "four numbers for each anchor");
  io.set_shape(io.out(2), Shape{batch, anchors}, "a class for each anchor");
}

/// The anchors of one image while they are being matched.
template <class T>
class Matching {
 public:
  Matching(const T* anchors, std::int64_t count, const T* labels, std::int64_t rows,
           std::int64_t width)
      : anchors_(anchors), count_(count), labels_(labels), width_(width) {
    while (objects_ < rows && static_cast<float>(labels[objects_ * width]) != -1.f) ++objects_;
    overlaps_.resize(static_cast<std::size_t>(count * objects_));
    for (std::int64_t j = 0; j < count; ++j)
      for (std::int64_t k = 0; k < objects_; ++k)
        overlaps_[static_cast<std::size_t>(j * objects_ + k)] =
            box_overlap<float>(anchors + 4 * j, labels + k * width + 1);
    match_.assign(static_cast<std::size_t>(count), -1);
    state_.assign(static_cast<std::size_t>(count), kIgnored);
  }
  bool empty() const { return objects_ == 0; }

  /// Matches every object to its best free anchor, best pairs first.
  void match_best() {
    std::vector<bool> taken(static_cast<std::size_t>(objects_), false);
    for (;;) {
      std::int64_t best_anchor = -1, best_object = -1;
      float best = 1e-6f;
      for (std::int64_t j = 0; j < count_; ++j) {
        if (state(j) == kMatched) continue;
        for (std::int64_t k = 0; k < objects_; ++k)
          if (!taken[static_cast<std::size_t>(k)] && overlap(j, k) > best) {
            best = overlap(j, k);
            best_anchor = j;
            best_object = k;
          }
      }
      if (best_anchor < 0) return;
      match(best_anchor, best_object);
      taken[static_cast<std::size_t>(best_object)] = true;
    }
  }

  void match_above(float threshold) {
    for (std::int64_t j = 0; j < count_; ++j) {
      if (state(j) == kMatched) continue;
      const std::int64_t k = best_object(j);
      if (overlap(j, k) > threshold) match(j, k);
    }
  }

  void all_others_are_background() {
    for (auto& state : state_)
      if (state != kMatched) state = kBackground;
  }

  /// `predictions`: classes × anchors, before softmax.
  void mine(const T* predictions, std::int64_t classes, const TargetAttrs& a) {
    const std::int64_t most =
        clamped_whole(static_cast<float>(matched_) * a.negative_mining_ratio, 0, count_ - matched_);
    std::vector<std::pair<float, std::int64_t>> candidates;  // by probability of background
    for (std::int64_t j = 0; j < count_; ++j)
      if (state(j) != kMatched && overlap(j, best_object(j)) < a.negative_mining_thresh)
        candidates.emplace_back(background_probability(predictions + j, classes), j);
    std::ranges::stable_sort(candidates, {}, &std::pair<float, std::int64_t>::first);
    const auto enough = std::min(static_cast<std::size_t>(most), candidates.size());
    for (std::size_t i = 0; i < enough; ++i)
      state_[static_cast<std::size_t>(candidates[i].second)] = kBackground;
  }

  void write(const TargetAttrs& a, T* location, T* mask, T* classes) const {
    for (std::int64_t j = 0; j < count_; ++j) {
      if (state(j) == kBackground) classes[j] = T(0.f);
      if (state(j) != kMatched) continue;
      const T* object = labels_ + width_ * match_[static_cast<std::size_t>(j)];
      classes[j] = static_cast<T>(static_cast<float>(object[0]) + 1);
      std::fill_n(mask + 4 * j, 4, T(1.f));
      const Centred<float> box(anchors_ + 4 * j), truth(object + 1);
      const auto v = [&](std::size_t i) { return static_cast<float>(a.variances[i]); };
      location[4 * j] = static_cast<T>((truth.x - box.x) / box.width / v(0));
      location[4 * j + 1] = static_cast<T>((truth.y - box.y) / box.height / v(1));
      location[4 * j + 2] = static_cast<T>(std::log(truth.width / box.width) / v(2));
      location[4 * j + 3] = static_cast<T>(std::log(truth.height / box.height) / v(3));
    }
  }

 private:
  enum State : std::int8_t { kIgnored, kBackground, kMatched };

  State state(std::int64_t j) const { return state_[static_cast<std::size_t>(j)]; }
  float overlap(std::int64_t j, std::int64_t k) const {
    return overlaps_[static_cast<std::size_t>(j * objects_ + k)];
  }
  std::int64_t best_object(std::int64_t j) const {
    const auto row = overlaps_.begin() + j * objects_;
    return std::max_element(row, row + objects_) - row;
  }
  void match(std::int64_t j, std::int64_t k) {
    match_[static_cast<std::size_t>(j)] = k;
    state_[static_cast<std::size_t>(j)] = kMatched;
    ++matched_;
  }
  float background_probability(const T* of_anchor, std::int64_t classes) const {
    const auto value = [&](std::int64_t k) { return static_cast<float>(of_anchor[k * count_]); };
    float highest = value(0), sum = 0;
    for (std::int64_t k = 1; k < classes; ++k) highest = std::max(highest, value(k));
    for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(value(k) - highest);
    return std::exp(value(0) - highest) / sum;
  }

  const T* anchors_;
  std::int64_t count_;
  const T* labels_;
  std::int64_t width_, objects_ = 0, matched_ = 0;
  std::vector<float> overlaps_;
  std::vector<std::int64_t> match_;
  std::vector<State> state_;
};

Prepared prepare(const TargetAttrs& a, const KernelRequest& r) {
  check(a.negative_mining_ratio <= 0 || r.in[2].shape[1] > 0, ErrorKind::kShape,
        "negative mining needs the class of the background, cls_pred has shape {}",
        r.in[2].shape.str());
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, label = r.in[1].shape, pred = r.in[2].shape](const Args& args) {
      const std::int64_t anchors = pred[2], batch = label[0];
      std::fill_n(args.out<T>(0), batch * anchors * 4, T(0.f));
      std::fill_n(args.out<T>(1), batch * anchors * 4, T(0.f));
      std::fill_n(args.out<T>(2), batch * anchors, static_cast<T>(a.ignore_label));
      const std::int64_t grain = grain_of(8 * anchors * label[1]);
      parallel_for(batch, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n) {
          Matching<T> matching(args.in<T>(0), anchors, args.in<T>(1) + n * label[1] * label[2],
                               label[1], label[2]);
          if (matching.empty()) continue;
          matching.match_best();
          if (a.overlap_threshold > 0) matching.match_above(a.overlap_threshold);
          if (a.negative_mining_ratio > 0)
            matching.mine(args.in<T>(2) + n * pred[1] * anchors, pred[1], a);
          else
            matching.all_others_are_background();
          matching.write(a, args.out<T>(0) + n * anchors * 4, args.out<T>(1) + n * anchors * 4,
                         args.out<T>(2) + n * anchors);
        }
      });
    };
  });
}

}  // namespace

void register_multibox_target(OpRegistry& r) {
  r.add<TargetAttrs>("_contrib_MultiBoxTarget")
      .inputs(std::vector<std::string>{"anchor", "label", "cls_pred"})
      .outputs({"loc_target", "loc_mask", "cls_target"})
      .doc("Target locations, masks and classes of anchors.")
      .infer(infer)
      .gradient([](const TargetAttrs&, GradientBuilder&) { return NodeEntries(3); })
      .reference(prepare);
}

}  // namespace symbind
