// Backward: from heads to the gradients of variables. The gradient pass writes the graph, as it
// does for an executor; GradientRun runs it.

#include <symbind/autograd.h>

#include "autograd/gradient_run.h"
#include "base/check.h"
#include "ndarray/access.h"
#include "passes/gradient.h"

#include <symbind/executor.h>

namespace symbind::autograd {
namespace {

constexpr const char* kNotRecorded =
    "Cannot differentiate node because it is not in a computational graph. You need to set "
    "is_recording to true or use autograd.record() to save computational graphs for backward. If "
    "you want to differentiate the same graph twice, you need to pass retain_graph=True to "
    "backward.";

using Variables = std::vector<std::shared_ptr<const TapeNode>>;

/// A snapshot of what the heads depend on, and the graph of the gradients.
struct Walk {
  NodeEntries heads;
  std::vector<NodePtr> order;
  Snapshots snapshots;
  Variables variables;  ///< those of the gradients
  GradientGraph graph;
  std::vector<NodePtr> steps;  ///< of the graph, in order
};

Walk look(const std::vector<NDArray>& heads) {
  Walk w;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const auto node = tape_node(heads[i]);
    check(node != nullptr, ErrorKind::kState, "{} (head {} of {})", kNotRecorded, i, heads.size());
    w.heads.push_back({node, heads[i].tape().output});
  }
  w.order = post_order(w.heads);
  for (const NodePtr& each : w.order) {
    const auto node = std::static_pointer_cast<const TapeNode>(each);
    check(!node->freed.load(), ErrorKind::kState,
          "{} (the record of {} was freed by an earlier backward)", kNotRecorded, node->title());
    w.snapshots.emplace(node.get(),
                        Snapshot{node, node->inputs, node->outputs, node->kernel, node->state});
    if (node->is_marked && node->req != GradReq::kNull) w.variables.push_back(node);
  }
  return w;
}

/// The path to `only`, or to every variable whose gradient is kept.
Walk plan(const std::vector<NDArray>& heads, const Variables* only = nullptr) {
  const std::lock_guard lock(tape_guard());
  Walk w = look(heads);
  if (only != nullptr) {
    w.variables = *only;
    std::erase_if(w.variables, [&](const auto& v) { return !w.snapshots.contains(v.get()); });
  }
  std::vector<const Node*> wanted;
  for (const auto& variable : w.variables) wanted.push_back(variable.get());
  if (!wanted.empty()) w.graph = gradient(w.heads, wanted);
  w.steps = steps_of(w.graph.gradients, w.snapshots);
  return w;
}

void check_head_grads(const std::vector<NDArray>& heads, const std::vector<NDArray>& head_grads) {
  check(head_grads.empty() || head_grads.size() == heads.size(),
        "backward: {} heads, {} head gradients", heads.size(), head_grads.size());
  for (std::size_t i = 0; i < head_grads.size(); ++i)
    check(!head_grads[i].defined() || head_grads[i].shape() == heads[i].shape(), ErrorKind::kShape,
          "backward: head {} has shape {}, the gradient given for it {}", i, heads[i].shape().str(),
          head_grads[i].shape().str());
}

/// The gradient of a head, in its type and on its device; ones unless given.
NDArray head_gradient(const NDArray& head, const std::vector<NDArray>& given, std::size_t i) {
  if (i >= given.size() || !given[i].defined())
    return NDArray::ones(head.shape(), head.context(), head.dtype());
  return given[i].as_in_context(head.context()).astype(head.dtype(), false);
}

/// The gradients for the variables; undefined where no gradient arrives.
std::vector<NDArray> run(const Walk& w, const std::vector<NDArray>& heads,
                         const std::vector<NDArray>& head_grads) {
  GradientRun gradients(w.snapshots);
  for (std::size_t i = 0; i < w.graph.head_grads.size(); ++i)
    gradients.set(w.graph.head_grads[i].get(), head_gradient(heads[i], head_grads, i));
  return gradients.run(w.graph.gradients, w.steps);
}

void store(const TapeNode& variable, const NDArray& result) {
  NDArray to = variable.gradient;
  if (!result.defined()) {
    if (variable.req == GradReq::kWrite) to.set(0.0);
  } else if (variable.req == GradReq::kWrite) {
    result.copy_to(to);
  } else {
    to += result.as_in_context(to.context()).astype(to.dtype(), false);
  }
}

}  // namespace

void backward(const std::vector<NDArray>& heads, const BackwardOptions& o) {
  check_head_grads(heads, o.head_grads);
  const Walk w = plan(heads);
  check(!w.variables.empty(), ErrorKind::kState,
        "There are no inputs in computation graph that require gradients: call attach_grad() on an "
        "array before it is used");
  const Scope modes(false, o.train_mode);
  const std::vector<NDArray> results = run(w, heads, o.head_grads);
  for (std::size_t i = 0; i < results.size(); ++i) store(*w.variables[i], results[i]);
  if (!o.retain_graph) free_nodes(w.order);
}

std::vector<NDArray> grad(const std::vector<NDArray>& heads, const std::vector<NDArray>& variables,
                          const GradOptions& o) {
  check(!variables.empty(), "grad: no variables were given");
  check_head_grads(heads, o.head_grads);
  Variables nodes;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    nodes.push_back(tape_node(variables[i]));
    check(nodes.back() != nullptr && nodes.back()->is_marked, ErrorKind::kValue,
          "Cannot differentiate with respect to the {}-th variable because it does not require "
          "gradient: call attach_grad() on it before it is used",
          i + 1);
  }
  const Walk w = plan(heads, &nodes);
  const Scope modes(o.create_graph, o.train_mode);
  const std::vector<NDArray> found = run(w, heads, o.head_grads);
  std::vector<NDArray> results;
  std::size_t next = 0;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const NDArray& x = variables[i];
    const bool reached = w.snapshots.contains(nodes[i].get());
    NDArray result = reached ? found[next++] : NDArray();
    if (!result.defined())
      result = NDArray::zeros(x.shape(), x.context(), x.dtype());
    else if (result.tape().node == nullptr)
      result = result.copy();  // it may alias a head gradient or a recorded array
    results.push_back(std::move(result));
  }
  if (!o.retain_graph.value_or(o.create_graph)) free_nodes(w.order);
  return results;
}

Symbol get_symbol(const NDArray& x) {
  const std::lock_guard lock(tape_guard());
  const Walk w = look({x});
  return Symbol(rewrite(w.heads, [](const NodePtr& node, const NodeEntries& inputs) {
    auto plain = std::make_shared<Node>();
    plain->op = node->op;
    plain->name = node->name;
    plain->attrs = node->attrs;
    plain->parsed = node->parsed;
    plain->inputs = inputs;
    NodeEntries outputs;
    for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back({plain, i});
    return outputs;
  }));
}

}  // namespace symbind::autograd
