// Two neighbouring operators are fused only if nothing else reads the value between them.

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/host_tensor.h"

namespace symbind {
namespace {

Symbol call(const char* op, const char* name, const std::vector<Symbol>& in,
            const AttrDict& attrs = {}) {
  return make_symbol(op, name, in, attrs);
}

Executor trained(const Symbol& net, const ShapeMap& shapes) {
  Executor e = net.simple_bind(cpu(), shapes);
  const NDArrayMap args = e.arg_dict();
  for (const auto& [name, array] : args)
    HostTensor::formula(array.shape(), std::hash<std::string>{}(name)).array().copy_to(array);
  e.forward(true);
  e.backward();
  return e;
}

bool has_step(const Executor& e, const std::string& op) {
  return e.plan_text().find(op) != std::string::npos;
}

double largest_difference(const NDArray& a, const NDArray& b) {
  const HostTensor x = HostTensor::from(a), y = HostTensor::from(b);
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
  return most;
}

TEST(Fuse, batch_norm_and_relu) {
  const Symbol bn = call("BatchNorm", "bn", {Variable("x")}, {{"momentum", "0.5"}});
  const Symbol relu = call("Activation", "relu", {bn}, {{"act_type", "relu"}});
  const ShapeMap shapes = {{"x", {2, 3, 2, 2}}};
  const Executor alone = trained(call("make_loss", "loss", {relu}), shapes);
  EXPECT_TRUE(has_step(alone, "_fused_BatchNorm")) << alone.plan_text();
}

// The end of a residual block: the sum of the gradients that arrive is part of it, too.
TEST(Fuse, batch_norm_with_sum_and_relu) {
  const Symbol bn = call("BatchNorm", "bn", {Variable("x")});
  const Symbol relu = call("Activation", "relu", {Variable("z") + bn}, {{"act_type", "relu"}});
  const ShapeMap shapes = {{"x", {2, 3, 2, 2}}, {"z", {2, 3, 2, 2}}};
  const Executor two =
      trained(call("make_loss", "loss", {relu + call("tanh", "t", {relu})}), shapes);
  EXPECT_TRUE(has_step(two, "_fused_BatchNorm")) << two.plan_text();
  EXPECT_TRUE(has_step(two, "_backward_BatchNorm_two_heads")) << two.plan_text();
  for (const char* alone : {"_backward_Activation 'relu", "grad_sum"})
    EXPECT_FALSE(has_step(two, alone)) << two.plan_text();
}

TEST(Fuse, three_gradients_are_two_heads) {
  const Symbol bn = call("BatchNorm", "bn", {Variable("x")});
  const Symbol relu = call("Activation", "relu", {bn}, {{"act_type", "relu"}});
  const Symbol uses = relu + call("tanh", "t", {relu}) + call("sigmoid", "s", {relu});
  const Executor three = trained(call("make_loss", "loss", {uses}), {{"x", {2, 3, 2, 2}}});
  EXPECT_TRUE(has_step(three, "_backward_BatchNorm_two_heads")) << three.plan_text();
}

// Were it fused all the same, the states would be updated by two operators.
TEST(Fuse, not_where_another_reads_the_product) {
  const Symbol bn = call("BatchNorm", "bn", {Variable("x")}, {{"momentum", "0.5"}});
  const Symbol relu = call("Activation", "relu", {bn}, {{"act_type", "relu"}});
  const Symbol tanh = call("Activation", "tanh", {bn}, {{"act_type", "tanh"}});
  const ShapeMap shapes = {{"x", {2, 3, 2, 2}}};
  const Executor one = trained(call("make_loss", "loss", {relu}), shapes);
  const Executor two = trained(call("make_loss", "loss", {relu + tanh}), shapes);
  EXPECT_FALSE(has_step(two, "_fused_BatchNorm")) << two.plan_text();
  for (const char* state : {"bn_moving_mean", "bn_moving_var"})
    EXPECT_LT(largest_difference(one.aux_dict().at(state), two.aux_dict().at(state)), 1e-6)
        << state;
}

TEST(Fuse, not_where_the_product_is_an_output) {
  const Symbol conv =
      call("Convolution", "conv", {Variable("x")}, {{"kernel", "(1, 1)"}, {"num_filter", "3"}});
  const Symbol sum = conv + Variable("y");
  const ShapeMap shapes = {{"x", {2, 3, 2, 2}}, {"y", {2, 3, 2, 2}}};
  EXPECT_TRUE(has_step(sum.simple_bind(cpu(), shapes), "_fused_Convolution"));
  EXPECT_FALSE(has_step(Group({sum, conv}).simple_bind(cpu(), shapes), "_fused_Convolution"));
}

}  // namespace
}  // namespace symbind
