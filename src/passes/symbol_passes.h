#pragma once
// The passes that rewrite symbols, before anything is numbered.

#include <unordered_map>

#include "graph/node.h"

namespace symbind {

/// Unrolls loops: each is replaced by its body, once per iteration. `variables` describes what is
/// bound.
NodeEntries unroll_loops(NodeEntries heads,
                         const std::unordered_map<const Node*, TensorDesc>& variables);

/// Merges equal subexpressions.
NodeEntries eliminate_common(const NodeEntries& heads);

/// What fusion depends on.
struct FuseSpec {
  const std::unordered_map<const Node*, TensorDesc>& variables;  ///< what is bound
  Context context;
  bool predicts = false;  ///< is_train is never set, and there are no gradients
  bool exact = false;     ///< nothing that changes digits
};
/// Replaces a layer and the operators after it by one fused operator.
NodeEntries fuse(const NodeEntries& heads, const FuseSpec& spec);

/// Needs: outputs and the gradients built on them. Backward computes cheap values again instead of
/// reading those of forward.
NodeEntries recompute(const NodeEntries& outputs, const NodeEntries& gradients);

/// Where every node runs. `heads` is rewritten: a copy is inserted on every edge between devices.
struct Placement {
  NodeEntries heads;
  std::unordered_map<const Node*, Context> context;
  Context of(const Node* node) const { return context.at(node); }
};
/// Needs: the graph with gradients. A node runs where its ctx_group says, a gradient where its
/// forward node ran; `variables` gives the devices of bound variables.
Placement place_device(const NodeEntries& heads, Context fallback, const ContextMap& group2ctx,
                       const std::unordered_map<const Node*, Context>& variables);

}  // namespace symbind
