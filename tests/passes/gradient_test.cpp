// Nodes that no gradient reaches: most have none, losses and states do, as in MXNet 1.9.1.

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/host_tensor.h"

namespace symbind {
namespace {

Symbol call(const char* op, const char* name, const std::vector<Symbol>& inputs,
            const AttrDict& attrs = {}) {
  return make_symbol(op, name, inputs, attrs);
}

Executor trained(const Symbol& net, const Shape& shape) {
  Executor e = net.simple_bind(cpu(), {{"x", shape}});
  e.arg_dict().at("x").copy_from_host(HostTensor::formula(shape, 1).values.data(), DType::kFloat64);
  e.forward(true);
  e.backward({NDArray::ones(e.outputs().front().shape())});
  return e;
}

TEST(Gradient, a_loss_behind_block_grad_starts_its_own) {
  const Symbol loss = call("SoftmaxOutput", "s", {Variable("x")});
  const Executor open = trained(loss, {2, 3});
  const Executor blocked = trained(call("BlockGrad", "b", {loss}), {2, 3});
  const HostTensor want = HostTensor::from(open.grad_dict().at("x"));
  EXPECT_GT(want.largest(), 0.1);
  EXPECT_EQ(HostTensor::from(blocked.grad_dict().at("x")).values, want.values);
}

TEST(Gradient, nothing_else_behind_block_grad_has_one) {
  const Symbol net = call("BlockGrad", "b", {call("exp", "e", {Variable("x")})});
  EXPECT_EQ(HostTensor::from(trained(net, {2, 3}).grad_dict().at("x")).largest(), 0);
}

TEST(Gradient, states_behind_block_grad_are_updated) {
  const Symbol norm = call("BatchNorm", "n", {Variable("x")}, {{"momentum", "0.5"}});
  const Executor open = trained(norm, {4, 2});
  const Executor blocked = trained(call("BlockGrad", "b", {norm}), {4, 2});
  const HostTensor want = HostTensor::from(open.aux_dict().at("n_moving_mean"));
  EXPECT_GT(want.largest(), 0);
  EXPECT_EQ(HostTensor::from(blocked.aux_dict().at("n_moving_mean")).values, want.values);
}

}  // namespace
}  // namespace symbind
