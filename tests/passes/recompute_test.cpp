// Outputs of BatchNorm that backward computes again.

#include <string>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "base/settings.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

Symbol layer(const std::string& name, const Symbol& x, bool relu) {
  Symbol y = make_symbol("Convolution", name, std::vector{x},
                         {{"num_filter", "16"}, {"kernel", "(3, 3)"}, {"pad", "(1, 1)"}});
  y = make_symbol("BatchNorm", name + "_bn", std::vector{y}, {{"fix_gamma", "False"}});
  return relu ? make_symbol("Activation", name + "_relu", std::vector{y}, {{"act_type", "relu"}})
              : y;
}

struct Ran {
  std::string plan;
  std::size_t bytes;
  std::vector<HostTensor> values;  ///< the output, gradients, auxiliary states
};

Ran run(const Symbol& net, const char* recomputes, bool exact = false) {
  const settings::override_for_test setting("MXNET_BACKWARD_DO_MIRROR", recomputes);
  const settings::override_for_test exactly("SYMBIND_EXACT", exact ? "1" : "0");
  Executor exe = net.simple_bind(cpu(), {{"data", {4, 16, 12, 10}}});
  std::uint64_t seed = 1;
  for (auto& [name, array] : exe.arg_dict())
    HostTensor::formula(array.shape(), ++seed, -1, 1).array().copy_to(array);
  exe.forward(true);
  exe.backward({HostTensor::formula(exe.outputs()[0].shape(), 99).array()});
  Ran ran{exe.plan_text(), exe.stats().arena_bytes, {HostTensor::from(exe.outputs()[0])}};
  for (const auto& [name, array] : exe.grad_dict()) ran.values.push_back(HostTensor::from(array));
  for (const auto& [name, array] : exe.aux_dict()) ran.values.push_back(HostTensor::from(array));
  return ran;
}

TEST(Recompute, gradients_are_the_same_and_take_less_memory) {
  for (const bool relu : {false, true}) {
    Symbol net = Variable("data");
    for (const char* name : {"a", "b", "c", "d", "e"}) net = layer(name, net, relu);
    const Ran kept = run(net, "0"), again = run(net, "1");
    EXPECT_EQ(kept.plan.find("_again"), std::string::npos);
    EXPECT_NE(again.plan.find("_again"), std::string::npos);
    EXPECT_LT(static_cast<double>(again.bytes), 0.9 * static_cast<double>(kept.bytes));
    ASSERT_EQ(kept.values.size(), again.values.size());
    for (std::size_t i = 0; i < kept.values.size(); ++i)
      EXPECT_TRUE(near(again.values[i], kept.values[i], {1e-5, 1e-6})) << i;
  }
}

// Backward does not read the tensor that was added.
TEST(Recompute, a_sum_is_kept) {
  const Symbol first = layer("a", Variable("data"), true);
  Symbol sum = layer("b", first, false) + first;
  sum = make_symbol("Activation", "relu", std::vector{sum}, {{"act_type", "relu"}});
  const Symbol net = layer("c", sum, true);
  const Ran kept = run(net, "0"), again = run(net, "1");
  EXPECT_NE(again.plan.find("a_relu_again"), std::string::npos) << again.plan;
  EXPECT_EQ(again.plan.find("'relu_again"), std::string::npos) << again.plan;
  for (std::size_t i = 0; i < kept.values.size(); ++i)
    EXPECT_TRUE(near(again.values[i], kept.values[i], {1e-5, 1e-6})) << i;
}

TEST(Recompute, by_definition_gradients_are_the_same) {
  const settings::override_for_test plain("SYMBIND_KERNELS", "-native,-onednn,-blas");
  const Symbol net = layer("b", layer("a", Variable("data"), false), false);
  const Ran kept = run(net, "0"), again = run(net, "1");
  EXPECT_NE(again.plan.find("_again"), std::string::npos);
  for (std::size_t i = 0; i < kept.values.size(); ++i)
    EXPECT_TRUE(near(again.values[i], kept.values[i], {1e-5, 1e-6})) << i;
}

TEST(Recompute, what_users_see_is_kept_and_exact_keeps_all) {
  const Symbol first = layer("a", Variable("data"), true), second = layer("b", first, true);
  const Symbol both = make_symbol("elemwise_add", "sum", std::vector{first, second}, {});
  EXPECT_NE(run(both, "1").plan.find("_again"), std::string::npos);
  EXPECT_EQ(run(both, "1", true).plan.find("_again"), std::string::npos);
  Executor exe = Symbol::group({second, first}).simple_bind(cpu(), {{"data", {4, 16, 12, 10}}});
  EXPECT_EQ(exe.plan_text().find("_again"), std::string::npos);
}

}  // namespace
}  // namespace symbind
