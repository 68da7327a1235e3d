// What steps cost, against formulas written out here.

#include "passes/cost.h"

#include <gtest/gtest.h>
#include <symbind/ops.h>
#include <symbind/symbind.h>

#include "executor/runner.h"

namespace symbind {
namespace {

Cost cost_of_node(const Executor& e, const std::string& name) {
  const Plan& plan = runner_of(e).plan();
  for (const PlanStep& step : plan.steps)
    if (step.node && step.node->name == name) return cost_of(plan, step);
  ADD_FAILURE() << "no step " << name;
  return {};
}

Executor train(const Symbol& net, const ShapeMap& shapes) {
  return net.simple_bind(cpu(), shapes, {.grad_req = "write"});
}

TEST(Cost, convolution_in_groups) {
  // 8 filters in 2 groups over 6 channels: every output sums 3 channels of 5x5.
  const Symbol net = Convolution(
      "c", Variable("data"), {.kernel = {5, 5}, .stride = {2, 2}, .num_filter = 8, .num_group = 2});
  const Executor e = train(net, {{"data", {3, 6, 21, 21}}});
  const double outputs = 3 * 8 * 9 * 9, sums = 3 * 5 * 5;
  EXPECT_EQ(cost_of_node(e, "c").flops, outputs * (2 * sums + 1));
  EXPECT_EQ(cost_of_node(e, "c").bytes, 4 * (3 * 6 * 21 * 21 + 8 * sums + 8 + outputs));
  // Gradients of data and of weight are one such product each, that of the bias a sum.
  EXPECT_EQ(cost_of_node(e, "c_backward").flops, outputs * (2 * 2 * sums + 1));
}

TEST(Cost, gradients_that_are_not_requested_cost_nothing) {
  const Symbol net =
      Convolution("c", Variable("data"), {.kernel = {3, 3}, .num_filter = 4, .no_bias = true});
  const Executor e =
      net.simple_bind(cpu(), {{"data", {1, 2, 8, 8}}},
                      {.grad_req = std::map<std::string, std::string>{{"c_weight", "write"}}});
  EXPECT_EQ(cost_of_node(e, "c_backward").flops, 2.0 * 4 * 6 * 6 * 2 * 9);
}

TEST(Cost, Deconvolution) {
  const Symbol net =
      Deconvolution("d", Variable("data"),
                    {.kernel = {4, 4}, .stride = {2, 2}, .num_filter = 5, .no_bias = true});
  const Executor e = train(net, {{"data", {2, 3, 7, 7}}});
  EXPECT_EQ(cost_of_node(e, "d").flops, 2.0 * (2 * 3 * 7 * 7) * 5 * 16);
}

TEST(Cost, FullyConnected) {
  const Symbol net = FullyConnected("fc", Variable("data"), {.num_hidden = 7});
  const Executor e = train(net, {{"data", {5, 11}}});
  EXPECT_EQ(cost_of_node(e, "fc").flops, 5.0 * 7 * (2 * 11 + 1));
  EXPECT_EQ(cost_of_node(e, "fc").bytes, 4.0 * (5 * 11 + 7 * 11 + 7 + 5 * 7));
  EXPECT_EQ(cost_of_node(e, "fc_backward").flops, 2 * 2.0 * 5 * 7 * 11 + 5 * 7);
}

TEST(Cost, products) {
  const Symbol a = Variable("a"), b = Variable("b");
  for (const bool transposed : {false, true}) {
    const Symbol net = dot("p", a, b, {.transpose_a = transposed});
    const Executor e = train(net, {{"a", transposed ? Shape{6, 4} : Shape{4, 6}}, {"b", {6, 9}}});
    EXPECT_EQ(cost_of_node(e, "p").flops, 2.0 * 4 * 9 * 6);
    EXPECT_EQ(cost_of_node(e, "p_backward").flops, 2 * 2.0 * 4 * 9 * 6);
  }
  const Executor e = train(batch_dot("p", a, b), {{"a", {3, 4, 6}}, {"b", {3, 6, 9}}});
  EXPECT_EQ(cost_of_node(e, "p").flops, 3 * 2.0 * 4 * 9 * 6);
}

TEST(Cost, lstm) {
  const Symbol net = RNN("r",
                         {.data = Variable("x"),
                          .parameters = Variable("p"),
                          .state = Variable("h"),
                          .state_cell = Variable("c")},
                         {.state_size = 5, .num_layers = 2, .mode = "lstm"});
  const Executor e = train(net, {{"x", {7, 3, 4}}});
  // Four gates: of 4 inputs and 5 states in the first layer, of 5 and 5 in the second.
  const double forward = 7 * 3 * 2.0 * (4 * 5 * (4 + 5) + 4 * 5 * (5 + 5));
  EXPECT_EQ(cost_of_node(e, "r").flops, forward);
  EXPECT_EQ(cost_of_node(e, "r_backward").flops, 2 * forward);
}

TEST(Cost, per_element) {
  const Symbol x = Variable("x");
  const ShapeMap shape = {{"x", {6, 10}}};
  EXPECT_EQ(cost_of_node(train(exp("y", x), shape), "y").flops, 60);
  EXPECT_EQ(cost_of_node(train(exp("y", x), shape), "y").bytes, 480);
  EXPECT_EQ(cost_of_node(train(sum("y", x), shape), "y").flops, 60);
  EXPECT_EQ(cost_of_node(train(Flatten("y", x), shape), "y").flops, 0);
  EXPECT_EQ(cost_of_node(train(transpose("y", x), shape), "y").bytes, 480);
  const Symbol pooled = Pooling("y", x, {.kernel = {2, 2}, .pool_type = "max", .stride = {2, 2}});
  EXPECT_EQ(cost_of_node(train(pooled, {{"x", {1, 3, 8, 8}}}), "y").flops, 4 * 3 * 4 * 4);
}

TEST(Cost, what_no_rule_knows_is_not_counted) {
  const Executor e = train(CTCLoss("y", {.data = Variable("x"), .label = Variable("l")}, {}),
                           {{"x", {5, 2, 4}}, {"l", {2, 3}}});
  EXPECT_EQ(cost_of_node(e, "y").flops, -1);
  EXPECT_GT(cost_of_node(e, "y").bytes, 0);
}

}  // namespace
}  // namespace symbind
