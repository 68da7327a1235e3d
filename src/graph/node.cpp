#include "graph/node.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/check.h"

namespace symbind {

// A long chain would otherwise be destroyed by recursion: the last owner hands its inputs to a
// list that is emptied in a loop by the outermost destructor on this thread.
Node::~Node() {
  thread_local std::vector<NodePtr>* pending = nullptr;
  const auto release_into = [&](std::vector<NodePtr>& list) {
    for (NodeEntry& entry : inputs) list.push_back(std::move(entry.node));
    if (forward_node) list.push_back(std::move(forward_node));
  };
  if (pending != nullptr) {
    release_into(*pending);
    return;
  }
  std::vector<NodePtr> list;
  release_into(list);
  pending = &list;
  while (!list.empty()) {
    NodePtr next = std::move(list.back());
    list.pop_back();
    next.reset();
  }
  pending = nullptr;
}

const std::vector<std::string>& Node::output_names() const {
  return output_names_.get([&] { return op->output_names(parsed.get()); });
}

int Node::num_visible() const { return op == nullptr ? 1 : op->num_visible(parsed.get()); }

std::vector<std::string> Node::input_names() const {
  return op == nullptr ? std::vector<std::string>{} : op->input_names(parsed.get());
}

std::string Node::output_name(int index) const {
  if (op == nullptr) return name;
  return name + "_" + output_names().at(static_cast<std::size_t>(index));
}

bool Node::is_aux_input(int index) const {
  return op != nullptr && op->is_aux(parsed.get(), index);
}

std::string Node::title() const {
  return op == nullptr ? fmt::format("variable '{}'", name)
                       : fmt::format("{} '{}'", op->name, name);
}

NodePtr make_variable(std::string name, AttrDict attrs) {
  auto node = std::make_shared<Node>();
  node->name = std::move(name);
  node->attrs = std::move(attrs);
  return node;
}

std::shared_ptr<const void> parse_node_attrs(const OpDef& op, const std::string& name,
                                             const AttrDict& attrs, std::size_t num_inputs) {
  return op.parse(attrs, fmt::format("{} '{}'", op.name, name), num_inputs);
}

NodePtr make_node(const OpDef& op, std::string name, AttrDict attrs, NodeEntries inputs) {
  auto node = std::make_shared<Node>();
  node->op = &op;
  node->parsed = parse_node_attrs(op, name, attrs, inputs.size());
  node->name = std::move(name);
  node->attrs = std::move(attrs);
  node->inputs = std::move(inputs);
  return node;
}

std::vector<NodePtr> post_order(const NodeEntries& heads) {
  std::vector<NodePtr> order;
  std::unordered_set<const Node*> seen;
  struct Frame {
    NodePtr node;
    std::size_t next;
  };
  std::vector<Frame> stack;
  for (const NodeEntry& head : heads) {
    if (!seen.insert(head.node.get()).second) continue;
    stack.push_back({head.node, 0});
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == top.node->inputs.size()) {
        order.push_back(std::move(top.node));
        stack.pop_back();
        continue;
      }
      const NodePtr& input = top.node->inputs[top.next++].node;
      if (seen.insert(input.get()).second) stack.push_back({input, 0});
    }
  }
  return order;
}

NodeEntries rewrite(const NodeEntries& heads,
                    const std::function<NodeEntries(const NodePtr&, const NodeEntries&)>& change) {
  std::unordered_map<const Node*, NodeEntries> replaced;  // outputs of every node visited so far
  const auto translate = [&](const NodeEntry& e) {
    return replaced.at(e.node.get())[static_cast<std::size_t>(e.index)];
  };
  for (const NodePtr& node : post_order(heads)) {
    NodeEntries inputs;
    inputs.reserve(node->inputs.size());
    for (const NodeEntry& e : node->inputs) inputs.push_back(translate(e));
    NodeEntries outputs = change(node, inputs);
    if (outputs.empty()) {
      NodePtr kept = node;
      if (inputs != node->inputs) {
        auto copy = std::make_shared<Node>(*node);
        copy->inputs = std::move(inputs);
        kept = copy;
      }
      for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back({kept, i});
    }
    replaced.emplace(node.get(), std::move(outputs));
  }
  NodeEntries result;
  for (const NodeEntry& head : heads) result.push_back(translate(head));
  return result;
}

bool is_hidden_key(std::string_view key) {
  return std::ranges::find(kHiddenKeys, key) != std::end(kHiddenKeys);
}

std::string stored_key(const std::string& key) {
  return is_hidden_key(key) ? "__" + key + "__" : key;
}

}  // namespace symbind
