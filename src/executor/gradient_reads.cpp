// What the gradient of one operator reads, found by building it once for a separate node. A tape
// keeps exactly these arrays of a call.

#include "executor/imperative.h"
#include "graph/node.h"

namespace symbind {
namespace {

NodeEntries variables(std::size_t count, const char* name) {
  NodeEntries all;
  for (std::size_t i = 0; i < count; ++i) all.push_back({make_variable(name), 0});
  return all;
}

}  // namespace

GradientReads gradient_reads(const OpDef& op, const std::shared_ptr<const void>& attrs) {
  auto alone = std::make_shared<Node>();
  alone->op = &op;
  alone->parsed = attrs;
  alone->inputs = variables(op.input_names(attrs.get()).size(), "input");
  const auto num_outputs = static_cast<std::size_t>(alone->num_outputs());
  GradientReads reads{std::vector<bool>(alone->inputs.size()), std::vector<bool>(num_outputs)};
  if (op.gradient == nullptr) return reads;
  std::vector<bool> wanted;
  for (std::size_t i = 0; i < alone->inputs.size(); ++i)
    wanted.push_back(!op.is_aux(attrs.get(), static_cast<int>(i)));
  GradientBuilder builder(alone, variables(num_outputs, "head"), wanted);
  NodeEntries gradients;
  try {
    gradients = op.gradient(attrs.get(), builder);
  } catch (const Error&) {  // no gradient for these attributes: backward reports it
    return reads;
  }
  std::erase_if(gradients, [](const NodeEntry& g) { return !g; });
  const auto read = [&](const NodeEntry& e) {
    if (e.node == alone) reads.out[static_cast<std::size_t>(e.index)] = true;
    for (std::size_t i = 0; i < alone->inputs.size(); ++i)
      if (e.node == alone->inputs[i].node) reads.in[i] = true;
  };
  for (const NodeEntry& g : gradients) read(g);
  for (const NodePtr& node : post_order(gradients)) {
    if (node == alone || node->is_variable()) continue;
    for (std::size_t i = 0; i < node->inputs.size(); ++i)
      if (!node->op->reads_only_shape(node->parsed.get(), static_cast<int>(i)))
        read(node->inputs[i]);
  }
  return reads;
}

}  // namespace symbind
