// Symbol → Plan. The passes in order, one line each; a debug build checks between the lines.

#include <algorithm>

#include <fmt/format.h>

#include "base/build.h"
#include "base/check.h"
#include "base/settings.h"
#include "graph/core_ops.h"
#include "passes/compute_dtype.h"
#include "passes/gradient.h"
#include "passes/lower.h"
#include "passes/schedule.h"
#include "passes/slice_batch.h"
#include "passes/symbol_passes.h"

namespace symbind {
namespace {

// The variables of the user's symbol. Passes never replace them, so pointers identify them.
struct Variables {
  struct Bound {
    bool aux;
    int index;
  };
  std::unordered_map<const Node*, Bound> bound;
  std::vector<const Node*> args, aux;
};

Variables find_variables(const NodeEntries& heads) {
  const std::vector<NodePtr> order = post_order(heads);
  std::unordered_set<const Node*> aux;
  for (const NodePtr& node : order) {
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      if (node->is_aux_input(static_cast<int>(i))) aux.insert(node->inputs[i].node.get());
    }
  }
  Variables v;
  for (const NodePtr& node : order) {
    if (!node->is_variable()) continue;
    const bool is_aux = aux.contains(node.get());
    std::vector<const Node*>& list = is_aux ? v.aux : v.args;
    v.bound.emplace(node.get(), Variables::Bound{is_aux, static_cast<int>(list.size())});
    list.push_back(node.get());
  }
  return v;
}

std::unordered_map<const Node*, TensorDesc> descriptions(const Variables& variables,
                                                         const BindSpec& spec) {
  std::unordered_map<const Node*, TensorDesc> result;
  for (const auto& [node, bound] : variables.bound) {
    const auto at = static_cast<std::size_t>(bound.index);
    result.emplace(node, bound.aux ? spec.aux[at] : spec.args[at]);
  }
  return result;
}

struct Backward {
  NodeEntries gradients;            ///< what to compute, one per filled gradient array
  std::vector<int> argument;        ///< of each gradient
  std::vector<NodePtr> head_grads;  ///< by output
  std::unordered_map<const Node*, int>
      previous;  ///< variables that represent grad arrays (grad_req add)
};

Backward build_backward(const NodeEntries& heads, const Variables& variables, const BindSpec& spec,
                        std::vector<int>& without_path) {
  Backward b;
  std::vector<const Node*> wanted;
  std::vector<int> wanted_arg;
  for (std::size_t i = 0; i < spec.grad_req.size(); ++i) {
    if (spec.grad_req[i] == GradReq::kNull) continue;
    wanted.push_back(variables.args[i]);
    wanted_arg.push_back(static_cast<int>(i));
  }
  if (wanted.empty()) return b;
  GradientGraph g = gradient(heads, wanted);
  b.head_grads = std::move(g.head_grads);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const int arg = wanted_arg[k];
    if (!g.gradients[k]) {
      if (spec.grad_req[static_cast<std::size_t>(arg)] == GradReq::kWrite)
        without_path.push_back(arg);
      continue;
    }
    NodeEntry result = g.gradients[k];
    if (spec.grad_req[static_cast<std::size_t>(arg)] == GradReq::kAdd) {
      const NodePtr previous = make_variable(wanted[k]->name + "_grad");
      b.previous.emplace(previous.get(), arg);
      auto sum = std::make_shared<Node>(*make_node(OpRegistry::global().get(core_ops::kSum),
                                                   wanted[k]->name + "_grad_add", {},
                                                   {{previous, 0}, result}));
      sum->forward_node = result.node->forward_node;
      result = {sum, 0};
    }
    b.gradients.push_back(result);
    b.argument.push_back(arg);
  }
  return b;
}

