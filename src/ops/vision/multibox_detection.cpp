// MultiBoxDetection: from probabilities and locations to objects.
//
// An anchor's object has the most likely class other than the first, which is background; there is
// no object if its probability is below the threshold. Its box comes from the anchor's by undoing
// MultiBoxTarget's locations. Of two boxes of a class (of any, with force_suppress) that overlap by
// nms_threshold or more, the less likely one is dropped. An output row is (class, probability, x1,
// y1, x2, y2); class -1 means no object, and rows that never were an object are all -1.
//
// Decided here: no gradient goes to any input; background_id is accepted and ignored, as in MXNet.
#include <symbind/operator.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/vision/boxes.h"

namespace symbind {
namespace {

struct DetectionAttrs {
  bool clip = true;
  float threshold = 0.01f;
  int background_id = 0;
  float nms_threshold = 0.5f;
  bool force_suppress = false;
  FloatTuple variances = {0.1, 0.1, 0.2, 0.2};
  int nms_topk = -1;

  void describe(AttrVisitor& v) {
    v.field("clip", clip, "Whether to clip boxes to the image.");
    v.field("threshold", threshold, "Least probability of an object.");
    v.field("background_id", background_id, "Accepted, without effect: the first class.");
    v.field("nms_threshold", nms_threshold, "Overlap from which the less likely box is dropped.");
    v.field("force_suppress", force_suppress, "Whether boxes of other classes also suppress.");
    v.field("variances", variances, "Factors of the locations.");
    v.field("nms_topk", nms_topk, "Uses only the top k objects; negative: all.");
  }
};

void infer(const DetectionAttrs& a, Inference& io) {
  check(a.variances.size() == 4, "variances are four numbers, not {}", a.variances.size());
  io.all_same_dtype();
  io.set_shape(io.in(0), Shape::of_rank(3), "(batch, classes, anchors)");
  const std::int64_t batch = io.shape(io.in(0))[0], anchors = io.shape(io.in(0))[2];
  io.set_shape(io.in(1), Shape{batch, anchors < 0 ? kUnknownDim : 4 * anchors},
               "four numbers for each anchor");
  io.set_shape(io.in(2), Shape{kUnknownDim, anchors, 4}, "anchors (x1, y1, x2, y2)");
  io.set_shape(io.out(0), Shape{batch, anchors, 6}, "an object for each anchor");
}

template <class T>
class Detection {
  using Acc = Accumulator<T>;
  using Object = std::array<T, 6>;

 public:
  Detection(const DetectionAttrs& a, std::int64_t classes, std::int64_t anchors)
      : a_(a), classes_(classes), anchors_(anchors) {}

  /// The objects of one image.
  void run(const T* probabilities, const T* locations, const T* anchors, T* out) const {
    std::vector<Object> objects;
    for (std::int64_t i = 0; i < anchors_; ++i) {
      T score = T(-1.f);
      std::int64_t id = 0;
      for (std::int64_t j = 1; j < classes_; ++j)
        if (static_cast<Acc>(probabilities[j * anchors_ + i]) > static_cast<Acc>(score)) {
          score = probabilities[j * anchors_ + i];
          id = j;
        }
      if (id == 0 || static_cast<float>(score) < a_.threshold) continue;
      Object object = {static_cast<T>(static_cast<float>(id - 1)), score};
      place(anchors + 4 * i, locations + 4 * i, object);
      objects.push_back(object);
    }
    if (a_.nms_threshold > 0 && a_.nms_threshold <= 1) suppress(objects);
    for (const Object& object : objects) out = std::copy(object.begin(), object.end(), out);
    std::fill_n(out, (anchors_ - static_cast<std::int64_t>(objects.size())) * 6, T(-1.f));
  }

 private:
  void place(const T* anchor, const T* location, Object& object) const {
    const Centred<Acc> box(anchor);
    const auto moved = [&](std::size_t i) {
      return static_cast<Acc>(location[i]) * static_cast<Acc>(static_cast<float>(a_.variances[i]));
    };
    const Acc x = moved(0) * box.width + box.x, y = moved(1) * box.height + box.y;
    const Acc w = std::exp(moved(2)) * box.width / 2, h = std::exp(moved(3)) * box.height / 2;
    const std::array<Acc, 4> edges = {x - w, y - h, x + w, y + h};
    for (std::size_t i = 0; i < 4; ++i)
      object[i + 2] = static_cast<T>(a_.clip ? std::clamp(edges[i], Acc(0), Acc(1)) : edges[i]);
  }

  void suppress(std::vector<Object>& objects) const {
    const std::vector<Object> found = objects;
    std::ranges::stable_sort(objects, [](const Object& a, const Object& b) {
      return static_cast<Acc>(a[1]) > static_cast<Acc>(b[1]);
    });
    std::size_t kept = objects.size();
    if (a_.nms_topk > 0) kept = std::min(kept, static_cast<std::size_t>(a_.nms_topk));
    for (std::size_t i = kept; i < objects.size(); ++i) {
      objects[i] = found[i];  // MXNet leaves these rows in their original order
      objects[i][0] = T(-1.f);
    }
    const auto gone = [](const Object& o) { return static_cast<Acc>(o[0]) < 0; };
    for (std::size_t i = 0; i < kept; ++i) {
      if (gone(objects[i])) continue;
      for (std::size_t j = i + 1; j < kept; ++j) {
        if (gone(objects[j])) continue;
        const bool compared =
            a_.force_suppress || static_cast<Acc>(objects[i][0]) == static_cast<Acc>(objects[j][0]);
        if (compared && box_overlap<Acc>(&objects[i][2], &objects[j][2]) >= a_.nms_threshold)
          objects[j][0] = T(-1.f);
      }
    }
  }

  DetectionAttrs a_;
  std::int64_t classes_, anchors_;
};

Prepared prepare(const DetectionAttrs& a, const KernelRequest& r) {
  check(r.in[2].shape[0] > 0, ErrorKind::kShape,
        "MultiBoxDetection: there are no anchors in shape {}", r.in[2].shape.str());
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    const Shape& shape = r.in[0].shape;
    return [detection = Detection<T>(a, shape[1], shape[2]), shape](const Args& args) {
      const std::int64_t classes = shape[1], anchors = shape[2];
      const std::int64_t grain = grain_of(8 * anchors * classes);
      parallel_for(shape[0], grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n)
          detection.run(args.in<T>(0) + n * classes * anchors, args.in<T>(1) + n * anchors * 4,
                        args.in<T>(2), args.out<T>(0) + n * anchors * 6);
      });
    };
  });
}

}  // namespace

void register_multibox_detection(OpRegistry& r) {
  r.add<DetectionAttrs>("_contrib_MultiBoxDetection")
      .inputs(std::vector<std::string>{"cls_prob", "loc_pred", "anchor"})
      .doc("Objects from class probabilities, locations and anchors.")
      .infer(infer)
      .gradient([](const DetectionAttrs&, GradientBuilder&) { return NodeEntries(3); })
      .reference(prepare);
}

}  // namespace symbind
