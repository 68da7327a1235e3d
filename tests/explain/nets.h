#pragma once
// The small network of these tests.

#include <symbind/ops.h>
#include <symbind/symbind.h>

namespace symbind {

inline Symbol net(const std::string& name = "fc1") {
  const Symbol x = Activation("act", FullyConnected(name, Variable("data"), {.num_hidden = 16}),
                              {.act_type = "relu"});
  return SoftmaxOutput("softmax", FullyConnected("fc2", x, {.num_hidden = 4}));
}

inline Executor bound(const std::string& name = "fc1") {
  return net(name).simple_bind(cpu(), {{"data", {8, 32}}});
}

}  // namespace symbind
