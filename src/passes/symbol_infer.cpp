// Symbol::infer_shape and infer_type: the public API of inference.

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <symbind/log.h>

#include "base/check.h"
#include "base/nearest.h"
#include "passes/infer.h"

namespace symbind {
namespace {

void check_names(const Symbol& symbol, const std::vector<std::string>& given) {
  const std::vector<std::string> known = symbol.list_inputs();
  const std::unordered_set<std::string_view> names(known.begin(), known.end());
  for (const std::string& name : given) {
    if (names.contains(name)) continue;
    fail(ErrorKind::kName, "there is no argument '{}'; {} arguments: {}", name,
         nearest_hint(name, known), fmt::join(known, ", "));
  }
}

template <class Map>
std::vector<std::string> keys(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [key, value] : map) names.push_back(key);
  return names;
}

// Splits the variables' values into arguments and auxiliary states.
template <class T, class Result>
void distribute(const Symbol& symbol, const IndexedGraph& graph, const std::vector<T>& values,
                Result& result) {
  const std::vector<std::string> states = symbol.list_auxiliary_states();
  const std::unordered_set<std::string_view> aux(states.begin(), states.end());
  for (const IndexedNode& n : graph.nodes) {
    if (!n.node->is_variable()) continue;
    const bool is_aux = aux.contains(n.node->name);
    (is_aux ? result.aux : result.args).push_back(values[static_cast<std::size_t>(n.first_entry)]);
  }
  for (const int head : graph.heads)
    result.outputs.push_back(values[static_cast<std::size_t>(head)]);
}

InferredShapes infer(const Symbol& symbol, const ShapeMap& given) {
  check_names(symbol, keys(given));
  const IndexedGraph graph = index_graph(symbol.heads());
  ShapeMap start;
  for (const auto& [name, shape] : given) start.emplace(name, from_user(shape));
  Inferred known = start_inference(graph, start, {});
  infer_shape(graph, known);
  InferredShapes result;
  distribute(symbol, graph, known.shapes, result);
  const auto all_known = [](const std::vector<Shape>& s) {
    return std::ranges::all_of(s, &Shape::known);
  };
  result.complete = all_known(result.args) && all_known(result.outputs) && all_known(result.aux);
  return result;
}

}  // namespace

InferredShapes Symbol::infer_shape(const ShapeMap& given) const {
  InferredShapes result = infer(*this, given);
  if (result.complete) return result;
  std::vector<std::string> unknown;
  const std::vector<std::string> names = list_arguments();
  for (std::size_t i = 0; i < names.size() && unknown.size() < 10; ++i) {
    if (!result.args[i].known()) unknown.push_back(names[i] + ": " + result.args[i].str());
  }
  log_warning(
      fmt::format("Cannot decide shape for the following arguments (0s in shape means unknown "
                  "dimensions). Consider providing them as input:\n\t{}",
                  fmt::join(unknown, "\n\t")));
  return {};
}

InferredShapes Symbol::infer_shape_partial(const ShapeMap& given) const {
  return infer(*this, given);
}

InferredTypes Symbol::infer_type(const DTypeMap& given) const {
  check_names(*this, keys(given));
  const IndexedGraph graph = index_graph(heads_);
  Inferred known = start_inference(graph, {}, given);
  symbind::infer_shape(graph, known);
  InferredTypes result;
  distribute(*this, graph, known.dtypes, result);
  const auto all_known = [](const std::vector<DType>& t) {
    return std::ranges::all_of(t, [](DType d) { return d != DType::kUnknown; });
  };
  result.complete = all_known(result.args) && all_known(result.outputs) && all_known(result.aux);
  return result;
}

}  // namespace symbind
