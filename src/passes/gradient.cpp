// Reverse-mode differentiation as a graph pass: nodes are visited in reverse order, the gradients
// of an output are summed in the order they arrive, and the operator writes the gradients of its
// inputs. Eight or more gradients become a chain of sums of two, as in MXNet, so that each step of
// a recurrent net adds its part of a weight's gradient as soon as it is computed. An absent
// gradient stays absent: a node that receives none writes none. As in MXNet, three kinds of nodes
// need none, even before a BlockGrad: losses start their own, nodes with auxiliary states update
// these in their backward, and custom operators may do either.

#include "passes/gradient.h"

#include <unordered_map>

#include <fmt/format.h>

#include "base/check.h"
#include "graph/core_ops.h"

namespace symbind {
namespace {

bool has_states(const Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.is_aux_input(static_cast<int>(i))) return true;
  return false;
}

constexpr std::size_t kChain = 8;  // MXNET_EXEC_INPLACE_GRAD_SUM_CAP of MXNet

class Builder {
 public:
  Builder(const NodeEntries& heads, const std::vector<const Node*>& wanted)
      : order_(post_order(heads)) {
    for (const Node* variable : wanted) needed_.insert(variable);
    for (const NodePtr& node : order_) {
      for (std::size_t i = 0; i < node->inputs.size(); ++i) {
        if (needed_.contains(node->inputs[i].node.get()) &&
            !node->is_aux_input(static_cast<int>(i))) {
          needed_.insert(node.get());
        }
      }
    }
  }

  void arrive(const NodeEntry& at, const NodeEntry& gradient) {
    std::vector<NodeEntries>& slots = arrived_[at.node.get()];
    slots.resize(static_cast<std::size_t>(at.node->num_outputs()));
    slots[static_cast<std::size_t>(at.index)].push_back(gradient);
  }

  void run() {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if ((*it)->is_variable() || !needed_.contains(it->get())) continue;
      const auto found = arrived_.find(it->get());
      if (found != arrived_.end()) {
        differentiate(*it, sums(*it, found->second));
      } else if ((*it)->op->is_loss || (*it)->op->starts_gradient || has_states(**it)) {
        differentiate(*it, NodeEntries(static_cast<std::size_t>((*it)->num_outputs())));
      }
    }
  }

  NodeEntry total(const NodePtr& variable) {
    const auto found = arrived_.find(variable.get());
    return found == arrived_.end() ? NodeEntry{} : sums(variable, found->second).front();
  }

 private:
  NodeEntries sums(const NodePtr& node, const std::vector<NodeEntries>& slots) {
    NodeEntries result;
    for (const NodeEntries& parts : slots) {
      if (parts.size() < 2) {
        result.push_back(parts.empty() ? NodeEntry{} : parts.front());
        continue;
      }
      if (parts.size() < kChain) {
        result.push_back(sum(node, "_grad_sum", parts));
        continue;
      }
      NodeEntry so_far = parts.front();
      for (std::size_t i = 1; i < parts.size(); ++i)
        so_far = sum(node, fmt::format("_grad_sum_{}", i), {so_far, parts[i]});
      result.push_back(so_far);
    }
    return result;
  }

  static NodeEntry sum(const NodePtr& of, const std::string& ending, const NodeEntries& parts) {
    auto sum = std::make_shared<Node>(
        *make_node(OpRegistry::global().get(core_ops::kSum), of->name + ending, {}, parts));
    sum->forward_node = of;
    return {sum, 0};
  }

  void differentiate(const NodePtr& node, NodeEntries heads) {
    check(node->op->gradient != nullptr, ErrorKind::kNotImplemented,
          "{} has no gradient, but an argument before it needs one\n  fix:  put BlockGrad after "
          "it, or "
          "set grad_req='null' for the arguments it depends on",
          node->title());
    std::vector<bool> wanted;
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      wanted.push_back(needed_.contains(node->inputs[i].node.get()) &&
                       !node->is_aux_input(static_cast<int>(i)));
    }
    GradientBuilder builder(node, std::move(heads), wanted);
    const NodeEntries gradients = node->op->gradient(node->parsed.get(), builder);
    check(gradients.size() <= node->inputs.size(), ErrorKind::kState,
          "{} wrote {} gradients for {} inputs", node->title(), gradients.size(),
          node->inputs.size());
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (wanted[i] && gradients[i]) arrive(node->inputs[i], gradients[i]);
    }
  }

  std::vector<NodePtr> order_;
  std::unordered_set<const Node*> needed_;
  std::unordered_map<const Node*, std::vector<NodeEntries>> arrived_;
};

}  // namespace

GradientGraph gradient(const NodeEntries& heads, const std::vector<const Node*>& wanted) {
  GradientGraph result;
  Builder builder(heads, wanted);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    result.head_grads.push_back(
        make_variable(fmt::format("{}_head_grad", heads[i].node->output_name(heads[i].index))));
    builder.arrive(heads[i], {result.head_grads.back(), 0});
  }
  builder.run();
  std::unordered_map<const Node*, NodePtr> by_pointer;
  for (const NodePtr& node : post_order(heads)) by_pointer.emplace(node.get(), node);
  for (const Node* variable : wanted)
    result.gradients.push_back(builder.total(by_pointer.at(variable)));
  return result;
}

}  // namespace symbind
