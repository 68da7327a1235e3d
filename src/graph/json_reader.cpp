// Symbol JSON, text to JsonGraph. Decided here: nodes are taken from the parser one by one, so a
// file of a million nodes is never in memory as JSON; what the graph does not need (arg_nodes,
// node_row_ptr, backward_source_id, unknown keys) is ignored.
//
// Dialects: parameters in `param`, user attributes in `attr` (up to 0.8); all in `attr` (0.9 to
// 0.12.0); all in `attrs` (since). Entries have two or three members; the third, a count of
// mutations, follows from the graph.

#include <optional>

#include <fmt/format.h>
#include <symbind/detail/op_info.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "graph/core_ops.h"
#include "graph/json_graph.h"
#include "graph/loop.h"

namespace symbind {
namespace {

using Json = nlohmann::json;

template <class... Args>
[[noreturn]] void bad(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorKind::kIo, "not a symbol: {}", fmt::format(format, std::forward<Args>(args)...));
}

const Json& member(const Json& object, const char* key, const std::string& where) {
  const auto it = object.find(key);
  if (it == object.end()) bad("{} has no \"{}\"", where, key);
  return *it;
}

std::string text_of(const Json& value, const char* key, const std::string& where) {
  if (!value.is_string()) bad("\"{}\" of {} is not a string but {}", key, where, value.type_name());
  return value.get<std::string>();
}

// `longest` is the limit: settings are not read for every name of a file.
void check_length(const std::string& name, const std::string& where, std::int64_t longest) {
  if (const auto size = static_cast<std::int64_t>(name.size()); size > longest)
    check_limit(Limit::kNameBytes, size, "not a symbol: " + where, ErrorKind::kIo);
}

std::int64_t whole(const Json& value, const std::string& where) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (!value.is_number_integer())
    bad("{} holds {} where a whole number is needed", where, value.type_name());
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost) return kMost;
  return value.get<std::int64_t>();
}

std::vector<JsonEntry> entries(const Json& list, const std::string& where) {
  if (!list.is_array()) bad("{} is not a list", where);
  std::vector<JsonEntry> result;
  result.reserve(list.size());
  for (const Json& e : list) {
    if (!e.is_array() || e.size() < 2 || e.size() > 3)
      bad("{} holds an entry that is not [node, output, version]", where);
    result.push_back({whole(e[0], where), whole(e[1], where)});
  }
  return result;
}

JsonNode read_node(const Json& json, std::size_t id, std::int64_t longest) {
  const std::string where = fmt::format("node {}", id);
  if (!json.is_object()) bad("{} is not an object but {}", where, json.type_name());
  JsonNode node;
  node.op = text_of(member(json, "op", where), "op", where);
  node.name = text_of(member(json, "name", where), "name", where);
  check_length(node.op, where, longest);
  check_length(node.name, where, longest);
  for (const char* key : {"attrs", "attr", "param"}) {
    const auto it = json.find(key);
    if (it == json.end()) continue;
    if (!it->is_object()) bad("\"{}\" of {} is not an object", key, node.title());
    for (const auto& [name, value] : it->items()) {
      check_length(name, where, longest);
      node.attrs.emplace(name, text_of(value, name.c_str(), node.title()));
    }
  }
  node.inputs = entries(member(json, "inputs", node.title()), "\"inputs\" of " + node.title());
  if (node.op == core_ops::kForeach) {
    // Only from here: an attribute of this name would be a text with unchecked nesting.
    const Json& bodies = member(json, "subgraphs", node.title());
    if (!bodies.is_array() || bodies.size() != 1 || !bodies.front().is_object())
      bad("\"subgraphs\" of {} is not a list of one graph", node.title());
    node.attrs.insert_or_assign(kSubgraph, bodies.front().dump());
  }
  for (const JsonEntry& e : node.inputs) {
    if (e.node < 0 || e.node >= static_cast<std::int64_t>(id)) {
      bad("{} (node {}) takes node {} as an input; inputs must come before their users",
          node.title(), id, e.node);
    }
  }
  return node;
}

int version_of(const Json& rest) {
  const auto attrs = rest.find("attrs");
  if (attrs == rest.end() || !attrs->is_object()) return kOldestVersion;
  const auto version = attrs->find("mxnet_version");
  if (version == attrs->end()) return kOldestVersion;
  if (!version->is_array() || version->size() != 2)
    bad("\"mxnet_version\" is not [\"int\", number]");
  return static_cast<int>(
      std::min<std::int64_t>(whole((*version)[1], "\"mxnet_version\""), 1 << 30));
}

// A subgraph has no version: the file's applies.
void give_version(JsonNode& node, int version) {
  if (node.op != core_ops::kForeach) return;
  std::string& text = node.attrs.at(kSubgraph);
  Json json = Json::parse(text);
  if (!json.contains("attrs")) json["attrs"] = {{"mxnet_version", {"int", version}}};
  text = json.dump();
}

