#include "graph/indexed_graph.h"

#include <fmt/format.h>

#include "base/check.h"

namespace symbind {

int IndexedGraph::entry(const NodeEntry& e) const {
  return nodes[static_cast<std::size_t>(number.at(e.node.get()))].first_entry + e.index;
}

IndexedGraph index_graph(const NodeEntries& heads, const std::vector<NodePtr>& order) {
  IndexedGraph graph;
  graph.nodes.reserve(order.size());
  graph.number.reserve(order.size());
  for (const NodePtr& node : order) {
    const int number = static_cast<int>(graph.nodes.size());
    graph.number.emplace(node.get(), number);
    IndexedNode indexed{.node = node,
                        .inputs = {},
                        .first_entry = graph.num_entries(),
                        .num_outputs = node->num_outputs()};
    indexed.inputs.reserve(node->inputs.size());
    for (const NodeEntry& e : node->inputs) indexed.inputs.push_back(graph.entry(e));
    graph.entry_node.insert(graph.entry_node.end(), static_cast<std::size_t>(indexed.num_outputs),
                            number);
    graph.nodes.push_back(std::move(indexed));
  }
  for (const NodeEntry& head : heads) graph.heads.push_back(graph.entry(head));
  return graph;
}

void verify(const IndexedGraph& graph) {
  for (const IndexedNode& n : graph.nodes) {
    if (n.node->is_variable()) {
      SYMBIND_ASSERT(n.inputs.empty());
      continue;
    }
    check(n.inputs.size() == n.node->input_names().size(), ErrorKind::kState,
          "{} has {} inputs, its operator takes {}", n.node->title(), n.inputs.size(),
          n.node->input_names().size());
    for (const int e : n.inputs)
      check(e < n.first_entry, ErrorKind::kState, "{} runs before its input", n.node->title());
  }
}

}  // namespace symbind