Placement place(const NodeEntries& heads, const BindSpec& spec, const Variables& variables,
                const Backward& backward) {
  std::unordered_map<const Node*, Context> fixed;
  for (const auto& [node, bound] : variables.bound) {
    const auto& contexts = bound.aux ? spec.aux_contexts : spec.arg_contexts;
    fixed.emplace(node, contexts[static_cast<std::size_t>(bound.index)]);
  }
  for (const auto& [node, arg] : backward.previous)
    fixed.emplace(node, spec.arg_contexts[static_cast<std::size_t>(arg)]);
  return place_device(heads, spec.context, spec.group2ctx, fixed);
}

// Numbers the placed graph and records the owners of its variables and heads.
Lowering prepare_lowering(const Placement& placed, std::size_t num_outputs, const BindSpec& spec,
                          const Variables& variables, const Backward& backward) {
  const NodeEntries outputs(placed.heads.begin(),
                            placed.heads.begin() + static_cast<std::ptrdiff_t>(num_outputs));
  const NodeEntries gradients(placed.heads.begin() + static_cast<std::ptrdiff_t>(num_outputs),
                              placed.heads.end());
  const Schedule order = schedule(outputs, gradients);
  Lowering l;
  l.graph = index_graph(placed.heads, order.order);
  l.num_forward_nodes = order.num_forward;
  l.training = spec.training();
  l.exact = spec.exact;
  l.compute_dtype = decide_compute_dtype(spec).dtype;
  l.monitored = spec.monitored;
  const auto entries = static_cast<std::size_t>(l.graph.num_entries());
  l.owner.assign(entries, {});
  l.constant.assign(entries, false);
  l.known = start_inference(l.graph, {}, {});
  std::unordered_map<const Node*, int> head_of;  // by head gradient
  for (std::size_t h = 0; h < backward.head_grads.size(); ++h)
    head_of.insert_or_assign(backward.head_grads[h].get(), static_cast<int>(h));
  for (std::size_t i = 0; i < l.graph.nodes.size(); ++i) {
    const Node* node = l.graph.nodes[i].node.get();
    l.context.push_back(placed.of(node));
    if (!node->is_variable()) continue;
    const auto entry = static_cast<std::size_t>(l.graph.nodes[i].first_entry);
    const auto describe = [&](Home home, int index, const TensorDesc& desc) {
      l.owner[entry] = {home, index};
      l.known.shapes[entry] = desc.shape;
      l.known.dtypes[entry] = desc.dtype;
    };
    if (const auto it = variables.bound.find(node); it != variables.bound.end()) {
      const auto at = static_cast<std::size_t>(it->second.index);
      describe(it->second.aux ? Home::kAux : Home::kArgument, it->second.index,
               it->second.aux ? spec.aux[at] : spec.args[at]);
      const bool sliced = !it->second.aux && !spec.slices.args.empty() && spec.slices.args[at];
      l.constant[entry] = it->second.aux || (spec.grad_req[at] == GradReq::kNull && !sliced);
    } else if (const auto previous = backward.previous.find(node);
               previous != backward.previous.end()) {
      describe(Home::kGradient, previous->second,
               spec.args[static_cast<std::size_t>(previous->second)]);
    } else if (const auto head = head_of.find(node); head != head_of.end()) {
      l.owner[entry] = {Home::kHeadGradient, head->second};
    }
  }
  for (std::size_t i = 0; i < l.graph.heads.size(); ++i) {
    const bool output = i < num_outputs;
    l.results.push_back({l.graph.heads[i],
                         {output ? Home::kOutput : Home::kGradient,
                          output ? static_cast<int>(i) : backward.argument[i - num_outputs]}});
  }
  return l;
}

