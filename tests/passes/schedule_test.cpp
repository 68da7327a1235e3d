// The order of execution: inputs before users, forward in the symbol's order, gradients of the last
// forward nodes first, sums of gradients as soon as their parts are there.

#include "passes/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <unordered_map>

#include <symbind/symbol.h>

#include "passes/gradient.h"

namespace symbind {
namespace {

using Names = std::vector<std::string>;

Symbol call(const char* op, const std::string& name, const std::vector<Symbol>& inputs,
            const AttrDict& attrs = {}) {
  return make_symbol(op, name, inputs, attrs);
}

/// The schedule of a net and the gradients of these variables, in this order.
Schedule scheduled(const Symbol& net, const Names& wanted) {
  std::unordered_map<std::string, const Node*> variables;
  for (const NodePtr& node : post_order(net.heads()))
    if (node->is_variable()) variables.emplace(node->name, node.get());
  std::vector<const Node*> nodes;
  for (const std::string& name : wanted) nodes.push_back(variables.at(name));
  return schedule(net.heads(), gradient(net.heads(), nodes).gradients);
}

Names names(const Schedule& s, bool forward) {
  Names result;
  for (std::size_t i = forward ? 0 : s.num_forward; i < (forward ? s.num_forward : s.order.size());
       ++i)
    if (!s.order[i]->is_variable()) result.push_back(s.order[i]->name);
  return result;
}

/// fc1 – relu – fc2: every gradient of fc2 must run before any of fc1.
Symbol two_layers() {
  const AttrDict four = {{"num_hidden", "4"}};
  const Symbol fc1 = call("FullyConnected", "fc1", {Variable("x")}, four);
  return call("FullyConnected", "fc2", {call("relu", "relu", {fc1})}, four);
}

TEST(Schedule, forward_keeps_the_symbols_order) {
  const Schedule s = scheduled(two_layers(), {"x", "fc1_weight"});
  EXPECT_EQ(names(s, true), (Names{"fc1", "relu", "fc2"}));
}

TEST(Schedule, gradients_of_the_last_nodes_run_first_whatever_is_asked_first) {
  const Names asked[] = {{"x", "fc1_weight", "fc2_weight"}, {"fc2_weight", "fc1_weight", "x"}};
  for (const Names& wanted : asked) {
    std::vector<std::string> forward;
    const Schedule s = scheduled(two_layers(), wanted);
    for (std::size_t i = s.num_forward; i < s.order.size(); ++i)
      if (s.order[i]->forward_node) forward.push_back(s.order[i]->forward_node->name);
    const auto place = [&](const char* name) { return std::ranges::find(forward, name); };
    EXPECT_LT(place("fc2"), place("relu"));
    EXPECT_LT(place("relu"), place("fc1"));
    EXPECT_LT(std::ranges::find(forward.rbegin(), forward.rend(), "fc2").base(), place("fc1") + 1);
  }
}

// Nothing but the rule orders the gradients of two branches.
TEST(Schedule, of_two_branches_the_later_ones_gradient_runs_first) {
  const Symbol first = call("tanh", "first", {Variable("a")});
  const Symbol second = call("tanh", "second", {Variable("b")});
  const Symbol net = call("elemwise_add", "sum", {first, second});
  ASSERT_EQ(names(scheduled(net, {"a"}), true), (Names{"first", "second", "sum"}));
  const Names asked[] = {{"a", "b"}, {"b", "a"}};
  for (const Names& wanted : asked) {
    Names order;
    const Schedule s = scheduled(net, wanted);
    for (std::size_t i = s.num_forward; i < s.order.size(); ++i)
      if (const NodePtr& forward = s.order[i]->forward_node; forward && forward->name != "sum")
        order.push_back(forward->name);
    EXPECT_EQ(order, (Names{"second", "first"})) << "asked for " << wanted.front() << " first";
  }
}

/// w is read by `uses` nodes, one after the other: h ← h · w.
Symbol shared_weight(int uses) {
  Symbol h = Variable("x");
  const Symbol w = Variable("w");
  for (int i = 0; i < uses; ++i) h = call("elemwise_mul", "mul" + std::to_string(i), {h, w});
  return h;
}

// With parts g9 … g0, in the order they arrive: g9, g8, their sum, g7, the sum with it, …
TEST(Schedule, a_sum_runs_when_its_parts_are_there) {
  const Schedule s = scheduled(shared_weight(10), {"w"});
  std::unordered_map<const Node*, std::size_t> place;
  for (std::size_t i = 0; i < s.order.size(); ++i) place.emplace(s.order[i].get(), i);
  std::vector<int> waiting(s.order.size(), 0);  // parts that are there and not yet added
  int sums = 0;
  for (const NodePtr& node : s.order) {
    if (node->is_variable() || node->op->name != "add_n") continue;
    ++sums;
    ASSERT_EQ(node->inputs.size(), 2u);
    for (const NodeEntry& part : node->inputs)
      for (std::size_t i = place.at(part.node.get()); i < place.at(node.get()); ++i) ++waiting[i];
  }
  EXPECT_EQ(sums, 9);
  EXPECT_EQ(names(s, false).back(), "w_grad_sum_9");
  EXPECT_LE(*std::ranges::max_element(waiting), 2);
}

TEST(Schedule, random_graphs_run_inputs_first_and_every_node_once) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<Symbol> made = {Variable("a"), Variable("b")};
    const int count = 3 + static_cast<int>(random() % 20);
    for (int i = 0; i < count; ++i)
      made.push_back(call("elemwise_mul", "m" + std::to_string(i),
                          {made[random() % made.size()], made[random() % made.size()]}));
    const Symbol net = made.back();
    Names wanted;
    for (const std::string& name : net.list_arguments())
      if (random() % 3 != 0) wanted.push_back(name);
    const Schedule s = scheduled(net, wanted);
    std::unordered_map<const Node*, std::size_t> place;
    for (std::size_t i = 0; i < s.order.size(); ++i)
      ASSERT_TRUE(place.emplace(s.order[i].get(), i).second) << s.order[i]->name << " twice";
    for (const NodePtr& node : s.order)
      for (const NodeEntry& input : node->inputs) {
        ASSERT_TRUE(place.contains(input.node.get())) << input.node->name;
        ASSERT_LT(place.at(input.node.get()), place.at(node.get())) << node->name;
      }
    ASSERT_EQ(s.num_forward, post_order(net.heads()).size());
  }
}

}  // namespace
}  // namespace symbind
