// Function: the user's forward runs unrecorded, and one node represents it on the tape.

#include <symbind/autograd.h>
#include <symbind/operator.h>

#include "autograd/tape.h"
#include "base/check.h"
#include "ops/custom/custom_function.h"

namespace symbind::autograd {
namespace {

std::vector<TensorDesc> descs_of(const std::vector<NDArray>& arrays, const char* what) {
  std::vector<TensorDesc> descs;
  for (const NDArray& a : arrays) {
    check(a.defined(), ErrorKind::kType, "autograd.Function: {} {} is not an array", what,
          descs.size());
    descs.push_back({.shape = a.shape(), .dtype = a.dtype()});
  }
  return descs;
}

}  // namespace

std::vector<NDArray> call(std::shared_ptr<Function> function, const std::vector<NDArray>& inputs) {
  check(function != nullptr, "autograd.Function: the function is null");
  std::vector<NDArray> outputs;
  CustomFunctionAttrs attrs{.in = descs_of(inputs, "input"), .out = {}, .backward = {}};
  Recorder* recorder = nullptr;
  {
    const Unrecorded within;
    recorder = within.recorder();
    for (const NDArray& result : function->forward(inputs)) outputs.push_back(result.detach());
  }
  attrs.out = descs_of(outputs, "output");
  if (recorder == nullptr) return outputs;
  attrs.backward = [function](const std::vector<NDArray>& head_grads) {
    return function->backward(head_grads);
  };
  const AttrDict none;
  recorder->ran({.op = &any_operator("_CustomFunction"),
                 .attrs = &none,
                 .parsed = std::make_shared<const CustomFunctionAttrs>(std::move(attrs)),
                 .in = inputs,
                 .out = outputs,
                 .hidden = {},
                 .kernel = {},
                 .opaque = {},
                 .reads_in = {},
                 .reads_out = {}});
  return outputs;
}

}  // namespace symbind::autograd
