// Proposal, MultiProposal: from a network's scores and shifts of anchors to the regions to look at.
//
// Every cell of the map, feature_stride pixels wide, has an anchor for each ratio and scale, around
// the cell's middle; `cls_prob` has their background scores and then their foreground scores,
// `bbox_pred` four shifts for each, `im_info` a row (height, width, scale) for each image. An
// anchor is shifted, cut at the image's edge, and loses its score if it is less than rpn_min_size *
// scale wide or high, or if its cell is beyond the image. The rpn_pre_nms_top_n of the best scores
// are taken in order; of two that overlap by more than the threshold the worse goes. An output row
// is (image, x1, y1, x2, y2), its score is the second output; if too few are left they are
// repeated.
//
// Decided here: sizes count pixels, so a box from 3 to 3 is one wide (boxes.h's overlap is of
// edges); a box that is too small grows by half the least size on each side, as in MXNet, before
// its turn comes; no gradient goes to any input. Proposal takes one image, MultiProposal any
// number.
#include <symbind/operator.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct ProposalAttrs {
  int rpn_pre_nms_top_n = 6000;
  int rpn_post_nms_top_n = 300;
  float threshold = 0.7f;
  int rpn_min_size = 16;
  FloatTuple scales = {4, 8, 16, 32};
  FloatTuple ratios = {0.5, 1, 2};
  int feature_stride = 16;
  bool output_score = false;
  bool iou_loss = false;

  void describe(AttrVisitor& v) {
    v.field("rpn_pre_nms_top_n", rpn_pre_nms_top_n,
            "So many of the best scores are compared; 0 or less: all.");
    v.field("rpn_post_nms_top_n", rpn_post_nms_top_n, "Regions in the output, for each image.");
    v.field("threshold", threshold, "Overlap of two boxes for one region.");
    v.field("rpn_min_size", rpn_min_size, "Least width and height, before scaling.");
    v.field("scales", scales, "Sizes of the anchors, in cells.");
    v.field("ratios", ratios, "Heights of the anchors by their widths.");
    v.field("feature_stride", feature_stride, "Pixels of the image for each cell.");
    v.field("output_score", output_score, "Whether the scores are a second visible output.");
    v.field("iou_loss", iou_loss, "Shifts are of the corners, not of middle and size.");
  }

  std::int64_t anchors() const { return static_cast<std::int64_t>(scales.size() * ratios.size()); }
};

template <bool kOneImage>
void infer(const ProposalAttrs& a, Inference& io) {
  check(a.anchors() > 0, "scales and ratios must not be empty");
  for (const double ratio : a.ratios) check(ratio > 0, "ratios must be positive, not {}", ratio);
  check(a.rpn_post_nms_top_n > 0, "rpn_post_nms_top_n {} must be positive", a.rpn_post_nms_top_n);
  check(a.feature_stride > 0, "feature_stride {} must be positive", a.feature_stride);
  io.all_same_dtype();
  io.set_shape(io.in(0),
               Shape{kOneImage ? 1 : kUnknownDim, 2 * a.anchors(), kUnknownDim, kUnknownDim},
               kOneImage ? "one image (MultiProposal takes several), two scores for each anchor of "
                           "scales and ratios"
                         : "two scores for each anchor of scales and ratios");
  const Shape scores = io.shape(io.in(0));
  io.set_shape(io.in(1), Shape{scores[0], 4 * a.anchors(), scores[2], scores[3]},
               "four shifts for each anchor");
  io.set_shape(io.in(2), Shape{scores[0], 3}, "(height, width, scale) of each image");
  const std::int64_t rows =
      scores[0] < 0 ? std::int64_t{kUnknownDim} : scores[0] * a.rpn_post_nms_top_n;
  io.set_shape(io.out(0), Shape{rows, 5}, "(image, x1, y1, x2, y2) for every region");
  io.set_shape(io.out(1), Shape{rows, 1}, "a score for every region");
}

/// A box with both corners' pixels in it, and its score.
template <class F>
struct Region {
  F x1, y1, x2, y2, score;
  F width() const { return x2 - x1 + 1; }
  F height() const { return y2 - y1 + 1; }
};

