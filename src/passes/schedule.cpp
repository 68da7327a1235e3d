// The order of the backward phase: gradients of the last forward nodes first, so that activations
// are freed as early as possible; a sum of gradients as soon as its parts are computed, so that
// these are freed. The forward phase keeps the symbol's post-order.

#include "passes/schedule.h"

#include <queue>

namespace symbind {

Schedule schedule(const NodeEntries& outputs, const NodeEntries& gradients) {
  Schedule result;
  result.order = post_order(outputs);
  result.num_forward = result.order.size();
  NodeEntries heads = outputs;
  heads.insert(heads.end(), gradients.begin(), gradients.end());
  const std::vector<NodePtr> all = post_order(heads);

  std::unordered_map<const Node*, int> rank;  // later forward nodes have a higher rank
  for (std::size_t i = 0; i < result.num_forward; ++i)
    rank.emplace(result.order[i].get(), static_cast<int>(i));
  std::unordered_map<const Node*, int> waiting;  // inputs not yet run
  std::unordered_map<const Node*, std::vector<std::size_t>> readers;
  using Ready =
      std::pair<std::pair<int, int>, std::size_t>;  // (rank, earlier first) and index in `all`
  std::priority_queue<Ready> ready;
  const auto rank_of = [&](const Node& node) {
    const bool sums = !node.is_variable() && node.forward_node && node.op->adds_up;
    if (node.is_variable() || sums) return static_cast<int>(result.num_forward);
    const auto it = rank.find(node.forward_node.get());
    if (it != rank.end()) return it->second;
    return node.inputs.empty() ? 0 : rank.at(node.inputs.front().node.get());
  };
  for (std::size_t i = result.num_forward; i < all.size(); ++i) {
    const Node& node = *all[i];
    rank.emplace(&node, rank_of(node));
    int missing = 0;
    for (const NodeEntry& e : node.inputs) {
      if (!waiting.contains(e.node.get())) continue;  // a forward node has run by then
      readers[e.node.get()].push_back(i);
      ++missing;
    }
    waiting[&node] = missing;
    if (missing == 0) ready.push({{rank.at(&node), -static_cast<int>(i)}, i});
  }
  while (!ready.empty()) {
    const std::size_t i = ready.top().second;
    ready.pop();
    result.order.push_back(all[i]);
    for (const std::size_t reader : readers[all[i].get()]) {
      const Node* node = all[reader].get();
      if (--waiting[node] == 0) ready.push({{rank.at(node), -static_cast<int>(reader)}, reader});
    }
  }
  return result;
}

}  // namespace symbind
