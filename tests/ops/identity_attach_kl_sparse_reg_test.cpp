// IdentityAttachKLSparseReg: recorded, and its running mean.

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(IdentityAttachKLSparseReg) {
  // The penalty is no derivative of the output: no difference quotient shows it.
  c.recorded([](OpCase& recorded) { recorded.no_grad(); });
  c.add("images").in({2, 3, 4}).in({3}).raises("features");
}

TEST(IdentityAttachKLSparseReg, the_mean_changes_in_backward) {
  const Symbol net =
      make_symbol("IdentityAttachKLSparseReg", "reg", std::vector{Variable("data")},
                  {{"momentum", "0.5"}, {"penalty", "1"}, {"sparseness_target", "0.5"}});
  Executor exe = net.simple_bind(cpu(), {{"data", {2, 1}}});
  NDArray({0.25, 0.75}, {2, 1}).copy_to(exe.arg_dict()["data"]);
  exe.forward(true);
  EXPECT_EQ(exe.aux_dict()["reg_moving_avg"].to_vector<float>()[0], 0);
  exe.backward({NDArray::ones({2, 1})});
  EXPECT_FLOAT_EQ(exe.aux_dict()["reg_moving_avg"].to_vector<float>()[0], 0.25f);
  EXPECT_FLOAT_EQ(exe.grad_dict()["data"].to_vector<float>()[0], 1 + 0.5f / 0.75f - 2);
}

}  // namespace
}  // namespace symbind