template <class F>
F overlap(const Region<F>& a, const Region<F>& b) {
  const F w = std::max(F(0), std::min(a.x2, b.x2) - std::max(a.x1, b.x1) + 1),
          h = std::max(F(0), std::min(a.y2, b.y2) - std::max(a.y1, b.y1) + 1);
  const F common = w * h;
  return common / (a.width() * a.height() + b.width() * b.height() - common);
}

template <class T>
class Proposals {
  using F = Accumulator<T>;

 public:
  Proposals(const ProposalAttrs& a, const Shape& scores)
      : a_(a), count_(a.anchors()), high_(scores[2]), wide_(scores[3]) {
    // Of a square cell: widths and heights are whole before they are scaled.
    const F stride = static_cast<F>(a.feature_stride), middle = (stride - 1) / 2;
    for (const double ratio : a.ratios)
      for (const double scale : a.scales) {
        const F w = std::floor(std::sqrt(std::floor(stride * stride / static_cast<F>(ratio))) +
                               F(0.5)),
                h = std::floor(w * static_cast<F>(ratio) + F(0.5));
        const F x = (w * static_cast<F>(scale) - 1) / 2, y = (h * static_cast<F>(scale) - 1) / 2;
        anchors_.push_back({middle - x, middle - y, middle + x, middle + y, 0});
      }
  }

