// Symbol JSON of older versions, step by step as MXNet 1.9.1 brings them up, and attributes parsed.

#include <algorithm>

#include <fmt/format.h>

#include <symbind/log.h>

#include "base/check.h"
#include "base/limits.h"
#include "graph/json_graph.h"
#include "graph/variadic.h"

namespace symbind {
namespace {

constexpr int kAuxInNodes = 900;   ///< since 0.9.0 auxiliary states are nodes
constexpr int kInitHooks = 904;    ///< since 0.9.4 they state their initializer
constexpr int kArgmaxOfAll = 905;  ///< since 0.9.5 argmax over all axes is axis=None, not -1

// The hidden key that `key` is or ends with, and the text before it: "weight_lr_mult" is
// {"weight", "lr_mult"}; an empty hidden key if there is none.
struct HiddenKey {
  std::string input, key;
};
HiddenKey hidden_key(std::string_view key) {
  if (is_hidden_key(key)) return {"", std::string(key)};
  for (const std::string_view hidden : kHiddenKeys) {
    if (!key.ends_with(hidden) || key.size() < hidden.size() + 2) continue;
    const std::string_view input = key.substr(0, key.size() - hidden.size() - 1);
    if (key[input.size()] == '_') return {std::string(input), std::string(hidden)};
  }
  return {};
}

using Pair = std::pair<std::string, std::string>;

// Removes the keys the operator's parser would not know; those of the node itself come back as
// __key__, those of its inputs are returned.
std::vector<Pair> hide_keys(JsonNode& node) {
  std::vector<Pair> for_inputs;
  AttrDict kept;
  for (auto& [key, value] : node.attrs) {
    const HiddenKey hidden = hidden_key(key);
    if (hidden.key.empty() || (node.def == nullptr && !hidden.input.empty())) {
      kept.emplace(key, value);
    } else if (hidden.input.empty()) {
      kept["__" + key + "__"] = value;
    } else {
      for_inputs.emplace_back(key, value);
    }
  }
  node.attrs = std::move(kept);
  return for_inputs;
}

// "weight_lr_mult" goes to the variable that is the input `weight`.
void move_to_inputs(JsonGraph& graph, const JsonNode& node, const std::vector<Pair>& keys) {
  if (keys.empty()) return;
  const std::vector<std::string> names = node.def->input_names(node.parsed.get());
  for (const auto& [key, value] : keys) {
    const HiddenKey hidden = hidden_key(key);
    const auto at =
        static_cast<std::size_t>(std::ranges::find(names, hidden.input) - names.begin());
    if (at >= node.inputs.size()) {
      log_warning(fmt::format("{}: '{}' matches no input and is dropped", node.title(), key));
      continue;
    }
    JsonNode& input = graph.nodes[static_cast<std::size_t>(node.inputs[at].node)];
    if (input.def == nullptr) input.attrs["__" + hidden.key + "__"] = value;
  }
}

void add_missing_inputs(JsonNode& node) {
  const std::vector<std::string> names = node.def->input_names(node.parsed.get());
  for (std::size_t i = node.inputs.size(); i < names.size(); ++i) {
    JsonNode variable;
    variable.op = "null";
    variable.name = node.name + "_" + names[i];
    variable.attrs = node.attrs;
    node.added_inputs.push_back(std::move(variable));
  }
}

void add_init_hints(JsonGraph& graph, JsonNode& node) {
  for (const auto& [index, init] : node.def->init_hints) {
    const auto i = static_cast<std::size_t>(index);
    if (i < node.inputs.size()) {
      JsonNode& input = graph.nodes[static_cast<std::size_t>(node.inputs[i].node)];
      if (input.def == nullptr) input.attrs.emplace("__init__", init);
    } else if (i - node.inputs.size() < node.added_inputs.size()) {
      node.added_inputs[i - node.inputs.size()].attrs.emplace("__init__", init);
    }
  }
}

// A list's count is checked before anything of that size is allocated.
void check_input_count(const JsonNode& node) {
  const auto count = node.attrs.find(node.def->variadic_key);
  if (node.def->variadic_key.empty() || count == node.attrs.end()) return;
  const std::optional<Tuple> number = parse_tuple(count->second);
  const auto counted = [&] {
    check_limit(Limit::kNodeInputs, number->front(), node.title(), ErrorKind::kIo);
    if (node.def->inputs_for(number->front()) == static_cast<std::int64_t>(node.inputs.size()))
      return true;
    const auto parsed = parse_node_attrs(*node.def, node.name, node.attrs, node.inputs.size());
    return has_named_inputs(*node.def, parsed.get());
  };
  const bool fits = number && number->size() == 1 && number->front() >= 0 && counted();
  check(fits, ErrorKind::kIo, "not a symbol: {} has {} inputs, but {}={}", node.title(),
        node.inputs.size(), count->first, count->second);
}

void upgrade(JsonGraph& graph, JsonNode& node) {
  const std::vector<Pair> for_inputs =
      graph.version < kJsonVersion ? hide_keys(node) : std::vector<Pair>{};
  if (node.def == nullptr) return;
  if (graph.version < kArgmaxOfAll && (node.def->name == "argmax" || node.def->name == "argmin")) {
    const auto axis = node.attrs.find("axis");
    if (axis != node.attrs.end() && axis->second == "-1") node.attrs.erase(axis);
  }
  check_input_count(node);
  node.parsed = parse_node_attrs(*node.def, node.name, node.attrs, node.inputs.size());
  move_to_inputs(graph, node, for_inputs);
  if (graph.version < kAuxInNodes) add_missing_inputs(node);
  if (graph.version < kInitHooks) add_init_hints(graph, node);
}

}  // namespace

void upgrade(JsonGraph& graph) {
  const auto version_text = [](int v) {
    return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
  };
  if (graph.version > kJsonVersion) {
    log_warning(fmt::format(
        "the symbol was saved by MXNet {}, newer than {}: it may be interpreted differently here",
        version_text(graph.version), version_text(kJsonVersion)));
  }
  const bool legacy_shapes = is_np_shape() && !graph.is_np_shape;
  for (JsonNode& node : graph.nodes) {
    if (const auto shape = node.attrs.find("__shape__");
        legacy_shapes && shape != node.attrs.end()) {
      Tuple dims = parse_tuple(shape->second).value_or(Tuple{});
      std::ranges::replace(dims, 0, kUnknownDim);
      shape->second = tuple_text(dims);
    }
    upgrade(graph, node);
  }
}

}  // namespace symbind
