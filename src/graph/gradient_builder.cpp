#include "base/check.h"
#include "graph/core_ops.h"
#include "graph/gradient_heads.h"
#include "graph/node.h"

namespace symbind {

NodeEntry GradientBuilder::head(int i) {
  NodeEntry& entry = heads_.at(static_cast<std::size_t>(i));
  if (!entry) entry = call("zeros_like", {output(i)});
  return entry;
}

NodeEntry GradientBuilder::input(int i) const {
  return node_->inputs.at(static_cast<std::size_t>(i));
}

int GradientBuilder::num_inputs() const { return static_cast<int>(node_->inputs.size()); }

NodeEntries GradientBuilder::call_with_same_attrs(std::string_view op, NodeEntries inputs) {
  auto node = std::make_shared<Node>();
  node->op = &any_operator(op);
  node->name = node_->name + "_backward";
  node->parsed = node_->parsed;
  node->attrs = node_->attrs;
  node->inputs = std::move(inputs);
  node->forward_node = node_;
  NodeEntries outputs;
  for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back({node, i});
  return outputs;
}

NodeEntry GradientBuilder::call(std::string_view op, NodeEntries inputs, AttrDict attrs) {
  const OpDef& def = any_operator(op);
  if (const auto group = node_->attrs.find("__ctx_group__"); group != node_->attrs.end()) {
    attrs.insert(*group);
  }
  auto node = std::make_shared<Node>(
      *make_node(def, node_->name + "_backward", std::move(attrs), std::move(inputs)));
  node->forward_node = node_;
  return {node, 0};
}

NodeEntries two_heads(GradientBuilder& g, int i) {
  const NodeEntry whole = g.head(i);
  // The gradient pass made this sum for this node: nothing else reads it.
  const Node& sum = *whole.node;
  if (sum.op == nullptr || !sum.op->adds_up || sum.forward_node != g.output(i).node ||
      sum.inputs.size() < 2)
    return {whole};
  NodeEntries parts = sum.inputs;
  const NodeEntry last = parts.back();
  parts.pop_back();
  if (parts.size() == 1) return {parts.front(), last};
  return {g.call(core_ops::kSum, std::move(parts)), last};
}

}  // namespace symbind
