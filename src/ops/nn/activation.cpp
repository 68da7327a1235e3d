// Activation: one of five functions, element by element.
//
//   relu      max(x, 0)             dx = dy · [y > 0]
//   sigmoid   1 / (1 + exp(-x))     dx = dy · y (1 - y)
//   tanh      tanh x                dx = dy · (1 - y²)
//   softrelu  log(1 + exp x)        dx = dy · (1 - exp(-y))
//   softsign  x / (1 + |x|)         dx = dy / (1 + |x|)²
//
// Decided here: the gradient reads y, so x may be freed early; only softsign reads x. relu keeps
// NaN and its gradient at 0 is 0. Any layout is accepted. The formulas are in
// kernels/elementwise_formulas.h.
#include <symbind/operator.h>

#include "base/build.h"
#include "kernels/activation.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/launch.h"

namespace symbind {

namespace {

struct ActivationAttrs {
  std::string act_type;

  void describe(AttrVisitor& v) {
    v.field("act_type", act_type, "Activation function to be applied.")
        .required()
        .choices({"relu", "sigmoid", "softrelu", "softsign", "tanh"});
  }
};

void infer(const ActivationAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

NodeEntries gradient(const ActivationAttrs& a, GradientBuilder& g) {
  const NodeEntry saved = a.act_type == "softsign" ? g.input(0) : g.output(0);
  return g.call_with_same_attrs("_backward_Activation", {g.head(0), saved});
}

Prepared forward(const ActivationAttrs& a, const KernelRequest& r, const Offer&) {
  return [run = ActivationRun(a.act_type, r.in[0].dtype), n = r.in[0].shape.size()](
             const Args& args) { run.forward(args.inputs[0].data, args.outputs[0].data, n); };
}

Prepared backward(const ActivationAttrs& a, const KernelRequest& r, const Offer&) {
  return
      [run = ActivationRun(a.act_type, r.in[0].dtype), n = r.in[0].shape.size()](const Args& args) {
        run.backward(args.inputs[0].data, args.inputs[1].data, args.outputs[0].data, n);
      };
}

Offer any_layout(const ActivationAttrs&, const KernelRequest& r) { return accept_same_layout(r); }

// Generic, so that a CPU build does not instantiate it.
constexpr auto kOfferCuda = [](const auto& a, const KernelRequest& r) {
  return a.act_type == "relu" ? cuda::offer_floats(r) : refuse("only relu so far");
};

std::optional<EpilogueItem> as_epilogue(const ActivationAttrs& a) {
  using Kind = EpilogueItem::Kind;
  if (a.act_type == "relu") return EpilogueItem{Kind::kRelu};
  if (a.act_type == "sigmoid") return EpilogueItem{Kind::kSigmoid};
  if (a.act_type == "tanh") return EpilogueItem{Kind::kTanh};
  if (a.act_type == "softrelu") return EpilogueItem{Kind::kSoftRelu};
  return std::nullopt;
}

}  // namespace

void register_activation(OpRegistry& r) {
  r.add<ActivationAttrs>("Activation")
      .slices(Slices::kFirst)
      .precision(Precision::kAsStored)
      .as_epilogue(as_epilogue)
      .flops(1)
      .doc("Applies an activation function to every element.")
      .infer(infer)
      .gradient(gradient)
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "native", any_layout, forward)
      .kernel_if<kCuda>(
          DeviceType::kGpu, "cuda", kOfferCuda,
          [](const ActivationAttrs&, const KernelRequest& q, const Offer&) -> Prepared {
            return
                [number = cuda::number_of(q.in[0].dtype), n = q.in[0].shape.size()](const Args& a) {
                  cuda::check_launch(
                      cuda::relu(a.run->stream, number, a.inputs[0].data, a.outputs[0].data, n),
                      "relu");
                };
          });
  r.add<ActivationAttrs>("_backward_Activation")
      .precision(Precision::kAsStored)
      .flops(2)
      .backward()
      .inputs({"dy", "saved"})
      .infer(infer)
      .inplace(0, 0)
      .inplace(1, 0)
      .kernel(DeviceType::kCpu, "native", any_layout, backward)
      .kernel_if<kCuda>(
          DeviceType::kGpu, "cuda", kOfferCuda,
          [](const ActivationAttrs&, const KernelRequest& q, const Offer&) -> Prepared {
            return
                [number = cuda::number_of(q.in[0].dtype), n = q.in[0].shape.size()](const Args& a) {
                  cuda::check_launch(cuda::relu_backward(a.run->stream, number, a.inputs[0].data,
                                                         a.inputs[1].data, a.outputs[0].data, n),
                                     "relu_backward");
                };
          });
}

}  // namespace symbind
