#include <algorithm>

#include "base/check.h"
#include "graph/core_ops.h"
#include "passes/symbol_passes.h"

namespace symbind {
namespace {

Context place(const Node& node, Context fallback, const ContextMap& group2ctx,
              const std::unordered_map<const Node*, Context>& placed) {
  if (node.forward_node) {
    const auto it = placed.find(node.forward_node.get());
    if (it != placed.end()) return it->second;
  }
  const auto group = node.attrs.find("__ctx_group__");
  if (group == node.attrs.end()) return fallback;
  const auto it = group2ctx.find(group->second);
  return it == group2ctx.end() ? fallback : it->second;
}

// An operator updates its auxiliary states where they are: a copy would be updated and discarded.
void check_aux_place(const Node& node, std::size_t input, Context there, Context here) {
  if (there == here || node.is_variable()) return;
  const bool aux = node.is_aux_input(static_cast<int>(input)) || node.op->is_backward;
  if (!aux || !node.op->mutates(node.parsed.get(), static_cast<int>(input))) return;
  const std::string& name = node.inputs[input].node->name;
  fail(ErrorKind::kValue,
       "{} runs on {}, its auxiliary state '{}' is on {}\n"
       "  fix:  give '{}' the ctx_group of the operator, or bind its array on {}",
       (node.forward_node ? *node.forward_node : node).title(), here.str(), name, there.str(), name,
       here.str());
}

}  // namespace

Placement place_device(const NodeEntries& heads, Context fallback, const ContextMap& group2ctx,
                       const std::unordered_map<const Node*, Context>& variables) {
  std::unordered_map<const Node*, Context> original;  // of nodes before the rewrite
  bool several = false;
  for (const NodePtr& node : post_order(heads)) {
    const auto bound = variables.find(node.get());
    const Context at =
        bound != variables.end() ? bound->second : place(*node, fallback, group2ctx, original);
    original.emplace(node.get(), at);
    several |= !(at == fallback);
  }
  if (!several) return {heads, std::move(original)};

  Placement result;
  std::map<std::tuple<const Node*, int, int, int>, NodeEntry> copies;  // one per value and device
  const OpDef& copy = any_operator(core_ops::kCrossDevice);
  const auto brought = [&](const NodeEntry& e, Context to) {
    if (result.context.at(e.node.get()) == to) return e;
    NodeEntry& there = copies[{e.node.get(), e.index, static_cast<int>(to.type), to.id}];
    if (!there) {
      there = {make_node(copy, e.node->name + "_copy", {}, {e}), 0};
      result.context.emplace(there.node.get(), to);
    }
    return there;
  };
  std::unordered_map<const Node*, NodePtr>
      placed_of;  // a gradient must still point to its forward node
  result.heads = rewrite(heads, [&](const NodePtr& node, const NodeEntries& inputs) -> NodeEntries {
    const Context at = original.at(node.get());
    NodePtr placed = node;
    NodeEntries moved;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      check_aux_place(*node, i, result.context.at(inputs[i].node.get()), at);
      moved.push_back(brought(inputs[i], at));
    }
    const auto forward = placed_of.find(node->forward_node.get());
    if (moved != node->inputs ||
        (forward != placed_of.end() && forward->second != node->forward_node)) {
      auto changed = std::make_shared<Node>(*node);
      changed->inputs = std::move(moved);
      if (forward != placed_of.end()) changed->forward_node = forward->second;
      placed = changed;
    }
    placed_of.emplace(node.get(), placed);
    result.context.emplace(placed.get(), at);
    NodeEntries outputs;
    for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back({placed, i});
    return outputs;
  });
  return result;
}

}  // namespace symbind
