// Making nodes from symbols: names, scopes, automatic variables, and composition by name.

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "graph/node.h"
#include "graph/variadic.h"

namespace symbind {
namespace {

AttrDict with_stored_keys(const AttrDict& attrs) {
  AttrDict stored;
  for (const auto& [key, value] : attrs) stored.emplace(stored_key(key), value);
  return stored;
}

std::string hint_of(std::string_view op) {
  std::string hint(op);
  std::ranges::transform(hint, hint.begin(), [](unsigned char c) { return std::tolower(c); });
  return hint;
}

NodeEntry only_head(const Symbol& symbol, std::string_view op, std::string_view input) {
  check(symbol.num_outputs() == 1, ErrorKind::kValue,
        "{}: input '{}' is a group of {} outputs; pick one, e.g. symbol[0]", op, input,
        symbol.num_outputs());
  return symbol.heads().front();
}

// Fills gaps with variables `<node>_<input>`, which carry the node's attributes as MXNet's do.
void complete_inputs(const OpDef& op, const std::string& name, const AttrDict& attrs,
                     const std::vector<std::string>& names, NodeEntries& entries) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (entries[i]) continue;
    AttrDict own = attrs;
    for (const auto& [input, init] : op.init_hints) {
      if (static_cast<std::size_t>(input) == i) own.emplace("__init__", init);
    }
    entries[i] = {make_variable(name + "_" + names[i], std::move(own)), 0};
  }
}

Symbol finish(const OpDef& op, std::string_view called, const std::string& given_name,
              const AttrDict& given_attrs, std::size_t num_given,
              const std::function<void(const std::vector<std::string>&, NodeEntries&)>& place) {
  AttrDict attrs = with_stored_keys(AttrScope::merged(given_attrs));
  const std::string name = NameManager::current().get(given_name, hint_of(called));
  const auto parsed = parse_node_attrs(op, name, attrs, num_given);
  if (const auto count = attrs.find(op.variadic_key); count != attrs.end()) {
    const std::int64_t number = std::strtoll(count->second.c_str(), nullptr, 10);
    const bool fits = op.inputs_for(number) >= static_cast<std::int64_t>(num_given) ||
                      has_named_inputs(op, parsed.get());
    check(num_given == 0 || fits, "{} '{}': {}={}, but {} inputs were given", op.name, name,
          op.variadic_key, count->second, num_given);
  }
  const std::vector<std::string> names = op.input_names(parsed.get());
  NodeEntries entries(names.size());
  place(names, entries);
  if (!op.variadic_key.empty()) {
    const std::size_t one = op.group > 0 ? static_cast<std::size_t>(op.group) : 1;
    const std::size_t rest = static_cast<std::size_t>(op.group_rest);
    const std::size_t count = has_named_inputs(op, parsed.get()) ? num_given : names.size();
    attrs.try_emplace(op.variadic_key, std::to_string((count - rest) / one));
  }
  complete_inputs(op, name, attrs, names, entries);

  auto node = std::make_shared<Node>();
  node->op = &op;
  node->name = name;
  node->attrs = std::move(attrs);
  node->parsed = parsed;
  node->inputs = std::move(entries);
  NodeEntries heads;
  for (int i = 0; i < node->num_visible(); ++i) heads.push_back({node, i});
  return Symbol(std::move(heads));
}

}  // namespace

Symbol make_symbol(std::string_view called, const std::string& name,
                   const std::vector<Symbol>& inputs, const AttrDict& attrs) {
  const OpDef& op = OpRegistry::global().get(called);
  return finish(op, called, name, attrs, inputs.size(),
                [&](const std::vector<std::string>& names, NodeEntries& entries) {
                  check(inputs.size() <= names.size(), ErrorKind::kType,
                        "{} takes {} inputs ({}), {} were given", op.name, names.size(),
                        fmt::join(names, ", "), inputs.size());
                  for (std::size_t i = 0; i < inputs.size(); ++i) {
                    if (inputs[i].num_outputs() > 0)
                      entries[i] = only_head(inputs[i], op.name, names[i]);
                  }
                });
}

