// SVMOutput: the data; its gradient is that of hinge losses, one class against the others.
//
// For the label's class d = y, for every other class d = −y, where y is the score. With
// c = regularization_coefficient:
//   use_linear   loss c·max(0, margin − d)     otherwise   loss c·max(0, margin − d)²
//
// A loss: the head gradient is not read. Classes are along the last axis. Decided here: with a
// label that is not a class, every class counts as wrong.
#include <symbind/operator.h>

#include <algorithm>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "kernels/copy_block.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct SVMOutputAttrs {
  float margin = 1, regularization_coefficient = 1;
  bool use_linear = false;

  void describe(AttrVisitor& v) {
    v.field("margin", margin, "Scores beyond it have no loss.");
    v.field("regularization_coefficient", regularization_coefficient, "Scales the gradient.");
    v.field("use_linear", use_linear, "Whether the loss is linear (L1) instead of squared (L2).");
  }
};

void infer(const SVMOutputAttrs&, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  const Shape& x = io.shape(io.in(0));
  if (x.rank_known()) {
    check(x.rank() > 0, ErrorKind::kShape, "SVMOutput needs classes along the last axis");
    Shape rows;
    for (int i = 0; i + 1 < x.rank(); ++i) rows.push_back(x[i]);
    io.set_shape(io.in(1), rows, "the data's axes without that of the classes");
  }
  const Shape& label = io.shape(io.in(1));
  if (!label.rank_known()) return;
  Shape back = label;
  back.push_back(kUnknownDim);
  io.set_shape(io.in(0), back, "the label's axes and that of the classes");
}

// Inputs: y and the label.
void infer_backward(const SVMOutputAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  tie_to_forward(a, io, infer, {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(1)}});
}

Prepared forward(const SVMOutputAttrs&, const KernelRequest& r) {
  return [bytes = r.in[0].bytes()](const Args& args) {
    copy_bytes(args.outputs[0].data, args.inputs[0].data, bytes);
  };
}

Prepared backward(const SVMOutputAttrs& a, const KernelRequest& r) {
  const Shape& x = r.in[0].shape;
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [classes = x.back(), rows = x.count(0, x.rank() - 1), linear = a.use_linear,
            margin = static_cast<Acc>(a.margin),
            c = static_cast<Acc>(a.regularization_coefficient)](const Args& args) {
      const T *y = args.in<T>(0), *label = args.in<T>(1);
      T* dx = args.out<T>(0);
      const std::int64_t grain = grain_of(classes);
      parallel_for(rows, grain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin * classes; i < end * classes; ++i) {
          const bool own = i % classes == whole_or(static_cast<Acc>(label[i / classes]), -1);
          const Acc score = static_cast<Acc>(y[i]), missing = margin - (own ? score : -score);
          const Acc d = missing > 0 ? c * (linear ? Acc(1) : 2 * missing) : Acc(0);
          dx[i] = static_cast<T>(own ? -d : d);
        }
      });
    };
  });
}

}  // namespace

void register_svm_output(OpRegistry& r) {
  using A = SVMOutputAttrs;
  r.add<A>("SVMOutput")
      .doc("The data; its gradient is that of hinge losses with the label.")
      .inputs({"data", "label"})
      .infer(infer)
      .gradient([](const A&, GradientBuilder& g) -> NodeEntries {
        return {g.call_with_same_attrs("_backward_SVMOutput", {g.output(0), g.input(1)})[0], {}};
      })
      .loss()
      .inplace(0, 0)
      .reference(forward);
  r.add<A>("_backward_SVMOutput")
      .backward()
      .inputs({"output", "label"})
      .infer(infer_backward)
      .inplace(0, 0)
      .reference(backward);
}

}  // namespace symbind
