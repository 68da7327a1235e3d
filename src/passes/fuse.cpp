// Fusion of neighbours: producer → consumer becomes one operator if nothing else reads the
// producer's output. The fused operator shares the producer's attribute struct; its inputs are the
// producer's, then the consumer's other input if it has one. Patterns are data: a new one is a row
// and an operator.

#include <map>

#include "graph/core_ops.h"
#include "passes/symbol_passes.h"

namespace symbind {
namespace {

struct Pattern {
  const char* producer;
  const char* consumer;
  const char* attr;   ///< the consumer's attribute that must have…
  const char* value;  ///< …this value; null for any
  const char* fused;
};

constexpr Pattern kPatterns[] = {
    {"BatchNorm", "Activation", "act_type", "relu", core_ops::kFusedBatchNorm},
    {"BatchNorm", "relu", nullptr, nullptr, core_ops::kFusedBatchNorm},
    {"Convolution", "elemwise_add", nullptr, nullptr, core_ops::kFusedConvolution},
};

bool fits(const Pattern& p, const Node& producer, const Node& consumer) {
  if (producer.op == nullptr || producer.op->name != p.producer || consumer.op->name != p.consumer)
    return false;
  if (p.attr == nullptr) return true;
  const auto it = consumer.attrs.find(p.attr);
  return it != consumer.attrs.end() && it->second == p.value;
}

using Uses = std::map<std::pair<const Node*, int>, int>;

Uses count_uses(const NodeEntries& heads) {
  Uses uses;
  for (const NodePtr& node : post_order(heads)) {
    for (const NodeEntry& e : node->inputs) ++uses[{e.node.get(), e.index}];
  }
  for (const NodeEntry& head : heads) ++uses[{head.node.get(), head.index}];
  return uses;
}

// Only output 0 may be read, by this consumer alone.
bool only_reader(const Uses& uses, const NodeEntry& e) {
  for (int i = 0; i < e.node->num_outputs(); ++i) {
    const auto it = uses.find({e.node.get(), i});
    if ((it == uses.end() ? 0 : it->second) != (i == 0 ? 1 : 0)) return false;
  }
  return e.index == 0;
}

bool same_group(const Node& a, const Node& b) {
  const auto group = [](const Node& n) {
    const auto it = n.attrs.find("__ctx_group__");
    return it == n.attrs.end() ? std::string() : it->second;
  };
  return group(a) == group(b);
}

NodeEntries try_fuse(const Uses& uses, const NodePtr& consumer, const NodeEntries& inputs) {
  for (const Pattern& pattern : kPatterns) {
    const OpDef* fused = OpRegistry::global().find(pattern.fused);
    if (fused == nullptr) continue;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const NodeEntry& original = consumer->inputs[i];
      const Node& producer = *inputs[i].node;
      if (!fits(pattern, producer, *consumer) || !only_reader(uses, original) ||
          !same_group(producer, *consumer))
        continue;
      auto node = std::make_shared<Node>();
      node->op = fused;
      node->name = consumer->name;
      node->attrs = producer.attrs;
      node->parsed = producer.parsed;
      node->inputs = producer.inputs;
      for (std::size_t other = 0; other < inputs.size(); ++other) {
        if (other != i) node->inputs.push_back(inputs[other]);
      }
      return {{node, 0}};
    }
  }
  return {};
}

}  // namespace

NodeEntries fuse(const NodeEntries& heads) {
  const Uses uses = count_uses(heads);
  return rewrite(heads, [&](const NodePtr& node, const NodeEntries& inputs) -> NodeEntries {
    return node->is_variable() ? NodeEntries{} : try_fuse(uses, node, inputs);
  });
}

}  // namespace symbind
