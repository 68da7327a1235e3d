// MakeLoss: the identity as a head, whose gradient is a constant.
//
//   y = x        dx = grad_scale / normaliser
//
// The normaliser is 1, the number of rows (the product of all extents but the last: 1 for a vector,
// 12 for (4, 3, 2)), or the number of elements above valid_thresh (at least 1).
// The head gradient is never read.
#include <symbind/operator.h>

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct MakeLossAttrs {
  float grad_scale = 1;
  float valid_thresh = 0;
  std::string normalization = "null";

  void describe(AttrVisitor& v) {
    v.field("grad_scale", grad_scale, "The gradient, before it is divided.");
    v.field("valid_thresh", valid_thresh, "With normalization valid, only elements above count.");
    v.field(
         "normalization", normalization,
         "Divides the gradient by 1, the number of rows (all axes but the last) or the number of "
         "valid elements.")
        .choices({"batch", "null", "valid"});
  }
};

void infer(const MakeLossAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

NodeEntries gradient(const MakeLossAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_MakeLoss", {g.input(0)});
}

Prepared forward(const MakeLossAttrs&, const KernelRequest& r) {
  return [bytes = r.out[0].bytes()](const Args& args) {
    const void* x = args.inputs[0].data;
    if (bytes > 0 && x != args.outputs[0].data) std::memcpy(args.outputs[0].data, x, bytes);
  };
}

Prepared backward(const MakeLossAttrs& a, const KernelRequest& r) {
  const Shape& shape = r.in[0].shape;
  const bool rows = a.normalization == "batch" && shape.rank() > 0;
  const std::int64_t batch = rows ? shape.count(0, shape.rank() - 1) : 1;
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = shape.size(), batch, scale = a.grad_scale, valid = a.normalization == "valid",
            thresh = a.valid_thresh](const Args& args) {
      using Acc = Accumulator<T>;
      std::int64_t count = batch;
      if (valid) {
        const T* x = args.in<T>(0);
        count = std::count_if(x, x + n, [&](T v) { return static_cast<Acc>(v) > Acc(thresh); });
      }
      const Acc d = static_cast<Acc>(scale) / static_cast<Acc>(std::max<std::int64_t>(count, 1));
      std::fill_n(args.out<T>(0), n, static_cast<T>(d));
    };
  });
}

}  // namespace

void register_make_loss(OpRegistry& r) {
  r.add<MakeLossAttrs>("MakeLoss")
      .flops(0)
      .inputs(std::vector<std::string>{"data"})
      .doc("The input as a loss: backward starts here with a constant.")
      .infer(infer)
      .gradient(gradient)
      .loss()
      .inplace(0, 0)
      .reference(forward);
  r.add<MakeLossAttrs>("_backward_MakeLoss")
      .backward()
      .inputs({"data"})
      .infer(infer)
      .inplace(0, 0)
      .reference(backward);
}

}  // namespace symbind
