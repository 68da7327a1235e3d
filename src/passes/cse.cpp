// Merges equal subexpressions if MXNET_ELIMINATE_COMMON_EXPR is set. Operators that draw random
// numbers, change their inputs or run user code are never merged. Merged outputs get a copy each:
// they stay separate arrays.

#include <map>

#include <fmt/format.h>

#include "graph/core_ops.h"
#include "passes/symbol_passes.h"

namespace symbind {
namespace {

NodeEntries keep_apart(const NodeEntries& before, NodeEntries merged) {
  const OpDef& copy = OpRegistry::global().get(core_ops::kCopy);
  std::map<std::pair<const Node*, int>, NodeEntry> first;  // the original owner of an entry
  for (std::size_t i = 0; i < merged.size(); ++i) {
    const NodeEntry& owner =
        first.emplace(std::pair{merged[i].node.get(), merged[i].index}, before[i]).first->second;
    if (owner != before[i])
      merged[i] = {make_node(copy, before[i].node->name + "_copy", {}, {merged[i]}), 0};
  }
  return merged;
}

}  // namespace

NodeEntries eliminate_common(const NodeEntries& heads) {
  std::map<std::string, NodePtr> first_of;  // operator, attributes and inputs → node
  NodeEntries merged =
      rewrite(heads, [&](const NodePtr& node, const NodeEntries& inputs) -> NodeEntries {
        if (node->is_variable() || node->op->is_random || node->op->runs_user_code ||
            node->op->mutates_any(node->parsed.get()) || !node->op->aux_inputs.empty()) {
          return {};
        }
        std::string key = node->op->name;
        for (const auto& [name, value] : node->attrs) key += fmt::format("|{}={}", name, value);
        for (const NodeEntry& e : inputs)
          key += fmt::format("|{}:{}", fmt::ptr(e.node.get()), e.index);
        NodePtr kept = node;
        if (inputs != node->inputs) {
          auto copy = std::make_shared<Node>(*node);
          copy->inputs = inputs;
          kept = copy;
        }
        kept = first_of.emplace(key, kept).first->second;
        NodeEntries outputs;
        for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back({kept, i});
        return outputs;
      });
  return keep_apart(heads, std::move(merged));
}

}  // namespace symbind
