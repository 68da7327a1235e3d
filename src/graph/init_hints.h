#pragma once
// Initial values that an operator requires for its variables (ones for BatchNorm's moving_var).
// MXNet writes them into the variable when the operator takes it; nodes are immutable here, so
// attributes and JSON add them when read.

#include <map>
#include <string>

#include "graph/node.h"

namespace symbind {

using InitHints = std::map<const Node*, std::string>;

/// The "__init__" that operators set on their variables; the first operator in `order` wins.
inline InitHints init_hints(const std::vector<NodePtr>& order) {
  InitHints hints;
  for (const NodePtr& node : order) {
    if (node->op == nullptr) continue;
    for (const auto& [index, init] : node->op->init_hints) {
      const auto i = static_cast<std::size_t>(index);
      if (i >= node->inputs.size() || !node->inputs[i].node->is_variable()) continue;
      hints.emplace(node->inputs[i].node.get(), init);
    }
  }
  return hints;
}

/// The node's attributes with its hint; an existing "__init__" stays.
inline AttrDict with_hint(const Node& node, const InitHints& hints) {
  AttrDict attrs = node.attrs;
  if (const auto it = hints.find(&node); it != hints.end()) attrs.emplace("__init__", it->second);
  return attrs;
}

}  // namespace symbind
