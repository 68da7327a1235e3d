// box_decode: boxes from anchors and predictions.
//
//   centre = std · d · extent of the anchor + centre of the anchor,  extent = exp(std · d) · extent
//
// for the first and the last two numbers of a row; the output has corners (x1, y1, x2, y2). `clip`
// bounds the exponent. Decided here: no gradient goes to either input, as in MXNet.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct BoxDecodeAttrs {
  float std0 = 1, std1 = 1, std2 = 1, std3 = 1;
  float clip = -1;
  std::string format = "center";

  void describe(AttrVisitor& v) {
    v.field("std0", std0, "What the first number was divided by.");
    v.field("std1", std1, "What the second number was divided by.");
    v.field("std2", std2, "What the third number was divided by.");
    v.field("std3", std3, "What the fourth number was divided by.");
    v.field("clip", clip, "Upper bound of the exponent; not positive: no bound.");
    v.field("format", format, "Of the anchors: corner (x1, y1, x2, y2) or center (x, y, w, h).")
        .choices({"center", "corner"});
  }
};

void infer(const BoxDecodeAttrs&, Inference& io) {
  io.all_same_dtype();
  io.set_shape(io.in(0), Shape{kUnknownDim, kUnknownDim, 4}, "four numbers for each anchor");
  io.same_shape(io.in(0), io.out(0));
  io.set_shape(io.in(1), Shape{1, io.shape(io.in(0))[1], 4}, "the same anchors for every image");
  io.set_shape(io.in(0), Shape{kUnknownDim, io.shape(io.in(1))[1], 4}, "as many as anchors");
}

Prepared forward(const BoxDecodeAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [a, rows = r.in[0].shape.count(0, 2), anchors = r.in[0].shape[1]](const Args& args) {
      const Acc scales[] = {static_cast<Acc>(a.std0), static_cast<Acc>(a.std1),
                            static_cast<Acc>(a.std2), static_cast<Acc>(a.std3)};
      const Acc most = static_cast<Acc>(a.clip);
      parallel_for(rows, 256, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const T *anchor = args.in<T>(1) + 4 * (i % anchors), *move = args.in<T>(0) + 4 * i;
          for (int axis = 0; axis < 2; ++axis) {
            Acc place = static_cast<Acc>(anchor[axis]), extent = static_cast<Acc>(anchor[axis + 2]);
            if (a.format == "corner") {
              extent -= place;
              place += extent / 2;
            }
            const Acc centre = static_cast<Acc>(move[axis]) * scales[axis] * extent + place;
            Acc exponent = static_cast<Acc>(move[axis + 2]) * scales[axis + 2];
            if (most > 0) exponent = std::min(exponent, most);
            const Acc half = std::exp(exponent) * extent / 2;
            args.out<T>(0)[4 * i + axis] = static_cast<T>(centre - half);
            args.out<T>(0)[4 * i + axis + 2] = static_cast<T>(centre + half);
          }
        }
      });
    };
  });
}

}  // namespace

void register_box_decode(OpRegistry& r) {
  r.add<BoxDecodeAttrs>("_contrib_box_decode")
      .inputs(std::vector<std::string>{"data", "anchors"})
      .doc("Boxes from anchors and predictions.")
      .infer(infer)
      .gradient([](const BoxDecodeAttrs&, GradientBuilder&) { return NodeEntries(2); })
      .reference(forward);
}

}  // namespace symbind
