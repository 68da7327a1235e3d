// MultiBoxPrior: the anchors of a feature map, which depend only on its size.
//
// Every pixel has one box of each size with the first ratio, and one of each further ratio with the
// first size. A box of size s and ratio r is s·√r·height/width wide and s/√r high, as fractions of
// the image; pixel (y, x) has its centre at (y + offset) · step, a step being one pixel unless
// given. Decided here: no gradient goes to the data.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/checked.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct PriorAttrs {
  FloatTuple sizes = {1}, ratios = {1};
  bool clip = false;
  FloatTuple steps = {-1, -1}, offsets = {0.5, 0.5};

  void describe(AttrVisitor& v) {
    v.field("sizes", sizes, "Sizes of the boxes, as fractions of the image's height.");
    v.field("ratios", ratios, "Width by height of the boxes.");
    v.field("clip", clip, "Whether to clip boxes to the image.");
    v.field("steps", steps, "Distance between pixels, along y and x; negative: one pixel.");
    v.field("offsets", offsets, "The centre within a pixel, along y and x.");
  }
  std::int64_t boxes() const { return static_cast<std::int64_t>(sizes.size() + ratios.size()) - 1; }
};

void infer(const PriorAttrs& a, Inference& io) {
  check(!a.sizes.empty() && !a.ratios.empty(), "sizes and ratios need at least one member each");
  check(a.steps.size() == 2 && a.offsets.size() == 2, "steps and offsets are two numbers, y and x");
  check((a.steps[0] > 0) == (a.steps[1] > 0), "steps must both be positive or both be omitted");
  for (const double ratio : a.ratios) check(ratio > 0, "the ratio {} is not positive", ratio);
  io.same_dtype(io.in(0), io.out(0));
  io.set_shape(io.in(0), Shape::of_rank(4), "(batch, channels, height, width)");
  const Shape& in = io.shape(io.in(0));
  const bool known = in[2] >= 0 && in[3] >= 0;
  const std::int64_t boxes =
      known ? checked_mul(in[2] * in[3], a.boxes(), "the number of boxes") : kUnknownDim;
  io.set_shape(io.out(0), Shape{1, boxes, 4}, "boxes at every pixel");
}

Prepared prepare(const PriorAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, height = r.in[0].shape[2], width = r.in[0].shape[3]](const Args& args) {
      const auto number = [](double value) { return static_cast<float>(value); };
      const bool given = a.steps[0] > 0;
      const float step_y = given ? number(a.steps[0]) : 1.f / static_cast<float>(height);
      const float step_x = given ? number(a.steps[1]) : 1.f / static_cast<float>(width);
      const auto rows = static_cast<float>(height), columns = static_cast<float>(width);
      T* out = args.out<T>(0);
      for (std::int64_t i = 0; i < height; ++i)
        for (std::int64_t j = 0; j < width; ++j) {
          const float y = (static_cast<float>(i) + number(a.offsets[0])) * step_y;
          const float x = (static_cast<float>(j) + number(a.offsets[1])) * step_x;
          const auto box = [&](double size, double ratio) {
            const float root = std::sqrt(number(ratio));
            const float w = number(size) * rows / columns * root / 2, h = number(size) / root / 2;
            for (const float edge : {x - w, y - h, x + w, y + h})
              *out++ = static_cast<T>(a.clip ? std::clamp(edge, 0.f, 1.f) : edge);
          };
          for (const double size : a.sizes) box(size, a.ratios[0]);
          for (std::size_t k = 1; k < a.ratios.size(); ++k) box(a.sizes[0], a.ratios[k]);
        }
    };
  });
}

}  // namespace

void register_multibox_prior(OpRegistry& r) {
  r.add<PriorAttrs>("_contrib_MultiBoxPrior")
      .inputs(std::vector<std::string>{"data"})
      .doc("The anchor boxes of a feature map.")
      .infer(infer)
      .gradient([](const PriorAttrs&, GradientBuilder&) { return NodeEntries(1); })
      .shape_only({0})
      .reference(prepare);
}

}  // namespace symbind
