// Proposal and MultiProposal: regions that may hold an object, from a region proposal network.
//
// Every position of the feature map has the same anchors, one for each pair of ratio and scale:
// boxes around the centre of a feature_stride × feature_stride cell, both corners inside. bbox_pred
// moves them (by centre and log extent; with iou_loss by corners), im_info (height, width, scale)
// clips them. Regions below rpn_min_size, and those of padding, get score -1. The best
// rpn_pre_nms_top_n are kept; of two that overlap by more than the threshold the worse is dropped;
// at most rpn_post_nms_top_n remain. A row of the output is (image, x1, y1, x2, y2); if there are
// too few, rows are repeated.
//
// Decided here: Proposal accepts several images as MultiProposal does, where MXNet refuses more
// than one; both names are one operator, and images are numbered within the batch. No gradient goes
// to any input.
#include <symbind/operator.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"

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
    v.field("rpn_pre_nms_top_n", rpn_pre_nms_top_n, "Regions compared with each other; 0: all.");
    v.field("rpn_post_nms_top_n", rpn_post_nms_top_n, "Regions of an image.").at_least(1);
    v.field("threshold", threshold,
            "Overlap above which the region with the lower score is dropped.");
    v.field("rpn_min_size", rpn_min_size, "Least height and width, in the unscaled image.");
    v.field("scales", scales, "Sizes of the anchors, in cells.");
    v.field("ratios", ratios, "Height by width of the anchors.");
    v.field("feature_stride", feature_stride, "Size of a cell in the image.").at_least(1);
    v.field("output_score", output_score, "Whether the scores are a second output.");
    v.field("iou_loss", iou_loss, "Whether bbox_pred moves corners instead of centre and extent.");
  }
};

void infer(const ProposalAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.set_dtype(io.in(0), DType::kFloat32, "regions are computed in float32");
  io.set_shape(io.in(0), Shape::of_rank(4), "(batch, 2 · anchors, height, width)");
  io.set_shape(io.in(1), Shape::of_rank(4), "(batch, 4 · anchors, height, width)");
  const auto anchors = static_cast<std::int64_t>(a.scales.size() * a.ratios.size());
  const Shape &scores = io.shape(io.in(0)), &moves = io.shape(io.in(1));
  const std::int64_t batch = scores[0];
  io.set_shape(io.in(0), Shape{moves[0], 2 * anchors, moves[2], moves[3]},
               "two scores for every ratio and scale");
  io.set_shape(io.in(1), Shape{batch, 4 * anchors, scores[2], scores[3]},
               "four numbers for every ratio and scale");
  io.set_shape(io.in(2), Shape{batch, 3}, "(height, width, scale) of every image");
  const std::int64_t rows =
      batch < 0 ? kUnknownDim
                : checked_mul(batch, a.rpn_post_nms_top_n, "the regions of all images");
  io.set_shape(io.out(0), Shape{rows, 5}, "(image, x1, y1, x2, y2)");
  io.set_shape(io.out(1), Shape{rows, 1}, "a score for each region");
}

struct Candidate {
  std::array<float, 4> box;
  float score;
  float area() const { return (box[2] - box[0] + 1) * (box[3] - box[1] + 1); }
};

/// The anchors of the first cell, ratios outside, scales inside.
std::vector<std::array<float, 4>> anchors_of(const ProposalAttrs& a) {
  std::vector<std::array<float, 4>> anchors;
  const float side = static_cast<float>(a.feature_stride), centre = 0.5f * (side - 1);
  for (const double r : a.ratios)
    for (const double s : a.scales) {
      const float ratio = static_cast<float>(r), scale = static_cast<float>(s);
      const float wide = std::floor(std::sqrt(std::floor(side * side / ratio)) + 0.5f) * scale;
      const float tall = std::floor(wide / scale * ratio + 0.5f) * scale;
      const float x = 0.5f * (wide - 1), y = 0.5f * (tall - 1);
      anchors.push_back({centre - x, centre - y, centre + x, centre + y});
    }
  return anchors;
}

std::array<float, 4> moved(const std::array<float, 4>& box, const std::array<float, 4>& by,
                           bool corners) {
  if (corners) return {box[0] + by[0], box[1] + by[1], box[2] + by[2], box[3] + by[3]};
  std::array<float, 4> to;
  for (std::size_t i = 0; i < 2; ++i) {
    const float extent = box[i + 2] - box[i] + 1;
    const float centre = by[i] * extent + (box[i] + 0.5f * (extent - 1));
    const float half = 0.5f * (std::exp(by[i + 2]) * extent - 1);
    to[i] = centre - half;
    to[i + 2] = centre + half;
  }
  return to;
}

class Proposals {
 public:
  Proposals(const ProposalAttrs& a, const Shape& scores)
      : a_(a), anchors_(anchors_of(a)), height_(scores[2]), width_(scores[3]) {}

  void run(std::int64_t image, const float* scores, const float* moves, const float* info,
           float* out, float* out_scores) const {
    const std::vector<Candidate> kept = suppress(candidates(scores, moves, info));
    for (std::int64_t i = 0; i < a_.rpn_post_nms_top_n; ++i) {
      const Candidate& c = kept[static_cast<std::size_t>(i) % kept.size()];
      out[5 * i] = static_cast<float>(image);
      std::ranges::copy(c.box, out + 5 * i + 1);
      if (out_scores) out_scores[i] = c.score;
    }
  }

