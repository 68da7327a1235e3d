// The sum of any number of arrays: recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(add_n) {
  c.recorded();
  c.add("long and blocked")
      .attr("num_args", 3)
      .in({2, 16, 5, 7})
      .in({2, 16, 5, 7})
      .in({2, 16, 5, 7})
      .ref([](const HostTensors& in) {
        HostTensor y = in[0];
        for (std::size_t i = 0; i < y.size(); ++i) y[i] += in[1][i] + in[2][i];
        return y;
      })
      .recovers({0, 1, 2});
  c.add("another shape").attr("num_args", 2).in({2}).in({3}).raises("(3,)");
}

}  // namespace
}  // namespace symbind
