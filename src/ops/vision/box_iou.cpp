// box_iou: how much every box of one list overlaps every box of another.
//
//   out[i, j] = common area of lhs[i] and rhs[j] / area of their union, 0 if they do not overlap
//
// Decided here: no gradient goes to either, as in MXNet.
#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/vision/boxes.h"

namespace symbind {
namespace {

struct BoxIouAttrs {
  std::string format = "corner";

  void describe(AttrVisitor& v) {
    v.field("format", format, "corner: (x1, y1, x2, y2); center: (x, y, width, height).")
        .choices({"center", "corner"});
  }
};

void infer(const BoxIouAttrs&, Inference& io) {
  io.all_same_dtype();
  std::vector<std::int64_t> lists;
  for (int i = 0; i < 2; ++i) {
    const Shape& x = io.shape(io.in(i));
    if (!x.rank_known()) return;
    check(x.rank() >= 2 && (x[x.rank() - 1] == 4 || x[x.rank() - 1] < 0),
          "{} {} must be boxes of four numbers, (…, 4)", i == 0 ? "lhs" : "rhs", x.str());
    for (int axis = 0; axis + 1 < x.rank(); ++axis) lists.push_back(x[axis]);
  }
  io.set_shape(io.out(0), Shape(lists), "every box of lhs against every box of rhs");
}

Prepared forward(const BoxIouAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [left = r.in[0].shape.size() / 4, right = r.in[1].shape.size() / 4,
            centred = a.format == "center"](const Args& args) {
      parallel_for(left, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const Corners<Acc> box(args.in<T>(0) + 4 * i, centred);
          for (std::int64_t j = 0; j < right; ++j) {
            const Acc part = overlap(box, Corners<Acc>(args.in<T>(1) + 4 * j, centred));
            args.out<T>(0)[i * right + j] = static_cast<T>(part > 0 ? part : Acc(0));
          }
        }
      });
    };
  });
}

}  // namespace

void register_box_iou(OpRegistry& r) {
  r.add<BoxIouAttrs>("_contrib_box_iou")
      .inputs(std::vector<std::string>{"lhs", "rhs"})
      .doc("How much every box of one list overlaps every box of another.")
      .infer(infer)
      .gradient([](const BoxIouAttrs&, GradientBuilder&) { return NodeEntries(2); })
      .reference(forward);
}

}  // namespace symbind
