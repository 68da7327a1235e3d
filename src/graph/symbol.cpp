// Queries on symbols.

#include <symbind/symbol.h>

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "graph/init_hints.h"
#include "graph/node.h"

namespace symbind {
namespace {

struct Inputs {
  std::vector<std::string> arguments, aux, all;
};

Inputs list(const NodeEntries& heads) {
  const std::vector<NodePtr> order = post_order(heads);
  std::unordered_set<const Node*> aux;
  for (const NodePtr& node : order) {
    if (node->op == nullptr) continue;
    for (const int i : node->op->aux_of(node->parsed.get())) {
      if (static_cast<std::size_t>(i) < node->inputs.size()) {
        aux.insert(node->inputs[static_cast<std::size_t>(i)].node.get());
      }
    }
  }
  Inputs result;
  for (const NodePtr& node : order) {
    if (!node->is_variable()) continue;
    result.all.push_back(node->name);
    (aux.contains(node.get()) ? result.aux : result.arguments).push_back(node->name);
  }
  return result;
}

// Listings show hidden keys in both spellings.
AttrDict shown(const AttrDict& attrs) {
  AttrDict result = attrs;
  for (const auto& [key, value] : attrs) {
    if (key.size() > 4 && key.starts_with("__") && is_hidden_key(key.substr(2, key.size() - 4))) {
      result.emplace(key.substr(2, key.size() - 4), value);
    }
  }
  return result;
}

const Node& single_node(const NodeEntries& heads) {
  check(!heads.empty(), "the symbol is empty");
  for (const NodeEntry& head : heads) {
    check(head.node == heads.front().node,
          "a single symbol is needed, not a group; pick one output");
  }
  return *heads.front().node;
}

}  // namespace

Symbol Symbol::group(const std::vector<Symbol>& symbols) {
  NodeEntries heads;
  for (const Symbol& s : symbols) heads.insert(heads.end(), s.heads_.begin(), s.heads_.end());
  return Symbol(std::move(heads));
}

std::string Symbol::name() const {
  if (heads_.empty()) return {};
  const bool one = std::ranges::all_of(
      heads_, [&](const NodeEntry& e) { return e.node == heads_.front().node; });
  return one ? heads_.front().node->name : std::string();
}

std::vector<std::string> Symbol::list_arguments() const { return list(heads_).arguments; }
std::vector<std::string> Symbol::list_auxiliary_states() const { return list(heads_).aux; }
std::vector<std::string> Symbol::list_inputs() const { return list(heads_).all; }

std::vector<std::string> Symbol::list_outputs() const {
  std::vector<std::string> names;
  for (const NodeEntry& head : heads_) names.push_back(head.node->output_name(head.index));
  return names;
}

std::optional<std::string> Symbol::attr(const std::string& key) const {
  const AttrDict& attrs = single_node(heads_).attrs;
  if (const auto it = attrs.find(stored_key(key)); it != attrs.end()) return it->second;
  return std::nullopt;
}

AttrDict Symbol::list_attr() const { return shown(single_node(heads_).attrs); }

std::map<std::string, AttrDict> Symbol::attr_dict() const {
  std::map<std::string, AttrDict> all;
  const std::vector<NodePtr> order = post_order(heads_);
  const InitHints hints = init_hints(order);
  for (const NodePtr& node : order) {
    const AttrDict attrs = with_hint(*node, hints);
    if (!attrs.empty()) all.emplace(node->name, shown(attrs));
  }
  return all;
}

Symbol Symbol::with_attr(const std::string& key, const std::string& value) const {
  auto changed = std::make_shared<Node>(single_node(heads_));
  changed->attrs[stored_key(key)] = value;
  if (changed->op != nullptr) {
    changed->parsed =
        parse_node_attrs(*changed->op, changed->name, changed->attrs, changed->inputs.size());
  }
  NodeEntries heads;
  for (const NodeEntry& head : heads_) heads.push_back({changed, head.index});
  return Symbol(std::move(heads));
}

Symbol Symbol::get_internals() const {
  NodeEntries all;
  for (const NodePtr& node : post_order(heads_)) {
    for (int i = 0; i < node->num_visible(); ++i) all.push_back({node, i});
  }
  return Symbol(std::move(all));
}

Symbol Symbol::get_children() const {
  NodeEntries children;
  std::unordered_set<const Node*> seen;
  for (const NodeEntry& head : heads_) {
    if (!seen.insert(head.node.get()).second) continue;
    children.insert(children.end(), head.node->inputs.begin(), head.node->inputs.end());
  }
  return Symbol(std::move(children));
}

Symbol Symbol::operator[](std::size_t output) const {
  check(output < heads_.size(), ErrorKind::kIndex, "output {} of a symbol with {} outputs", output,
        heads_.size());
  return Symbol({heads_[output]});
}

Symbol Symbol::operator[](const std::string& output_name) const {
  const std::vector<std::string> names = list_outputs();
  const auto found = std::ranges::count(names, output_name);
  check(found > 0, ErrorKind::kName, "there is no output '{}'; {}", output_name,
        nearest_hint(output_name, names));
  check(found == 1, "there are {} outputs named '{}'", found, output_name);
  return (*this)[static_cast<std::size_t>(std::ranges::find(names, output_name) - names.begin())];
}

std::string Symbol::str() const {
  if (const std::string n = name(); !n.empty()) return fmt::format("<Symbol {}>", n);
  std::vector<std::string> names;
  for (const NodeEntry& head : heads_) names.push_back(head.node->name);
  return fmt::format("<Symbol group [{}]>", fmt::join(names, ", "));
}

std::string Symbol::debug_str() const {
  std::string text = "Symbol Outputs:\n";
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    text += fmt::format("\toutput[{}]={}({})\n", i, heads_[i].node->name, heads_[i].index);
  }
  for (const NodePtr& node : post_order(heads_)) {
    if (node->is_variable()) {
      text += fmt::format("Variable:{}\n", node->name);
      continue;
    }
    text +=
        fmt::format("--------------------\nOp:{}, Name={}\nInputs:\n", node->op->name, node->name);
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const NodeEntry& e = node->inputs[i];
      text += fmt::format("\targ[{}]={}({}) version={}\n", i, e.node->name, e.index,
                          node->is_aux_input(static_cast<int>(i)) ? 1 : 0);
    }
    if (node->attrs.empty()) continue;
    text += "Attrs:\n";
    for (const auto& [key, value] : node->attrs) text += fmt::format("\t{}={}\n", key, value);
  }
  return text;
}

}  // namespace symbind
