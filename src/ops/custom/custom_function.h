#pragma once
// What autograd's Function puts on the tape: a node whose gradient calls user code.

#include <functional>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/kernel.h>
#include <symbind/ndarray.h>

namespace symbind {

/// Made by autograd only, never read from text.
struct CustomFunctionAttrs {
  std::vector<TensorDesc> in, out;
  /// The gradients of the inputs, given those of the outputs.
  std::function<std::vector<NDArray>(const std::vector<NDArray>&)> backward;

  void describe(AttrVisitor&) {}
};

}  // namespace symbind
