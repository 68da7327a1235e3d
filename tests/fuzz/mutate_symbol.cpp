#include "fuzz/mutate_symbol.h"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <symbind/operator.h>

#include "fuzz/draw.h"
#include "fuzz/operator_call.h"
#include "fuzz/support.h"

namespace symbind::fuzz {
namespace {

using Json = nlohmann::json;

std::vector<AttrField> fields_of(const Json& node, std::shared_ptr<void>& keep) {
  const OpDef* op = OpRegistry::global().find(node.value("op", "null"));
  if (op == nullptr) return {};
  keep = op->make_attrs();
  return op->describe(keep.get());
}

std::string shape_text(Draw& draw) {
  std::string text = "(";
  for (std::size_t rank = draw.below(5); rank > 0; --rank)
    text += fmt::format("{}, ", draw.chance(0.1) ? 0 : 1 + draw.below(8));
  return text + ")";
}

void change_attribute(Draw& draw, Json& node) {
  Json& attrs = node["attrs"];
  if (!attrs.is_object()) attrs = Json::object();
  std::shared_ptr<void> keep;
  const std::vector<AttrField> fields = fields_of(node, keep);
  if (fields.empty()) {  // a variable
    if (draw.chance(0.8))
      attrs["__shape__"] = shape_text(draw);
    else
      attrs["__dtype__"] = std::to_string(static_cast<int>(draw.below(13)) - 1);
    return;
  }
  const AttrField& field = draw.of(fields);
  if (draw.chance(0.1))
    attrs.erase(field.name);
  else
    attrs[field.name] = draw_value(draw, field, draw.chance(0.5));
}

Json entry(Draw& draw, std::size_t below) {
  return {draw.below(below), draw.chance(0.8) ? 0 : draw.below(4), 0};
}

void change_edge(Draw& draw, Json& node, std::size_t below) {
  Json& inputs = node["inputs"];
  if (!inputs.is_array()) inputs = Json::array();
  if (draw.chance(0.2) && !inputs.empty())
    inputs.erase(draw.below(inputs.size()));
  else if (draw.chance(0.3) || inputs.empty())
    inputs.push_back(entry(draw, below));
  else
    inputs[draw.below(inputs.size())] = entry(draw, below);
}

void add_node(Draw& draw, Json& net) {
  static const std::vector<std::string> kOps = operators_to_call();
  Json& nodes = net["nodes"];
  const OperatorCall call = draw_call(draw.of(kOps), draw.next());
  Json inputs = Json::array();
  for (const CallInput& in : call.inputs) {
    if (draw.chance(0.4)) {  // a new variable of the shape that was drawn
      Json shape = in.shape;
      nodes.push_back({{"op", "null"},
                       {"name", fmt::format("v{}", nodes.size())},
                       {"attrs", {{"__shape__", tuple_text(in.shape)}}},
                       {"inputs", Json::array()}});
      inputs.push_back({nodes.size() - 1, 0, 0});
    } else {
      inputs.push_back(entry(draw, nodes.size()));
    }
  }
  nodes.push_back({{"op", call.op},
                   {"name", fmt::format("n{}", nodes.size())},
                   {"attrs", call.attrs},
                   {"inputs", inputs}});
  const Json head = {nodes.size() - 1, 0, 0};
  if (draw.chance(0.5) && net["heads"].is_array())
    net["heads"].push_back(head);
  else
    net["heads"] = Json::array({head});
}

void change(Draw& draw, Json& net) {
  static const std::vector<std::string> kOps = operators_to_call();
  Json& nodes = net["nodes"];
  const std::size_t at = draw.below(nodes.size());
  Json& node = nodes[at];
  switch (draw.below(10)) {
    case 0: node["op"] = draw.of(kOps); break;
    case 1: change_edge(draw, node, at + 1); break;
    case 2: net["heads"] = Json::array({entry(draw, nodes.size())}); break;
    case 3: net["heads"].push_back(entry(draw, nodes.size())); break;
    case 4:
    case 5: add_node(draw, net); break;
    default: change_attribute(draw, node);
  }
}

}  // namespace

std::string mutate_symbol(std::string_view json, std::uint64_t seed) {
  Json net = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!net.is_object() || !net.contains("nodes") || !net["nodes"].is_array() ||
      net["nodes"].empty())
    return {};
  for (const Json& node : net["nodes"])
    if (!node.is_object() || !(node.contains("op") && node["op"].is_string())) return {};
  if (!net.contains("heads") || !net["heads"].is_array()) net["heads"] = Json::array();
  Draw draw(seed);
  for (std::size_t i = 1 + draw.below(3); i > 0; --i) change(draw, net);
  return net.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string symbol_dictionary() {
  std::set<std::string> words = {"nodes",     "heads",       "arg_nodes",    "node_row_ptr",
                                 "attrs",     "inputs",      "op",           "name",
                                 "null",      "subgraphs",   "param",        "__shape__",
                                 "__dtype__", "is_np_shape", "mxnet_version"};
  for (const std::string& name : operators_to_call()) {
    const OpDef& op = OpRegistry::global().get(name);
    words.insert(name);
    const std::shared_ptr<void> attrs = op.make_attrs();
    for (const AttrField& field : op.describe(attrs.get())) {
      words.insert(field.name);
      words.insert(field.allowed.begin(), field.allowed.end());
    }
  }
  std::string text;
  for (const std::string& word : words)
    if (!word.empty()) text += fmt::format("\"{}\"\n", word);
  return text;
}

}  // namespace symbind::fuzz
