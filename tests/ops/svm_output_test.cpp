// SVMOutput: recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(SVMOutput) {
  c.recorded();
  c.add("in numbers")
      .in({1, 3}, {0.5, -2, 0.25})
      .in({1}, {0})
      .recovers({1})
      .ref({0.5, -2, 0.25})
      .grad_ref([](const HostTensors& in) {
        return HostTensors{HostTensor(in[0].shape, {-1, 0, 2.5}), HostTensor(in[1].shape)};
      });
}

}  // namespace
}  // namespace symbind
