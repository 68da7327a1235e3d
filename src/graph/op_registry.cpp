#include <algorithm>
#include <set>

#include <symbind/detail/op_info.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "graph/node.h"

namespace symbind {
namespace {

bool holds(const std::vector<int>& list, int item) {
  return std::ranges::find(list, item) != list.end();
}

// Lists of inputs and outputs are as long as the attributes say: checked before one is made.
void check_count(Limit which, std::int64_t count, std::string_view owner) {
  if (count > 1) check_limit(which, count, owner);  // one needs no lookup of the settings
}
void check_counts(const OpDef& op, void* attrs, std::string_view owner) {
  if (!op.variadic_key.empty()) {
    for (const AttrField& field : op.describe(attrs)) {
      const int* const* count = std::get_if<int*>(&field.slot);
      if (count == nullptr || field.name != op.variadic_key) continue;
      check(**count > 0 || !op.input_names(attrs).empty(), ErrorKind::kType,
            "{}: {}={}, but it needs at least one input", owner, op.variadic_key, **count);
      check_count(Limit::kNodeInputs, op.inputs_for(**count), owner);
    }
  }
  check_count(Limit::kNodeOutputs, op.num_visible(attrs), owner);
}

}  // namespace

/// Written by CMake: one call per file of src/ops.
void register_all_ops(OpRegistry& registry);

OpRegistry& OpRegistry::global() {
  static OpRegistry* registry = [] {
    auto* made = new OpRegistry;  // never destroyed: graphs may outlive main
    register_all_ops(*made);
    return made;
  }();
  return *registry;
}

const OpDef* OpRegistry::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second.get();
}

const OpDef& OpRegistry::get(std::string_view name) const {
  const OpDef* def = find(name);
  check(def == nullptr || is_public(*def), ErrorKind::kName,
        "operator '{}' is internal: gradients and passes make it, calls and files cannot use it",
        name);
  if (def != nullptr) return *def;
  std::vector<std::string> known;
  for (const auto& [key, candidate] : by_name_) {
    if (is_public(*candidate)) known.push_back(key);
  }
  fail(ErrorKind::kName, "operator '{}' is not known; {}", name, nearest_hint(name, known));
}

const OpDef& any_operator(std::string_view name) {
  const OpRegistry& registry = OpRegistry::global();
  const OpDef* def = registry.find(name);
  return def != nullptr ? *def : registry.get(name);
}

std::vector<std::string> OpRegistry::names() const {
  std::set<std::string> canonical;
  for (const auto& [key, def] : by_name_) canonical.insert(def->name);
  return {canonical.begin(), canonical.end()};
}

OpDef& OpRegistry::insert(OpDef def) {
  const std::string name = def.name;
  auto [it, added] = by_name_.emplace(name, std::make_shared<OpDef>(std::move(def)));
  check(added, ErrorKind::kName, "operator '{}' is already registered", name);
  return *it->second;
}

void OpRegistry::add_alias(OpDef& def, const std::string& alias) {
  const auto it = by_name_.find(def.name);
  SYMBIND_ASSERT(it != by_name_.end());
  check(by_name_.emplace(alias, it->second).second, ErrorKind::kName,
        "operator '{}' is already registered", alias);
  def.aliases.push_back(alias);
}

int OpDef::input_index(const void* attrs, std::string_view input) const {
  const std::vector<std::string> names = input_names(attrs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == input) return static_cast<int>(i);
  }
  fail(ErrorKind::kName, "{} has no input '{}'; {}", name, input, nearest_hint(input, names));
}

std::shared_ptr<void> OpDef::parse(const AttrDict& given, std::string_view owner,
                                   std::size_t num_inputs) const {
  std::shared_ptr<void> parsed = make_attrs();
  std::vector<AttrField> fields = describe(parsed.get());
  const bool counted = !variadic_key.empty() && !given.contains(variadic_key);
  if (counted) std::erase_if(fields, [&](const AttrField& f) { return f.name == variadic_key; });
  // MXNet reads no attributes of an operator that declares none: zeros_like(x, ctx=...) passes
  // there, and files contain leftovers of converters and older versions.
  const bool reads_none = fields.empty() && variadic_key.empty();
  AttrDict rest;
  parse_attrs(fields, given, owner, ignored_attrs, take_rest || reads_none ? &rest : nullptr);
  if (counted) set_num_inputs(parsed.get(), num_inputs);
  if (take_rest) take_rest(parsed.get(), std::move(rest));
  check_counts(*this, parsed.get(), owner);
  return parsed;
}

std::vector<int> OpDef::aux_of(const void* attrs) const {
  return roles ? roles(attrs).aux : aux_inputs;
}

bool OpDef::is_aux(const void* attrs, int input) const {
  return roles ? holds(roles(attrs).aux, input) : holds(aux_inputs, input);
}

bool OpDef::mutates(const void* attrs, int input) const {
  if (roles) return holds(roles(attrs).mutated, input);
  for (const int m : mutated_inputs) {
    if (input == m || (group > 0 && input % group == m)) return true;
  }
  return false;
}

bool OpDef::mutates_any(const void* attrs) const {
  return roles ? !roles(attrs).mutated.empty() : !mutated_inputs.empty();
}

bool OpDef::reads_only_shape(const void* attrs, int input) const {
  return roles ? holds(roles(attrs).shape_only, input) : holds(shape_only, input);
}

std::vector<std::pair<int, int>> OpDef::inplace_pairs(int num_outputs) const {
  if (group == 0) return inplace;
  std::vector<std::pair<int, int>> pairs;
  for (int o = 0; o < num_outputs; ++o) {
    for (const auto& [input, output] : inplace) pairs.emplace_back(o * group + input, o);
  }
  return pairs;
}

}  // namespace symbind
