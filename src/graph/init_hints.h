#pragma once
// How variables start that an operator wants filled in a certain way (BatchNorm's moving_var with
// ones). MXNet writes it into the variable when the operator takes it; nodes do not change here, so
// attributes and JSON add it where they are read.

#include <map>
#include <string>

#include "graph/node.h"

namespace symbind {

using InitHints = std::map<const Node*, std::string>;

/// The "__init__" that operators give their variables; the first operator of `order` decides.
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

/// The node's attributes with its hint; an "__init__" of its own stays.
inline AttrDict with_hint(const Node& node, const InitHints& hints) {
  AttrDict attrs = node.attrs;
  if (const auto it = hints.find(&node); it != hints.end()) attrs.emplace("__init__", it->second);
  return attrs;
}

}  // namespace symbind