// Head gradients have their head's shape and dtype; everything else is inferred.
void infer_all(Lowering& l) {
  infer_shape(l.graph, l.known);
  for (const IndexedNode& n : l.graph.nodes) {
    const Lowering::Owner owner = l.owner[static_cast<std::size_t>(n.first_entry)];
    if (owner.home != Home::kHeadGradient) continue;
    const auto head =
        static_cast<std::size_t>(l.graph.heads[static_cast<std::size_t>(owner.index)]);
    l.known.shapes[static_cast<std::size_t>(n.first_entry)] = l.known.shapes[head];
    l.known.dtypes[static_cast<std::size_t>(n.first_entry)] = l.known.dtypes[head];
  }
  infer_dtype(l.graph, l.known);
  for (const IndexedNode& n : l.graph.nodes) {
    for (int o = 0; o < n.num_outputs; ++o) {
      const auto e = static_cast<std::size_t>(n.first_entry + o);
      check(l.known.shapes[e].known() && l.known.dtypes[e] != DType::kUnknown, ErrorKind::kShape,
            "the shape of {} cannot be decided: {} {}{}", n.node->output_name(o),
            l.known.shapes[e].str(), dtype_name(l.known.dtypes[e]),
            n.node->op && n.node->op->shape_from_values
                ? fmt::format(
                      "\n  fix:  call {} on arrays; the values of its inputs decide the shape",
                      n.node->op->name)
                : "");
    }
  }
}

std::vector<Context> list_contexts(const Lowering& l, Context first) {
  std::vector<Context> contexts = {first};
  for (const Context& c : l.context) {
    if (std::ranges::find(contexts, c) == contexts.end()) contexts.push_back(c);
  }
  return contexts;
}

/// A plan whose kernels are not prepared yet.
std::shared_ptr<Plan> make_plan(const Symbol& symbol, const BindSpec& spec) {
  auto plan = std::make_shared<Plan>();
  plan->slices = spec.slices;
  const Variables variables = find_variables(symbol.heads());
  const std::unordered_map<const Node*, TensorDesc> bound = descriptions(variables, spec);
  NodeEntries heads = unroll_loops(symbol.heads(), bound);
  if (settings::flag("MXNET_ELIMINATE_COMMON_EXPR")) heads = eliminate_common(heads);
  plan->optimized = Symbol(heads);
  if (!spec.monitored)
    heads = fuse(heads, {.variables = bound,
                         .context = spec.context,
                         .predicts = spec.predicts,
                         .exact = spec.exact});
  plan->predicts = spec.predicts && !spec.monitored;
  plan->precision = decide_compute_dtype(spec).text;
  const std::size_t num_outputs = heads.size();
  const Backward backward = build_backward(heads, variables, spec, plan->zero_gradients);
  const bool saves_memory =
      !spec.exact && !spec.monitored && settings::flag("MXNET_BACKWARD_DO_MIRROR");
  const NodeEntries gradients =
      saves_memory ? recompute(heads, backward.gradients) : backward.gradients;
  heads.insert(heads.end(), gradients.begin(), gradients.end());
  const Placement placed = place(heads, spec, variables, backward);
  Lowering lowering = prepare_lowering(placed, num_outputs, spec, variables, backward);
  if constexpr (kVerify) verify(lowering.graph);
  infer_all(lowering);
  plan->contexts = list_contexts(lowering, spec.context);
  plan->needs_head_gradient.assign(num_outputs, false);
  for (const Lowering::Owner& owner : lowering.owner) {
    if (owner.home == Home::kHeadGradient)
      plan->needs_head_gradient[static_cast<std::size_t>(owner.index)] = true;
  }
  choose_kernels(lowering, *plan);
  plan_memory(*plan, !spec.monitored);
  if constexpr (kVerify) verify(*plan);
  return plan;
}

}  // namespace

std::shared_ptr<const Plan> compile(const Symbol& symbol, const BindSpec& spec) {
  settings::note_ignored();
  std::shared_ptr<Plan> plan = make_plan(symbol, spec);
  if (const BatchSlices slices = slice_batch(*plan, spec); slices.count > 1)
    plan = make_plan(symbol, bind_slice(spec, slices));
  for (PlanStep& step : plan->steps) {
    step.run = step.prepare();
    step.prepare = nullptr;  // frees as much memory as the rest of a step takes
  }
  return plan;
}

}  // namespace symbind
