#pragma once
// Builds the backward graph.

#include "graph/node.h"

namespace symbind {

struct GradientGraph {
  NodeEntries gradients;            ///< by variable; empty where no gradient arrives
  std::vector<NodePtr> head_grads;  ///< by head: the variable for its head gradient
};

/// Needs: heads and the variables whose gradients are needed. Only nodes on a path to one of them
/// are built.
GradientGraph gradient(const NodeEntries& heads, const std::vector<const Node*>& wanted);

}  // namespace symbind
