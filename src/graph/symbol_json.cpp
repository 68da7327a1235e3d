// Symbols as MXNet 1.9.1's JSON. The text is MXNet's to the byte: an object of several keys has
// one a line, a list of more than ten members likewise, separators end in a blank.
//
// Decided here: control characters in names are written as \u00XX (MXNet writes them raw, which is
// no JSON); versions of entries are counted along the walk, as many as auxiliary writes came
// before.

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/files.h"
#include "base/settings.h"
#include "graph/init_hints.h"
#include "graph/json_graph.h"
#include "graph/loop.h"

namespace symbind {
namespace {

constexpr std::size_t kLongestLine = 10;  ///< members of a list on one line

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// "[…]" of `count` members that `member(i)` appends; on separate lines when there are many.
template <class F>
void append_list(std::string& out, std::size_t count, int indent, const F& member) {
  const std::string line =
      count > kLongestLine ? "\n" + std::string(static_cast<std::size_t>(indent), ' ') : "";
  out += '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    out += line;
    if (!line.empty()) out += "  ";
    member(i);
  }
  out += line + "]";
}

void append_attrs(std::string& out, const AttrDict& attrs) {
  const bool lines = attrs.size() > 1;
  out += "      \"attrs\": {";
  bool first = true;
  for (const auto& [key, value] : attrs) {
    if (!first) out += ", ";
    first = false;
    if (lines) out += "\n        ";
    append_string(out, key);
    out += ": ";
    append_string(out, value);
  }
  out += lines ? "\n      }, \n" : "}, \n";
}

class Writer {
 public:
  explicit Writer(const NodeEntries& heads)
      : heads_(heads), order_(post_order(heads)), hints_(init_hints(order_)) {
    ids_.reserve(order_.size());
    for (const NodePtr& node : order_) ids_.emplace(node.get(), ids_.size());
  }

  std::string text() {
    out_ = "{\n  \"nodes\": [";
    for (std::size_t i = 0; i < order_.size(); ++i) {
      out_ += i > 0 ? ", \n    {\n" : "\n    {\n";
      append_node(*order_[i]);
      out_ += "\n    }";
    }
    out_ += "\n  ], \n  \"arg_nodes\": ";
    append_numbers(variables());
    out_ += ", \n  \"node_row_ptr\": ";
    append_numbers(first_outputs());
    out_ += ", \n  \"heads\": ";
    append_list(out_, heads_.size(), 2, [&](std::size_t i) { append_entry(heads_[i], 0); });
    const char* np_shape = is_np_shape() ? "\"is_np_shape\": [\"int\", 1], " : "";
    out_ += fmt::format(", \n  \"attrs\": {{{}\"mxnet_version\": [\"int\", {}]}}\n}}", np_shape,
                        kJsonVersion);
    return std::move(out_);
  }

 private:
  void append_node(const Node& node) {
    out_ += "      \"op\": ";
    append_string(out_, node.is_variable() ? "null" : node.op->name);
    out_ += ", \n      \"name\": ";
    append_string(out_, node.name);
    out_ += ", \n";
    AttrDict attrs = with_hint(node, hints_);
    if (is_loop(node)) attrs.erase(kSubgraph);
    if (!attrs.empty()) append_attrs(out_, attrs);
    out_ += "      \"inputs\": ";
    append_list(out_, node.inputs.size(), 6,
                [&](std::size_t i) { append_entry(node.inputs[i], version(node, i)); });
    if (is_loop(node)) append_body(loop_attrs(node).body);
  }

  void append_body(const Symbol& body) {
    out_ += ", \n      \"subgraphs\": [\n        ";
    for (const char c : body.tojson()) {
      out_ += c;
      if (c == '\n') out_ += "        ";
    }
    out_ += "\n      ]";
  }

  // How often the variable was written before this node runs.
  int version(const Node& node, std::size_t input) {
    const Node* from = node.inputs[input].node.get();
    if (!from->is_variable()) return 0;
    if (node.is_aux_input(static_cast<int>(input))) return ++writes_[from];
    const auto it = writes_.find(from);
    return it == writes_.end() ? 0 : it->second;
  }

