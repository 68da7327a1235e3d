// Where nodes run, and the copies between devices.

#include <gtest/gtest.h>

#include <algorithm>

#include <symbind/executor.h>

#include "passes/gradient.h"
#include "passes/symbol_passes.h"

namespace symbind {
namespace {

Symbol call(const char* op, const std::string& name, const std::vector<Symbol>& inputs,
            AttrDict attrs = {}, const char* group = nullptr) {
  if (group != nullptr) attrs["ctx_group"] = group;
  return make_symbol(op, name, inputs, attrs);
}

const ContextMap kGroups = {{"one", cpu(1)}, {"two", cpu(2)}};

const Node* find(const NodeEntries& heads, const std::string& name) {
  for (const NodePtr& node : post_order(heads))
    if (node->name == name) return node.get();
  return nullptr;
}

int count_copies(const NodeEntries& heads) {
  return static_cast<int>(std::ranges::count_if(post_order(heads), [](const NodePtr& node) {
    return !node->is_variable() && node->op->name == "_CrossDeviceCopy";
  }));
}

TEST(PlaceDevice, one_device_leaves_the_graph_unchanged) {
  const Symbol net = call("exp", "e", {Variable("x")});
  const Placement placed = place_device(net.heads(), cpu(3), {}, {});
  EXPECT_EQ(placed.heads, net.heads());
  for (const NodePtr& node : post_order(net.heads())) EXPECT_EQ(placed.of(node.get()), cpu(3));
}

TEST(PlaceDevice, a_node_runs_where_its_group_says) {
  Symbol net = call("exp", "first", {Variable("x")}, {}, "one");
  net = call("sin", "second", {net}, {}, "two");
  net = call("cos", "third", {net}, {}, "unknown");  // no device is given for it: the default
  const Placement placed = place_device(net.heads(), cpu(0), kGroups, {});
  EXPECT_EQ(placed.of(find(placed.heads, "first")), cpu(1));
  EXPECT_EQ(placed.of(find(placed.heads, "second")), cpu(2));
  EXPECT_EQ(placed.of(find(placed.heads, "third")), cpu(0));
  EXPECT_EQ(placed.of(find(placed.heads, "x")), cpu(0));
  EXPECT_EQ(count_copies(placed.heads), 3);  // x to one, first to two, second to the default
  for (const NodePtr& node : post_order(placed.heads)) {
    if (node->is_variable() || node->op->name == "_CrossDeviceCopy") continue;
    for (const NodeEntry& input : node->inputs)
      EXPECT_EQ(placed.of(input.node.get()), placed.of(node.get())) << node->name;
  }
}

TEST(PlaceDevice, a_value_is_copied_once_to_each_device) {
  const Symbol x = call("exp", "x_exp", {Variable("x")});
  const Symbol a = call("sin", "a", {x}, {}, "one"), b = call("cos", "b", {x}, {}, "one");
  const Symbol c = call("cos", "c", {x}, {}, "two");
  const Symbol net = Group({a, b, c});
  const Placement placed = place_device(net.heads(), cpu(0), kGroups, {});
  EXPECT_EQ(count_copies(placed.heads), 2);
  EXPECT_EQ(find(placed.heads, "a")->inputs, find(placed.heads, "b")->inputs);
  EXPECT_NE(find(placed.heads, "a")->inputs, find(placed.heads, "c")->inputs);
}

TEST(PlaceDevice, bound_variables_are_where_their_arrays_are) {
  const Symbol net = call("exp", "e", {Variable("x")}, {}, "one");
  const NodePtr x = net.heads().front().node->inputs.front().node;
  const Placement there = place_device(net.heads(), cpu(0), kGroups, {{x.get(), cpu(1)}});
  EXPECT_EQ(count_copies(there.heads), 0);
  const Placement elsewhere = place_device(net.heads(), cpu(0), kGroups, {{x.get(), cpu(2)}});
  EXPECT_EQ(count_copies(elsewhere.heads), 1);
}

// Also where the forward node itself was rewritten, because its input comes from another device.
TEST(PlaceDevice, a_gradient_runs_where_its_forward_node_does) {
  Symbol net = call("exp", "first", {Variable("x")}, {}, "one");
  net = call("sin", "second", {net}, {}, "two");
  const std::vector<NodePtr> order = post_order(net.heads());
  NodeEntries heads = net.heads();
  const GradientGraph g = gradient(heads, {order.front().get()});
  heads.insert(heads.end(), g.gradients.begin(), g.gradients.end());
  const Placement placed = place_device(heads, cpu(0), kGroups, {});
  int seen = 0;
  for (const NodePtr& node : post_order(placed.heads)) {
    if (!node->forward_node) continue;
    ++seen;
    EXPECT_EQ(placed.of(node.get()), placed.of(find(placed.heads, node->forward_node->name)))
        << node->name;
    EXPECT_EQ(node->forward_node.get(), find(placed.heads, node->forward_node->name));
  }
  EXPECT_GE(seen, 2);
}

TEST(PlaceDevice, a_net_on_two_devices_computes_what_one_device_does) {
  Symbol net = call("FullyConnected", "fc1", {Variable("x")}, {{"num_hidden", "2"}}, "one");
  net = call("square", "sq", {net}, {}, "two");
  Executor e = net.simple_bind(cpu(), {{"x", {1, 2}}}, {.group2ctx = kGroups});
  const NDArrayMap args = e.arg_dict();
  NDArray::from_vector<float>({1, 2}, {1, 2}).copy_to(args.at("x"));
  NDArray::from_vector<float>({1, 0, 1, 1}, {2, 2}).copy_to(args.at("fc1_weight"));
  NDArray::from_vector<float>({0.5F, -1}, {2}).copy_to(args.at("fc1_bias"));
  e.forward(true);
  e.backward({NDArray::ones({1, 2}, cpu(2))});
  // y = (1.5, 2)², dy = (3, 4), dx = dy · W
  EXPECT_EQ(e.outputs()[0].to_vector<float>(), (std::vector<float>{2.25, 4}));
  EXPECT_EQ(e.grad_dict().at("x").to_vector<float>(), (std::vector<float>{7, 4}));
  EXPECT_EQ(e.grad_dict().at("fc1_bias").to_vector<float>(), (std::vector<float>{3, 4}));
}

TEST(BadInputPlaceDevice, a_state_on_another_device_is_an_error) {
  const Symbol net = call("BatchNorm", "bn", {Variable("x")}, {}, "one");
  std::unordered_map<const Node*, Context> bound;
  const Node* x = nullptr;
  for (const NodePtr& node : post_order(net.heads())) {
    if (node->is_variable()) bound.emplace(node.get(), cpu(2));
    if (node->name == "x") x = node.get();
  }
  NodeEntries heads = net.heads();
  heads.push_back(gradient(heads, {x}).gradients.front());  // updates the states
  try {
    place_device(heads, cpu(0), kGroups, bound);
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("BatchNorm 'bn' runs on cpu(1)"), std::string::npos) << text;
    EXPECT_NE(text.find("'bn_moving_mean' is on cpu(2)"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace symbind
