// IdentityAttachKLSparseReg: the identity; its gradient pulls mean activations towards a target.
//
//   y = x      m ← momentum·m + (1 − momentum)·mean over the batch of x
//   dx = dy + penalty · ((1 − target)/(1 − m) − target/m)
//
// For activations in (0, 1), as sigmoid gives. Decided here, as MXNet does: the running mean m, an
// auxiliary state with one value for every feature after the first axis, is updated in backward.
#include <symbind/operator.h>

#include <algorithm>

#include "base/check.h"
#include "kernels/accumulate.h"
#include "kernels/copy_block.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct SparseRegAttrs {
  float sparseness_target = 0.1f, penalty = 0.001f, momentum = 0.9f;

  void describe(AttrVisitor& v) {
    v.field("sparseness_target", sparseness_target, "The target mean activation.")
        .at_least(0)
        .at_most(1);
    v.field("penalty", penalty, "Scales what is added to the gradient.");
    v.field("momentum", momentum, "How much of the running mean an update keeps.")
        .at_least(0)
        .at_most(1);
  }
};

void infer_mean(Inference& io, Inference::Ref data, Inference::Ref mean) {
  const Shape& x = io.shape(data);
  check(!x.rank_known() || x.rank() == 2, ErrorKind::kShape,
        "IdentityAttachKLSparseReg needs data (batch, features), this is {}", x.str());
  io.set_shape(data, Shape::of_rank(2), "(batch, features)");
  io.set_shape(mean, Shape{io.shape(data)[1]}, "a mean for every feature");
  io.set_shape(data, Shape{kUnknownDim, io.shape(mean)[0]}, "a feature for every mean");
}

void infer(const SparseRegAttrs&, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  infer_mean(io, io.in(0), io.in(1));
}

// Inputs: dy, x, the running mean.
void infer_backward(const SparseRegAttrs&, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.in(1));
  io.same_shape(io.in(1), io.out(0));
  infer_mean(io, io.in(1), io.in(2));
}

Prepared forward(const SparseRegAttrs&, const KernelRequest& r) {
  return [bytes = r.in[0].bytes()](const Args& args) {
    copy_bytes(args.outputs[0].data, args.inputs[0].data, bytes);
  };
}

Prepared backward(const SparseRegAttrs& a, const KernelRequest& r) {
  const Shape& x = r.in[1].shape;
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [rows = x[0], features = x[1], target = static_cast<Acc>(a.sparseness_target),
            penalty = static_cast<Acc>(a.penalty),
            momentum = static_cast<Acc>(a.momentum)](const Args& args) {
      const T *dy = args.in<T>(0), *data = args.in<T>(1);
      T *mean = args.mutable_in<T>(2), *dx = args.out<T>(0);
      for (std::int64_t f = 0; f < features; ++f) {
        double sum = 0;
        for (std::int64_t n = 0; n < rows; ++n) sum += static_cast<double>(data[n * features + f]);
        const Acc batch_mean =
            static_cast<Acc>(sum / static_cast<double>(std::max<std::int64_t>(rows, 1)));
        mean[f] =
            static_cast<T>(momentum * static_cast<Acc>(mean[f]) + (1 - momentum) * batch_mean);
        const Acc m = static_cast<Acc>(mean[f]);
        const Acc pull = penalty * ((1 - target) / (1 - m) - target / m);
        for (std::int64_t n = 0; n < rows; ++n)
          dx[n * features + f] = static_cast<T>(static_cast<Acc>(dy[n * features + f]) + pull);
      }
    };
  });
}

}  // namespace

void register_identity_attach_kl_sparse_reg(OpRegistry& r) {
  using A = SparseRegAttrs;
  r.add<A>("IdentityAttachKLSparseReg")
      .doc("The identity; its gradient pulls the mean activation towards a target.")
      .inputs({"data", "moving_avg"})
      .aux({1})
      .init_hint(1, R"(["zero", {}])")
      .infer(infer)
      .gradient([](const A&, GradientBuilder& g) -> NodeEntries {
        return {g.call_with_same_attrs("_backward_IdentityAttachKLSparseReg",
                                       {g.head(0), g.input(0), g.input(1)})[0],
                {}};
      })
      .inplace(0, 0)
      .reference(forward);
  r.add<A>("_backward_IdentityAttachKLSparseReg")
      .backward()
      .inputs({"dy", "data", "moving_avg"})
      .mutates({2})
      .infer(infer_backward)
      .inplace(0, 0)
      .reference(backward);
}

}  // namespace symbind
