// _CustomFunction: a computation with a custom gradient (symbind/autograd.h, Function). It occurs
// on the tape only, after its forward has run; its gradient calls user code.
//
// Decided here: as with Custom, that code gets copies and returns its own arrays, so arrays it
// keeps stay valid.
#include "ops/custom/custom_function.h"

#include <symbind/operator.h>

#include "base/build.h"
#include "base/check.h"
#include "ndarray/storage.h"

namespace symbind {
namespace {

using A = CustomFunctionAttrs;

std::vector<std::string> numbered(const char* what, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(what + std::to_string(i));
  return names;
}
std::vector<std::string> inputs(const A& a) { return numbered("input", a.in.size()); }
std::vector<std::string> outputs(const A& a) { return numbered("output", a.out.size()); }

void describe_outputs(const std::vector<TensorDesc>& descs, Inference& io) {
  for (std::size_t i = 0; i < descs.size(); ++i) {
    io.set_shape(Inference::out(static_cast<int>(i)), descs[i].shape);
    io.set_dtype(Inference::out(static_cast<int>(i)), descs[i].dtype);
  }
}

NodeEntries gradient(const A& a, GradientBuilder& g) {
  NodeEntries heads;
  for (std::size_t i = 0; i < a.out.size(); ++i) heads.push_back(g.head(static_cast<int>(i)));
  return g.call_with_same_attrs("_backward_CustomFunction", std::move(heads));
}

NDArray array_at(const TensorDesc& d, Context context, void* data) {
  return NDArray(Storage::wrap(data, d.bytes(), context), d.shape, d.dtype);
}

Prepared backward(const A& a, const KernelRequest& r, const Offer&) {
  return [a, in = r.in, out = r.out, at = r.context](const Args& args) {
    std::vector<NDArray> heads;
    for (std::size_t i = 0; i < in.size(); ++i)
      heads.push_back(array_at(in[i], at, args.inputs[i].data).copy());
    const std::vector<NDArray> gradients = a.backward(heads);
    check(gradients.size() == out.size(),
          "autograd.Function: backward returned {} gradients for {} inputs", gradients.size(),
          out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const NDArray& g = gradients[i];
      if (!args.wants(static_cast<int>(i))) continue;
      const NDArray target = array_at(out[i], at, args.outputs[i].data);
      check(g.defined(), "autograd.Function: backward returned no array for input {}", i);
      check(g.shape() == target.shape(), ErrorKind::kShape,
            "autograd.Function: the gradient of input {} has shape {}, the input {}", i,
            g.shape().str(), target.shape().str());
      g.wait_to_read();
      g.copy_to(target);
    }
  };
}

}  // namespace

void register_custom_function(OpRegistry& r) {
  r.add<A>("_CustomFunction")
      .doc("The node of autograd.Function on the tape.")
      .backward()
      .inputs(inputs)
      .outputs(outputs, [](const A& a) { return static_cast<int>(a.out.size()); })
      .user_code()
      .starts_gradient()
      .infer([](const A& a, Inference& io) { describe_outputs(a.out, io); })
      .gradient(gradient);
  r.add<A>("_backward_CustomFunction")
      .backward()
      .inputs(outputs)
      .outputs(inputs, [](const A& a) { return static_cast<int>(a.in.size()); })
      .user_code()
      .skips_unread()
      .infer([](const A& a, Inference& io) { describe_outputs(a.in, io); })
      .kernel_if<kCuda>(DeviceType::kGpu, "custom", nullptr, backward)
      .kernel(DeviceType::kCpu, "custom", nullptr, backward);
}

}  // namespace symbind
