// Crop: recorded.

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(Crop) {
  c.recorded();
  c.add("a window beyond the edge")
      .attr("h_w", "(2, 2)")
      .attr("offset", "(2, 0)")
      .in({1, 1, 3, 3})
      .raises("does not fit");
  c.add("no size").in({1, 1, 3, 3}).raises("h_w");
}

TEST(Crop, gradients_add_up) {
  const Symbol net = make_symbol("Crop", "crop", std::vector{Variable("data")},
                                 {{"h_w", "(1, 1)"}, {"offset", "(1, 0)"}});
  Executor exe = net.simple_bind(cpu(), {{"data", {1, 1, 2, 2}}}, {.grad_req = "add"});
  for (int i = 0; i < 3; ++i) {
    exe.forward(true);
    exe.backward({NDArray::ones({1, 1, 1, 1})});
  }
  EXPECT_EQ(exe.grad_dict()["data"].to_vector<float>(), (std::vector<float>{0, 0, 3, 0}));
}

}  // namespace
}  // namespace symbind