 private:
  /// Every anchor of every position, position by position.
  std::vector<Candidate> candidates(const float* scores, const float* moves,
                                    const float* info) const {
    const std::int64_t plane = height_ * width_, kinds = std::ssize(anchors_);
    const float stride = static_cast<float>(a_.feature_stride);
    const float rows = std::trunc(info[0] / stride), columns = std::trunc(info[1] / stride);
    const float least = static_cast<float>(a_.rpn_min_size) * info[2];
    std::vector<Candidate> all;
    for (std::int64_t place = 0; place < plane; ++place) {
      const std::int64_t row = place / width_, column = place % width_;
      const float y = static_cast<float>(row), x = static_cast<float>(column);
      for (std::int64_t k = 0; k < kinds; ++k) {
        std::array<float, 4> box = anchors_[static_cast<std::size_t>(k)], by;
        for (std::size_t i = 0; i < 4; ++i) {
          box[i] += (i % 2 ? y : x) * stride;
          by[i] = moves[(k * 4 + static_cast<std::int64_t>(i)) * plane + place];
        }
        Candidate c{moved(box, by, a_.iou_loss), scores[(kinds + k) * plane + place]};
        for (std::size_t i = 0; i < 4; ++i)
          c.box[i] = std::max(std::min(c.box[i], info[1 - i % 2] - 1), 0.f);
        if (y >= rows || x >= columns) c.score = -1;
        if (c.box[2] - c.box[0] + 1 < least || c.box[3] - c.box[1] + 1 < least) {
          for (std::size_t i = 0; i < 4; ++i) c.box[i] += (i < 2 ? -least : least) / 2;
          c.score = -1;
        }
        all.push_back(c);
      }
    }
    return all;
  }

  std::vector<Candidate> suppress(std::vector<Candidate> all) const {
    std::ranges::stable_sort(
        all, [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    if (a_.rpn_pre_nms_top_n > 0 && std::ssize(all) > a_.rpn_pre_nms_top_n)
      all.resize(static_cast<std::size_t>(a_.rpn_pre_nms_top_n));
    std::vector<Candidate> kept;
    for (const Candidate& c : all) {
      if (std::ssize(kept) == a_.rpn_post_nms_top_n) break;
      if (std::ranges::none_of(kept, [&](const Candidate& k) { return covers(k, c); }))
        kept.push_back(c);
    }
    return kept;
  }

  bool covers(const Candidate& a, const Candidate& b) const {
    float common = 1;
    for (std::size_t i = 0; i < 2; ++i)
      common *=
          std::max(0.f, std::min(a.box[i + 2], b.box[i + 2]) - std::max(a.box[i], b.box[i]) + 1.f);
    return common / (a.area() + b.area() - common) > a_.threshold;
  }

  ProposalAttrs a_;
  std::vector<std::array<float, 4>> anchors_;
  std::int64_t height_, width_;
};

Prepared forward(const ProposalAttrs& a, const KernelRequest& r) {
  const Shape& scores = r.in[0].shape;
  check(scores.size() > 0, "Proposal needs at least one position, not {}", scores.str());
  return [proposals = Proposals(a, scores), images = scores[0], size = scores.count(1),
          rows = a.rpn_post_nms_top_n, height = scores[2], width = scores[3],
          stride = a.feature_stride](const Args& args) {
    const float* info = args.in<float>(2);
    for (std::int64_t n = 0; n < images; ++n)
      check(
          std::trunc(info[3 * n] / static_cast<float>(stride)) <= static_cast<float>(height) &&
              std::trunc(info[3 * n + 1] / static_cast<float>(stride)) <= static_cast<float>(width),
          "im_info says image {} has {} × {} pixels, but the {} × {} positions of cls_prob cover "
          "{} × {}: feature_stride is {}",
          n, info[3 * n], info[3 * n + 1], height, width, height * stride, width * stride, stride);
    const std::int64_t grain = grain_of(16 * size);
    parallel_for(images, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n)
        proposals.run(n, args.in<float>(0) + n * size, args.in<float>(1) + 2 * n * size,
                      info + 3 * n, args.out<float>(0) + 5 * n * rows,
                      args.wants(1) ? args.out<float>(1) + n * rows : nullptr);
    });
  };
}

}  // namespace

void register_proposal(OpRegistry& r) {
  using A = ProposalAttrs;
  for (const char* name : {"_contrib_Proposal", "_contrib_MultiProposal"})
    r.add<A>(name)
        .doc("Regions that may hold an object, from a region proposal network.")
        .inputs({"cls_prob", "bbox_pred", "im_info"})
        .outputs(
            [](const A&) {
              return std::vector<std::string>{"output", "score"};
            },
            [](const A& a) { return a.output_score ? 2 : 1; })
        .skips_unread(1)
        .infer(infer)
        .gradient([](const A&, GradientBuilder&) { return NodeEntries(3); })
        .reference(forward);
}

}  // namespace symbind
