// The elements in another type. Rules of conversion: ndarray/convert.h.
//
// Decided here: the gradient is cast back to the input's type.
#include <symbind/operator.h>

#include "ndarray/convert.h"

namespace symbind {
namespace {

struct CastAttrs {
  DType dtype = DType::kFloat32;
  void describe(AttrVisitor& v) {
    v.field("dtype", dtype, "The element type of the output.").required();
  }
};

void infer(const CastAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.set_dtype(io.out(0), a.dtype, "attribute dtype");
}

/// Backward: head in the type of `like`.
void infer_back(const NoAttrs&, Inference& io) {
  io.all_same_shape();
  io.same_dtype(io.in(1), io.out(0));
}

NodeEntries gradient(const CastAttrs&, GradientBuilder& g) {
  return {g.call("_backward_cast", {g.head(0), g.input(0)})};
}

template <class A>
Offer offer(const A&, const KernelRequest& request) {
  return accept_same_layout(request);
}
template <class A>
Prepared prepare(const A&, const KernelRequest& q, const Offer&) {
  return [from = q.in[0].dtype, to = q.out[0].dtype, n = q.out[0].shape.size()](const Args& a) {
    if (a.outputs[0].data != a.inputs[0].data)
      convert(a.outputs[0].data, to, a.inputs[0].data, from, n);
  };
}

}  // namespace

void register_cast(OpRegistry& r) {
  r.add<CastAttrs>("Cast")
      .doc("The input in another element type.")
      .alias("cast")
      .infer(infer)
      .gradient(gradient)
      .kernel(DeviceType::kCpu, "reference", offer<CastAttrs>, prepare<CastAttrs>);
  r.add("_backward_cast")
      .inputs(std::vector<std::string>{"head", "like"})
      .infer(infer_back)
      .shape_only({1})
      .backward()
      .kernel(DeviceType::kCpu, "reference", offer<NoAttrs>, prepare<NoAttrs>);
}

}  // namespace symbind
