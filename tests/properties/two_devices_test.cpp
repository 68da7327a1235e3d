// A graph spread over two devices by ctx_group computes, bit for bit, what it computes on one.

#include <gtest/gtest.h>

#include "tests/properties/random_graph.h"

namespace symbind {
namespace {

TEST(BadInputTwoDevices, auxiliary_states_live_where_their_operator_runs) {
  const Symbol mean = Variable("mean"), data = Variable("data");
  const AttrScope group({{"ctx_group", "far"}});
  const Symbol bn =
      make_symbol("BatchNorm", "bn", NamedSymbols{{"data", data}, {"moving_mean", mean}});
  const ContextMap groups = {{"far", cpu(1)}};
  try {
    bn.simple_bind(cpu(), {{"data", {4, 2}}}, {.group2ctx = groups});
    FAIL() << "the moving mean would never change";
  } catch (const Error& e) {
    EXPECT_NE(
        std::string(e.what()).find("BatchNorm 'bn' runs on cpu(1), its auxiliary state 'mean'"),
        std::string::npos)
        << e.what();
  }
  EXPECT_NO_THROW(
      bn.simple_bind(cpu(), {{"data", {4, 2}}}, {.grad_req = "null", .group2ctx = groups}))
      << "nothing updates it there";
}

Symbol make(const char* op, const std::string& name, const std::vector<Symbol>& in,
            const AttrDict& attrs) {
  return make_symbol(op, name, in, attrs);
}

// Activations, gradients, a shared weight and auxiliary states cross between the groups.
Symbol spread_net() {
  const Symbol shared = Variable("shared_weight");
  Symbol x, head;
  {
    const AttrScope group({{"ctx_group", "near"}});
    x = make("Convolution", "conv1", {Variable("data")},
             {{"num_filter", "8"}, {"kernel", "(3, 3)"}, {"pad", "(1, 1)"}});
    x = make("Activation", "relu1", {make("BatchNorm", "bn1", {x}, {{"fix_gamma", "False"}})},
             {{"act_type", "relu"}});
    x = make_symbol("FullyConnected", "fc1", NamedSymbols{{"data", x}, {"weight", shared}},
                    {{"num_hidden", "288"}});
  }
  {
    const AttrScope group({{"ctx_group", "far"}});
    head = make("Activation", "tanh2", {x}, {{"act_type", "tanh"}});
    head = make_symbol("FullyConnected", "fc2", NamedSymbols{{"data", head}, {"weight", shared}},
                       {{"num_hidden", "288"}});
    head = make("BatchNorm", "bn2", {head}, {});
  }
  {
    const AttrScope group({{"ctx_group", "near"}});
    head = make("FullyConnected", "fc3", {head + x}, {{"num_hidden", "7"}});
    head = make("SoftmaxOutput", "softmax", {head}, {});
  }
  return head;
}

TEST(TwoDevices, equal_one_device_bit_for_bit) {
  const Symbol net = spread_net();
  const ShapeMap shapes = {{"data", {4, 3, 6, 6}}};
  Executor one = net.simple_bind(cpu(), shapes);
  Executor two = net.simple_bind(cpu(), shapes, {.group2ctx = {{"near", cpu(0)}, {"far", cpu(1)}}});
  EXPECT_NE(two.plan_text().find("cpu(1)"), std::string::npos) << two.plan_text();
  EXPECT_EQ(two.arg_dict().at("fc2_bias").context(), cpu(1));
  EXPECT_EQ(two.grad_dict().at("fc2_bias").context(), cpu(1));
  EXPECT_EQ(two.arg_dict().at("fc1_bias").context(), cpu(0));
  for (int step = 0; step < 2; ++step) {
    const Values want = train_once(one), got = train_once(two);
    ASSERT_EQ(got.size(), want.size());
    for (const auto& [name, value] : want) EXPECT_EQ(got.at(name).values, value.values) << name;
  }
}

}  // namespace
}  // namespace symbind
