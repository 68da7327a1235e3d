#pragma once
// A symbol's graph with numbers instead of pointers: nodes in execution order, their outputs
// ("entries") numbered through. Made once per compile.

#include <unordered_map>

#include "graph/node.h"

namespace symbind {

struct IndexedNode {
  NodePtr node;
  std::vector<int> inputs;  ///< entry numbers
  int first_entry = 0;
  int num_outputs = 1;
};

struct IndexedGraph {
  std::vector<IndexedNode> nodes;
  std::vector<int> entry_node;  ///< entry → node number
  std::vector<int> heads;       ///< entry numbers

  int num_entries() const { return static_cast<int>(entry_node.size()); }
  int entry(const NodeEntry& e) const;
  std::unordered_map<const Node*, int> number;  ///< node → its place in `nodes`
};

/// Numbers the nodes in the given order (inputs must come before users).
IndexedGraph index_graph(const NodeEntries& heads, const std::vector<NodePtr>& order);
inline IndexedGraph index_graph(const NodeEntries& heads) {
  return index_graph(heads, post_order(heads));
}

/// Checks the invariants between passes; throws naming the one violated.
void verify(const IndexedGraph& graph);

}  // namespace symbind
