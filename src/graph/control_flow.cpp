// Makes a loop's node from its body's results.
//
// Decided here: the body consists of the nodes made while it ran, which an attribute marks. Where
// it reads the outer graph, the edge is cut and replaced by a variable of the body. Nodes are
// immutable, so cutting copies them.

#include <symbind/control_flow.h>

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "base/check.h"
#include "graph/core_ops.h"
#include "graph/loop.h"
#include "graph/node.h"

namespace symbind {
namespace {

constexpr const char* kScope = "__subgraph_name__";

bool is_inside(const Node& node, const std::string& scope) {
  const auto it = node.attrs.find(kScope);
  return it != node.attrs.end() && it->second == scope;
}

// One output of each symbol; variables and nodes made before the loop are copied inside it.
NodeEntries heads_of(const LoopTrace& trace) {
  NodeEntries heads;
  const OpDef& copy = OpRegistry::global().get(core_ops::kCopy);
  for (const auto* list : {&trace.result.outputs, &trace.result.states}) {
    for (const Symbol& symbol : *list) {
      check(symbol.num_outputs() == 1,
            "foreach: the body returned a symbol of {} outputs where one is needed; pick one",
            symbol.num_outputs());
      const NodeEntry& head = symbol.heads().front();
      const bool own = !head.node->is_variable() && is_inside(*head.node, trace.scope);
      heads.push_back(own ? head
                          : NodeEntry{make_node(copy, fmt::format("identity{}", heads.size()),
                                                {{kScope, trace.scope}}, {head}),
                                      0});
    }
  }
  return heads;
}

struct Cut {
  std::map<std::string, NodeEntry> outside;  ///< by the name of the variable that replaces it
  NodeEntries heads;
};

Cut cut(const NodeEntries& heads, const std::string& scope) {
  Cut result;
  std::map<std::string, NodePtr> replacement;
  result.heads = rewrite(heads, [&](const NodePtr& node, const NodeEntries& inputs) -> NodeEntries {
    if (node->is_variable() || !is_inside(*node, scope)) return {};
    auto made = std::make_shared<Node>(*node);
    made->inputs = inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const NodeEntry& from = node->inputs[i];
      if (from.node->is_variable() || is_inside(*from.node, scope)) continue;
      const std::string name = from.node->output_name(from.index);
      NodePtr& variable = replacement[name];
      if (variable == nullptr) variable = make_variable(name);
      result.outside.emplace(name, from);
      made->inputs[i] = {variable, 0};
    }
    NodeEntries outputs;
    for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back({made, i});
    return outputs;
  });
  return result;
}

std::string places(const std::vector<std::string>& wanted, const std::vector<std::string>& all,
                   const char* what) {
  Tuple result;
  for (const std::string& name : wanted) {
    const auto it = std::ranges::find(all, name);
    check(it != all.end(), ErrorKind::kState, "the {} arrays have to be used in the loop body",
          what);
    result.push_back(it - all.begin());
  }
  return tuple_text(result);
}

std::vector<Symbol> variables_for(const std::vector<Symbol>& symbols, const std::string& scope,
                                  const char* what, std::vector<std::string>& names) {
  std::vector<Symbol> variables;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    names.push_back(fmt::format("{}_{}{}", scope, what, i));
    variables.push_back(Variable(names.back()));
  }
  return variables;
}

}  // namespace

LoopResult close_loop(const LoopTrace& trace, const std::string& name) {
  check(!trace.data.empty(), "foreach needs data to iterate over");
  check(trace.result.states.size() == trace.states.size(), ErrorKind::kState,
        "The input and output loop_vars have different format: foreach was given {} states and the "
        "body returned {}",
        trace.states.size(), trace.result.states.size());
  const Cut made = cut(heads_of(trace), trace.scope);
  check(!made.heads.empty(), "foreach: the body returned neither outputs nor states");
  const Symbol body(made.heads);
  const std::vector<std::string> all = body.list_inputs();
  std::vector<std::string> names = all;
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  check(twice == names.end(), "foreach: the body has several variables named '{}'",
        twice == names.end() ? std::string() : *twice);

  std::vector<Symbol> inputs = trace.data;
  inputs.insert(inputs.end(), trace.states.begin(), trace.states.end());
  std::vector<std::string> remain;
  for (const NodePtr& node : post_order(made.heads)) {
    if (!node->is_variable() || std::ranges::count(trace.slice_names, node->name) > 0 ||
        std::ranges::count(trace.state_names, node->name) > 0) {
      continue;
    }
    remain.push_back(node->name);
    const auto outside = made.outside.find(node->name);
    inputs.push_back(
        Symbol(NodeEntries{outside == made.outside.end() ? NodeEntry{node, 0} : outside->second}));
  }
  const std::size_t num_outputs = trace.result.outputs.size();
  AttrDict attrs = {{"in_data_locs", places(trace.slice_names, all, "data")},
                    {"in_state_locs", places(trace.state_names, all, "state")},
                    {"remain_locs", places(remain, all, "other")},
                    {"num_args", std::to_string(inputs.size() + 1)},
                    {"num_out_data", std::to_string(num_outputs)},
                    {"num_outputs", std::to_string(made.heads.size())},
                    {kSubgraph, body.tojson()}};
  attrs.insert(trace.attrs.begin(), trace.attrs.end());
  const Symbol loop = make_symbol(core_ops::kForeach, name, inputs, attrs);
  LoopResult result;
  for (std::size_t i = 0; i < made.heads.size(); ++i)
    (i < num_outputs ? result.outputs : result.states).push_back(loop[i]);
  return result;
}

LoopResult foreach (const LoopBody& body, const std::vector<Symbol>& data,
                    const std::vector<Symbol>& states, const std::string& name) {
  static std::atomic<int> loops{0};
  LoopTrace trace{.scope = fmt::format("loop{}", loops++),
                  .data = data,
                  .states = states,
                  .slice_names = {},
                  .state_names = {},
                  .result = {}};
  {
    const AttrScope scope{{kScope, trace.scope}};
    const std::vector<Symbol> slices = variables_for(data, trace.scope, "slice", trace.slice_names);
    const std::vector<Symbol> first =
        variables_for(states, trace.scope, "state", trace.state_names);
    trace.result = body(slices, first);
  }
  return close_loop(trace, name);
}

}  // namespace symbind