bool is_np_shape_of(const Json& rest) {
  const auto attrs = rest.find("attrs");
  return attrs != rest.end() && attrs->is_object() && attrs->contains("is_np_shape");
}

// The top level without its nodes, which go to `nodes` as they are read.
Json parse_text(std::string_view text, std::vector<JsonNode>& nodes) {
  const std::int64_t deepest = limit(Limit::kNesting), longest = limit(Limit::kNameBytes);
  std::string key;  // of the top level
  const auto take = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > deepest) check_limit(Limit::kNesting, depth, "not a symbol: it", ErrorKind::kIo);
    if (event == Json::parse_event_t::key && depth == 1) key = value.get_ref<const std::string&>();
    const bool ends = event == Json::parse_event_t::object_end ||
                      event == Json::parse_event_t::array_end ||
                      event == Json::parse_event_t::value;
    if (!ends || depth != 2 || key != "nodes") return true;
    nodes.push_back(read_node(value, nodes.size(), longest));
    return false;
  };
  try {
    return Json::parse(text, take);
  } catch (const Json::exception& e) {
    // "[json.exception.parse_error.101] parse error at line 1, column 1: …"
    const std::string what = e.what();
    const std::size_t end = what.find("] ");
    bad("{}", end == what.npos ? what : what.substr(end + 2));
  }
}

// Detection networks are older than MXNet's contrib: their files say MultiBoxPrior and Proposal.
const OpDef* find_operator(const std::string& name) {
  const OpDef* def = OpRegistry::global().find(name);
  return def != nullptr ? def : OpRegistry::global().find("_contrib_" + name);
}

std::vector<std::string> public_names() {
  std::vector<std::string> names = OpRegistry::global().names();
  std::erase_if(names,
                [](const auto& name) { return !is_public(*OpRegistry::global().find(name)); });
  return names;
}

// Operators by name; unknown ones are listed with their nodes.
void find_operators(std::vector<JsonNode>& nodes) {
  constexpr std::size_t kShown = 5, kOperatorsShown = 1000;
  constexpr std::size_t kHints = 20;  // each takes time: all names are compared
  std::map<std::string, std::vector<std::string>> unknown;
  for (JsonNode& node : nodes) {
    if (node.op == "null") continue;
    node.def = find_operator(node.op);
    if (node.def == nullptr) unknown[node.op].push_back(node.name);
    check(node.def == nullptr || is_public(*node.def), ErrorKind::kName,
          "{} of this symbol is internal: gradients and passes make {}, files cannot use it",
          node.title(), node.op);
  }
  if (unknown.empty()) return;
  std::string lines;
  const std::vector<std::string> known = public_names();
  for (std::size_t shown = 0; const auto& [op, users] : unknown) {
    if (shown++ == kOperatorsShown) {
      lines += fmt::format("\n  and {} more", unknown.size() - kOperatorsShown);
      break;
    }
    const auto some = std::span(users).first(std::min(users.size(), kShown));
    lines += fmt::format(
        "\n  {}  node{} {}{}", op, users.size() == 1 ? "" : "s", fmt::join(some, ", "),
        users.size() > kShown ? fmt::format(" and {} more", users.size() - kShown) : "");
    const std::string hint = shown <= kHints ? nearest_hint(op, known) : "";
    if (!hint.empty()) lines += "  " + hint;
  }
  fail(ErrorKind::kName, "{} operator{} of this symbol {} not known{}", unknown.size(),
       unknown.size() == 1 ? "" : "s", unknown.size() == 1 ? "is" : "are", lines);
}

}  // namespace

std::string JsonNode::title() const {
  return op == "null" ? fmt::format("variable '{}'", name) : fmt::format("{} '{}'", op, name);
}

JsonGraph read_json_graph(std::string_view text) {
  JsonGraph graph;
  const Json rest = parse_text(text, graph.nodes);
  if (!rest.is_object()) bad("the text is {}, not an object", rest.type_name());
  if (!member(rest, "nodes", "the text").is_array()) bad("\"nodes\" is not a list");
  graph.heads = entries(member(rest, "heads", "the text"), "\"heads\"");
  if (graph.heads.empty()) bad("it has no heads");
  for (const JsonEntry& head : graph.heads) {
    if (head.node < 0 || head.node >= static_cast<std::int64_t>(graph.nodes.size())) {
      bad("\"heads\" names node {}, but there are {} nodes", head.node, graph.nodes.size());
    }
  }
  graph.version = version_of(rest);
  graph.is_np_shape = is_np_shape_of(rest);
  for (JsonNode& node : graph.nodes) give_version(node, graph.version);
  find_operators(graph.nodes);
  return graph;
}

}  // namespace symbind
