// Replaces a loop's node by copies of its body, one per iteration.
//
// Decided here: the number of iterations is the first extent of the loop's data, which the bound
// shapes determine. The iterations read the outputs of one SliceChannel and produce the inputs of
// one stack; each of the two is the gradient of the other. A loop within a body is unrolled in the
// next round, when the shapes of its iterations are known.

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "graph/core_ops.h"
#include "graph/loop.h"
#include "passes/infer.h"
#include "passes/symbol_passes.h"

namespace symbind {
namespace {

// Of a bound graph. A small file with nested loops can request any number.
constexpr std::int64_t kMostNodes = std::int64_t{1} << 22;

// The body with entries for its variables, and the iteration in the names of its nodes.
NodeEntries iteration_of(const Node& loop, const ForeachAttrs& a, std::int64_t iteration,
                         const std::unordered_map<std::string, NodeEntry>& entries) {
  return rewrite(a.body.heads(),
                 [&](const NodePtr& node, const NodeEntries& inputs) -> NodeEntries {
                   if (node->is_variable()) return {entries.at(node->name)};
                   auto made = std::make_shared<Node>(*node);
                   made->inputs = inputs;
                   made->name = fmt::format("{}_{}_{}", loop.name, iteration, node->name);
                   NodeEntries outputs;
                   for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back({made, i});
                   return outputs;
                 });
}

/// As many as the data has slices.
std::int64_t iteration_count(const Node& loop, const std::vector<Shape>& data) {
  const std::int64_t iterations = data.front().rank_known() ? data.front()[0] : kUnknownDim;
  check(iterations > 0, ErrorKind::kShape,
        "{} cannot be unrolled: its data has the shape {}, and the first extent must be known and "
        "at least 1",
        loop.title(), data.front().str());
  return iterations;
}

NodeEntries unrolled(const Node& loop, const NodeEntries& inputs, const std::vector<Shape>& data) {
  const ForeachAttrs& a = loop_attrs(loop);
  const std::int64_t iterations = iteration_count(loop, data);
  const OpRegistry& ops = OpRegistry::global();
  std::vector<NodePtr> slices;
  for (std::size_t i = 0; i < data.size(); ++i) {
    slices.push_back(make_node(ops.get(core_ops::kSlices), fmt::format("{}_slices{}", loop.name, i),
                               {{"num_outputs", std::to_string(iterations)},
                                {"axis", "0"},
                                {"squeeze_axis", data[i].rank() > 1 ? "True" : "False"}},
                               {inputs[i]}));
  }
  std::unordered_map<std::string, NodeEntry> entries;
  for (int i = 0; i < a.num_inputs(); ++i) {
    if (i >= a.num_data()) entries[a.variable(i)] = inputs[static_cast<std::size_t>(i)];
  }
  std::vector<NodeEntries> outputs(static_cast<std::size_t>(a.num_out_data));
  for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
    for (int i = 0; i < a.num_data(); ++i)
      entries[a.variable(i)] = {slices[static_cast<std::size_t>(i)], static_cast<int>(iteration)};
    const NodeEntries heads = iteration_of(loop, a, iteration, entries);
    for (std::size_t o = 0; o < outputs.size(); ++o) outputs[o].push_back(heads[o]);
    for (int k = 0; k < a.num_states(); ++k)
      entries[a.variable(a.num_data() + k)] = heads[outputs.size() + static_cast<std::size_t>(k)];
  }
  NodeEntries results;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    results.push_back(
        {make_node(ops.get(core_ops::kStack), fmt::format("{}_stack{}", loop.name, o),
                   {{"axis", "0"}, {"num_args", std::to_string(iterations)}}, outputs[o]),
         0});
  }
  for (int k = 0; k < a.num_states(); ++k)
    results.push_back(entries.at(a.variable(a.num_data() + k)));
  return results;
}

}  // namespace

NodeEntries unroll_loops(NodeEntries heads,
                         const std::unordered_map<const Node*, TensorDesc>& variables) {
  while (true) {
    const std::vector<NodePtr> order = post_order(heads);
    if (std::ranges::none_of(order, [](const NodePtr& node) { return is_loop(*node); }))
      return heads;
    const IndexedGraph graph = index_graph(heads, order);
    Inferred known = start_inference(graph, {}, {});
    for (const auto& [node, desc] : variables) {
      const auto at = graph.number.find(node);
      if (at == graph.number.end()) continue;
      const auto entry =
          static_cast<std::size_t>(graph.nodes[static_cast<std::size_t>(at->second)].first_entry);
      known.shapes[entry] = desc.shape;
      known.dtypes[entry] = desc.dtype;
    }
    infer_shape(graph, known);
    const auto shapes_of_data = [&](const Node& loop) {
      std::vector<Shape> data;
      for (int i = 0; i < loop_attrs(loop).num_data(); ++i)
        data.push_back(known.shapes[static_cast<std::size_t>(
            graph.entry(loop.inputs[static_cast<std::size_t>(i)]))]);
      return data;
    };
    std::int64_t nodes = std::ssize(order);
    for (const NodePtr& node : order) {
      if (!is_loop(*node)) continue;
      const std::int64_t iterations = iteration_count(*node, shapes_of_data(*node)),
                         body = std::ssize(post_order(loop_attrs(*node).body.heads()));
      check(iterations <= (kMostNodes - nodes) / body, ErrorKind::kMemory,
            "{} cannot be unrolled: with {} iterations of {} nodes the graph has more than {}",
            node->title(), iterations, body, kMostNodes);
      nodes += iterations * body;
    }
    heads = rewrite(heads, [&](const NodePtr& node, const NodeEntries& inputs) -> NodeEntries {
      if (!is_loop(*node)) return {};
      return unrolled(*node, inputs, shapes_of_data(*node));
    });
  }
}

}  // namespace symbind