  /// The regions of one image.
  void run(std::int64_t image, const T* scores, const T* shifts, const T* info, T* out,
           T* out_scores) const {
    std::vector<Region<F>> found = place(scores, shifts, info);
    std::vector<std::size_t> order(found.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rank = [&](std::size_t i) {  // a NaN, which has no place in an order, comes last
      return std::isnan(found[i].score) ? -std::numeric_limits<F>::infinity() : found[i].score;
    };
    std::ranges::stable_sort(order,
                             [&](std::size_t i, std::size_t j) { return rank(i) > rank(j); });
    if (a_.rpn_pre_nms_top_n > 0)
      order.resize(std::min(order.size(), static_cast<std::size_t>(a_.rpn_pre_nms_top_n)));
    const std::vector<std::size_t> kept = suppress(found, order);
    for (std::size_t i = 0; i < static_cast<std::size_t>(a_.rpn_post_nms_top_n); ++i, out += 5) {
      const Region<F>& r = found[kept[i % kept.size()]];
      out[0] = static_cast<T>(static_cast<float>(image));
      const std::array<F, 4> corners = {r.x1, r.y1, r.x2, r.y2};
      for (std::size_t k = 0; k < 4; ++k) out[k + 1] = static_cast<T>(corners[k]);
      if (out_scores) out_scores[i] = static_cast<T>(r.score);
    }
  }

 private:
  /// Every anchor, shifted and judged, cell by cell.
  std::vector<Region<F>> place(const T* scores, const T* shifts, const T* info) const {
    const F high = static_cast<F>(info[0]), wide = static_cast<F>(info[1]),
            least = static_cast<F>(a_.rpn_min_size) * static_cast<F>(info[2]),
            stride = static_cast<F>(a_.feature_stride);
    check(high / stride < static_cast<F>(high_ + 1) && wide / stride < static_cast<F>(wide_ + 1),
          "im_info says {} x {} pixels, but {} x {} cells of {} pixels are fewer",
          static_cast<double>(high), static_cast<double>(wide), high_, wide_, a_.feature_stride);
    const std::int64_t cells = high_ * wide_;
    std::vector<Region<F>> found;
    found.reserve(static_cast<std::size_t>(cells * count_));
    for (std::int64_t i = 0; i < high_; ++i)
      for (std::int64_t j = 0; j < wide_; ++j)
        for (std::int64_t k = 0; k < count_; ++k) {
          const std::int64_t cell = i * wide_ + j;
          std::array<F, 4> d;
          for (std::size_t n = 0; n < 4; ++n)
            d[n] = static_cast<F>(shifts[(4 * k + static_cast<std::int64_t>(n)) * cells + cell]);
          Region<F> r = shifted(anchors_[static_cast<std::size_t>(k)], static_cast<F>(j) * stride,
                                static_cast<F>(i) * stride, d);
          r.x1 = std::max(std::min(r.x1, wide - 1), F(0));
          r.y1 = std::max(std::min(r.y1, high - 1), F(0));
          r.x2 = std::max(std::min(r.x2, wide - 1), F(0));
          r.y2 = std::max(std::min(r.y2, high - 1), F(0));
          r.score = static_cast<F>(scores[(count_ + k) * cells + cell]);
          if (static_cast<F>(i + 1) > high / stride || static_cast<F>(j + 1) > wide / stride)
            r.score = -1;
          if (r.width() < least || r.height() < least)
            r = {r.x1 - least / 2, r.y1 - least / 2, r.x2 + least / 2, r.y2 + least / 2, -1};
          found.push_back(r);
        }
    return found;
  }

  Region<F> shifted(const Region<F>& anchor, F right, F down, const std::array<F, 4>& d) const {
    const Region<F> box = {anchor.x1 + right, anchor.y1 + down, anchor.x2 + right, anchor.y2 + down,
                           0};
    if (a_.iou_loss) return {box.x1 + d[0], box.y1 + d[1], box.x2 + d[2], box.y2 + d[3], 0};
    const F x = d[0] * box.width() + box.x1 + (box.width() - 1) / 2,
            y = d[1] * box.height() + box.y1 + (box.height() - 1) / 2,
            w = (std::exp(d[2]) * box.width() - 1) / 2, h = (std::exp(d[3]) * box.height() - 1) / 2;
    return {x - w, y - h, x + w, y + h, 0};
  }

  /// The best first; at most as many as the output has rows.
  std::vector<std::size_t> suppress(const std::vector<Region<F>>& found,
                                    const std::vector<std::size_t>& order) const {
    std::vector<std::size_t> kept;
    std::vector<bool> gone(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (gone[i]) continue;
      kept.push_back(order[i]);
      if (kept.size() == static_cast<std::size_t>(a_.rpn_post_nms_top_n)) break;
      for (std::size_t j = i + 1; j < order.size(); ++j)
        if (!gone[j] && overlap(found[order[i]], found[order[j]]) > static_cast<F>(a_.threshold))
          gone[j] = true;
    }
    return kept;
  }

  ProposalAttrs a_;
  std::int64_t count_, high_, wide_;
  std::vector<Region<F>> anchors_;
};

Prepared prepare(const ProposalAttrs& a, const KernelRequest& r) {
  check(r.in[0].shape.size() > 0, "the map of cells is empty: {}", r.in[0].shape.str());
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [proposals = Proposals<T>(a, r.in[0].shape), shape = r.in[0].shape,
            rows = std::int64_t{a.rpn_post_nms_top_n}](const Args& args) {
      const std::int64_t size = shape[1] * shape[2] * shape[3];
      parallel_for(shape[0], 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n)
          proposals.run(n, args.in<T>(0) + n * size, args.in<T>(1) + 2 * n * size,
                        args.in<T>(2) + 3 * n, args.out<T>(0) + n * rows * 5,
                        args.wants(1) ? args.out<T>(1) + n * rows : nullptr);
      });
    };
  });
}

template <bool kOneImage>
void add(OpRegistry& r, const char* name, const char* doc) {
  r.add<ProposalAttrs>(name)
      .doc(doc)
      .inputs({"cls_prob", "bbox_pred", "im_info"})
      .outputs(
          [](const ProposalAttrs&) {
            return std::vector<std::string>{"output", "score"};
          },
          [](const ProposalAttrs& a) { return a.output_score ? 2 : 1; })
      .infer(infer<kOneImage>)
      .gradient([](const ProposalAttrs&, GradientBuilder&) { return NodeEntries(3); })
      .reference(prepare);
}

}  // namespace

void register_proposal(OpRegistry& r) {
  add<true>(r, "_contrib_Proposal",
            "Regions of one image to look at, from scores and shifts of anchors.");
  add<false>(r, "_contrib_MultiProposal",
             "Regions of several images to look at, from scores and shifts of anchors.");
}

}  // namespace symbind