Symbol make_symbol(std::string_view called, const std::string& name, const NamedSymbols& inputs,
                   const AttrDict& attrs) {
  const OpDef& op = OpRegistry::global().get(called);
  return finish(op, called, name, attrs, inputs.size(),
                [&](const std::vector<std::string>& names, NodeEntries& entries) {
                  std::unordered_map<std::string_view, std::size_t> place;
                  for (std::size_t i = 0; i < names.size(); ++i) place.emplace(names[i], i);
                  for (const auto& [input, symbol] : inputs) {
                    const auto it = place.find(input);
                    if (it == place.end())
                      fail(ErrorKind::kName, "{} has no input '{}'; {} inputs: {}", op.name, input,
                           nearest_hint(input, names), fmt::join(names, ", "));
                    if (symbol.num_outputs() > 0)
                      entries[it->second] = only_head(symbol, op.name, input);
                  }
                });
}

Symbol Symbol::variable(const std::string& name, const VariableOptions& o) {
  AttrDict attrs = with_stored_keys(AttrScope::merged(o.attr));
  if (o.shape) {
    Tuple dims = o.shape->dims();
    std::ranges::replace(dims, kUnknownDim, 0);
    attrs["__shape__"] = tuple_text(dims);
  }
  if (o.lr_mult) attrs["__lr_mult__"] = fmt::format("{}", *o.lr_mult);
  if (o.wd_mult) attrs["__wd_mult__"] = fmt::format("{}", *o.wd_mult);
  if (o.dtype) attrs["__dtype__"] = std::to_string(static_cast<int>(*o.dtype));
  if (!o.init.empty()) attrs["__init__"] = o.init;
  return Symbol({{make_variable(name, std::move(attrs)), 0}});
}

Symbol Symbol::compose(const std::map<std::string, Symbol>& replacements,
                       const std::string& name) const {
  const std::vector<std::string> inputs = list_inputs();
  const std::unordered_set<std::string_view> known(inputs.begin(), inputs.end());
  for (const auto& [key, value] : replacements) {
    if (known.contains(key)) continue;
    fail(ErrorKind::kName, "there is no argument '{}' to replace; {} arguments: {}", key,
         nearest_hint(key, inputs), fmt::join(inputs, ", "));
  }
  NodeEntries heads = rewrite(heads_, [&](const NodePtr& node, const NodeEntries&) -> NodeEntries {
    if (!node->is_variable()) return {};
    const auto it = replacements.find(node->name);
    return it == replacements.end() ? NodeEntries{}
                                    : NodeEntries{only_head(it->second, name, it->first)};
  });
  if (!name.empty() && !heads.empty()) {
    const Node* old_head = heads.front().node.get();
    auto renamed = std::make_shared<Node>(*old_head);
    renamed->name = name;
    for (NodeEntry& head : heads) {
      if (head.node.get() == old_head) head.node = renamed;
    }
  }
  return Symbol(std::move(heads));
}

#define SYMBIND_BINARY(symbol, op, scalar_op, reverse_op)                                          \
  Symbol operator symbol(const Symbol& a, const Symbol& b) {                                       \
    return make_symbol(op, "", std::vector<Symbol>{a, b});                                         \
  }                                                                                                \
  Symbol operator symbol(const Symbol& a, double b) {                                              \
    return make_symbol(scalar_op, "", std::vector<Symbol>{a}, {{"scalar", fmt::format("{}", b)}}); \
  }                                                                                                \
  Symbol operator symbol(double a, const Symbol& b) {                                              \
    return make_symbol(reverse_op, "", std::vector<Symbol>{b},                                     \
                       {{"scalar", fmt::format("{}", a)}});                                        \
  }
SYMBIND_BINARY(+, "_Plus", "_PlusScalar", "_PlusScalar")
SYMBIND_BINARY(-, "_Minus", "_MinusScalar", "_RMinusScalar")
SYMBIND_BINARY(*, "_Mul", "_MulScalar", "_MulScalar")
SYMBIND_BINARY(/, "_Div", "_DivScalar", "_RDivScalar")
#undef SYMBIND_BINARY
Symbol operator-(const Symbol& a) { return a * -1.0; }

}  // namespace symbind