  void append_entry(const NodeEntry& e, int version) {
    fmt::format_to(std::back_inserter(out_), "[{}, {}, {}]", ids_.at(e.node.get()), e.index,
                   version);
  }

  void append_numbers(const std::vector<std::size_t>& numbers) {
    append_list(out_, numbers.size(), 2,
                [&](std::size_t i) { out_ += std::to_string(numbers[i]); });
  }

  std::vector<std::size_t> variables() const {
    std::vector<std::size_t> ids;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (order_[i]->is_variable()) ids.push_back(i);
    }
    return ids;
  }

  // Where each node's outputs begin when all are counted, hidden ones of MXNet's too. Outputs whose
  // names begin with an underscore exist in Symbind only.
  std::vector<std::size_t> first_outputs() const {
    std::vector<std::size_t> first{0};
    for (const NodePtr& node : order_) {
      int count = 1;
      if (!node->is_variable()) {
        count = static_cast<int>(std::ranges::count_if(
            node->output_names(), [](const std::string& name) { return !name.starts_with('_'); }));
      }
      first.push_back(first.back() + static_cast<std::size_t>(count));
    }
    return first;
  }

  const NodeEntries& heads_;
  std::vector<NodePtr> order_;
  InitHints hints_;
  std::unordered_map<const Node*, std::size_t> ids_;
  std::unordered_map<const Node*, int> writes_;
  std::string out_;
};

NodeEntry entry(const std::vector<NodePtr>& nodes, const JsonEntry& e, const std::string& user) {
  const NodePtr& node = nodes[static_cast<std::size_t>(e.node)];
  check(e.index >= 0 && e.index < node->num_outputs(), ErrorKind::kIo,
        "not a symbol: {} takes output {} of {}, which has {}", user, e.index, node->title(),
        node->num_outputs());
  return {node, static_cast<int>(e.index)};
}

NodePtr build_node(JsonNode& json, const std::vector<NodePtr>& nodes) {
  if (json.def == nullptr) {
    check(json.inputs.empty(), ErrorKind::kIo, "not a symbol: {} has inputs", json.title());
    return make_variable(std::move(json.name), std::move(json.attrs));
  }
  auto node = std::make_shared<Node>();
  node->op = json.def;
  const std::string title = json.title();
  for (const JsonEntry& e : json.inputs) node->inputs.push_back(entry(nodes, e, title));
  for (JsonNode& added : json.added_inputs) {
    node->inputs.push_back({make_variable(std::move(added.name), std::move(added.attrs)), 0});
  }
  const std::vector<std::string> names = json.def->input_names(json.parsed.get());
  check(node->inputs.size() == names.size(), ErrorKind::kIo,
        "not a symbol: {} has {} inputs, it takes {} ({})", json.title(), node->inputs.size(),
        names.size(), fmt::join(names, ", "));
  node->parsed = std::move(json.parsed);
  node->name = std::move(json.name);
  node->attrs = std::move(json.attrs);
  return node;
}

}  // namespace

std::string Symbol::tojson() const {
  check(!heads_.empty(), "the symbol is empty");
  return Writer(heads_).text();
}

void Symbol::save(const std::string& path) const {
  const std::string text = tojson();
  write_file_atomic(path, [&](FileWriter& file) { file.write(text); });
}

Symbol Symbol::load_json(std::string_view text) {
  settings::refresh();
  JsonGraph graph = read_json_graph(text);
  upgrade(graph);
  std::vector<NodePtr> nodes;
  nodes.reserve(graph.nodes.size());
  for (JsonNode& node : graph.nodes) nodes.push_back(build_node(node, nodes));
  NodeEntries heads;
  for (const JsonEntry& head : graph.heads) heads.push_back(entry(nodes, head, "\"heads\""));
  return Symbol(std::move(heads));
}

Symbol Symbol::load(const std::string& path) {
  settings::refresh();
  const std::vector<std::byte> bytes = read_file(path);
  try {
    return load_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const Error& e) {
    throw e.with_context(
        fmt::format("  in the file {}, which looks like {}", path, looks_like(bytes)));
  }
}

}  // namespace symbind
