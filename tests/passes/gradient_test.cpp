// Nodes under BlockGrad: most have no gradient, losses and states do, as in MXNet 1.9.1. And sums
// of partial gradients: their order and their memory.

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

TEST(Gradient, a_loss_under_block_grad_starts_its_own_gradient) {
  const Symbol loss = call("SoftmaxOutput", "s", {Variable("x")});
  const Executor open = trained(loss, {2, 3});
  const Executor blocked = trained(call("BlockGrad", "b", {loss}), {2, 3});
  const HostTensor want = HostTensor::from(open.grad_dict().at("x"));
  EXPECT_GT(want.largest(), 0.1);
  EXPECT_EQ(HostTensor::from(blocked.grad_dict().at("x")).values, want.values);
}

TEST(Gradient, nothing_else_under_block_grad_has_a_gradient) {
  const Symbol net = call("BlockGrad", "b", {call("exp", "e", {Variable("x")})});
  EXPECT_EQ(HostTensor::from(trained(net, {2, 3}).grad_dict().at("x")).largest(), 0);
}

TEST(Gradient, states_under_block_grad_are_updated) {
  const Symbol norm = call("BatchNorm", "n", {Variable("x")}, {{"momentum", "0.5"}});
  const Executor open = trained(norm, {4, 2});
  const Executor blocked = trained(call("BlockGrad", "b", {norm}), {4, 2});
  const HostTensor want = HostTensor::from(open.aux_dict().at("n_moving_mean"));
  EXPECT_GT(want.largest(), 0);
  EXPECT_EQ(HostTensor::from(blocked.aux_dict().at("n_moving_mean")).values, want.values);
}

/// dw of Σ w·xᵢ, that is Σ xᵢ in the order in which the parts are added.
float sum_of_parts(const std::vector<float>& x) {
  const Symbol w = Variable("w");
  Symbol y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Symbol part = w * Variable("x" + std::to_string(i));
    y = i == 0 ? part : y + part;
  }
  ShapeMap shapes = {{"w", {1}}};
  for (std::size_t i = 0; i < x.size(); ++i) shapes["x" + std::to_string(i)] = {1};
  Executor e = y.simple_bind(cpu(), shapes);
  for (std::size_t i = 0; i < x.size(); ++i)
    NDArray::from_vector<float>({x[i]}, {1}).copy_to(e.arg_dict().at("x" + std::to_string(i)));
  e.forward(true);
  e.backward({NDArray::ones({1})});
  return e.grad_dict().at("w").to_vector<float>()[0];
}

// What MXNet 1.9.1 gives: the last use's part comes first, for few parts and for many.
TEST(Gradient, parts_are_added_in_mxnets_order) {
  const std::vector<float> x = {1e8F, 1, 3, -1e8F, 5, 7, 1e8F, 0.25F, -1e8F, 11, 2, 0.5F};
  const std::pair<std::size_t, float> mxnet[] = {{3, 100000000.F}, {5, 8.F},   {7, 100000016.F},
                                                 {8, 100000016.F}, {10, 16.F}, {12, 32.F}};
  for (const auto& [count, sum] : mxnet)
    EXPECT_EQ(sum_of_parts({x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count)}), sum)
        << count;
  float other_way = 0;
  for (std::size_t i = 0; i < 10; ++i) other_way += x[i];
  EXPECT_NE(other_way, 16.F);
}

/// h ← tanh(h · wᵀ), `steps` times, over one weight.
Executor unrolled(int steps, std::int64_t width) {
  Symbol h = Variable("x");
  const Symbol w = Variable("w");
  const AttrDict attrs = {{"no_bias", "True"}, {"num_hidden", std::to_string(width)}};
  for (int t = 0; t < steps; ++t) {
    const std::string number = std::to_string(t);
    h = call("FullyConnected", ("fc" + number).c_str(), {h, w}, attrs);
    h = call("tanh", ("tanh" + number).c_str(), {h});
  }
  return h.simple_bind(cpu(), {{"x", {2, width}}});
}

TEST(Gradient, many_uses_of_a_weight_need_the_memory_of_few) {
  constexpr std::int64_t kWidth = 256;
  const std::size_t weight = kWidth * kWidth * sizeof(float), row = 2 * kWidth * sizeof(float);
  const std::size_t few = unrolled(10, kWidth).stats().max_live_bytes;
  const std::size_t many = unrolled(60, kWidth).stats().max_live_bytes;
  EXPECT_LE(few, 3 * weight + 20 * row);
  EXPECT_LE(many, few + 50 * 2 * row);  // activations, which are as many as steps
}

TEST(Gradient, a_chain_of_sums_gives_mxnets_numbers) {
  Executor e = unrolled(12, 3);
  std::vector<float> x, w;
  for (int i = 0; i < 6; ++i) x.push_back(static_cast<float>(i) / 7);
  for (int i = 0; i < 9; ++i) w.push_back(static_cast<float>(i) / 10 - 0.35F);
  NDArray::from_vector(x, {2, 3}).copy_to(e.arg_dict().at("x"));
  NDArray::from_vector(w, {3, 3}).copy_to(e.arg_dict().at("w"));
  e.forward(true);
  e.backward({NDArray::ones({2, 3})});
  const std::vector<float> mxnet = {-0.000660128426F, 0.000793424028F, 0.00223078043F,
                                    -0.00128794427F,  0.00181450939F,  0.00487963017F,
                                    -0.0019756828F,   0.00273450301F,  0.0073874332F};
  const std::vector<float> got = e.grad_dict().at("w").to_vector<float>();
  for (std::size_t i = 0; i < mxnet.size(); ++i) EXPECT_NEAR(got[i], mxnet[i], 1e-8);
  EXPECT_NE(e.plan_text().find("w_grad_sum_11"), std::string::npos);
}

}  // namespace
}  // namespace symbind
