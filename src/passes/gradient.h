#pragma once
// Builds the backward graph.

#include "graph/node.h"

namespace symbind {

struct GradientGraph {
  NodeEntries gradients;            ///< by wanted variable; empty where nothing flows
  std::vector<NodePtr> head_grads;  ///< by head: the variable for its head gradient
};

/// Needs: heads and the variables whose gradients are wanted. Only what leads to one of them is
/// built.
GradientGraph gradient(const NodeEntries& heads, const std::vector<const Node*>& wanted);

}  // namespace symbind
