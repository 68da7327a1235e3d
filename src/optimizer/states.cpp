// Between optimizers and the values of a pickle: states by key, and an optimizer as the attributes
// MXNet's object has.
#include <symbind/states.h>

#include <fmt/format.h>

#include "base/check.h"
#include "optimizer/builtin.h"

namespace symbind {

using Kind = StateValue::Kind;

StateValue state_value(const OptimizerState& state) {
  if (state.empty()) return {};
  if (state.is_array()) return StateValue::of(state.array());
  StateValue out = StateValue::sequence(state.is_list() ? Kind::kList : Kind::kTuple);
  for (const OptimizerState& part : state.parts()) out.items.push_back(state_value(part));
  return out;
}

namespace {

// ---- Out ----------------------------------------------------------------------------------------

StateValue field_value(const AttrField& field) {
  return std::visit(
      [](const auto* slot) -> StateValue {
        using T = std::decay_t<decltype(*slot)>;
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
          return StateValue::of(*slot);
        else if constexpr (std::is_integral_v<T>)
          return StateValue::of(std::int64_t{*slot});
        else if constexpr (std::is_floating_point_v<T>)
          return StateValue::of(double{*slot});
        else if constexpr (std::is_same_v<T, std::optional<double>>)
          return *slot ? StateValue::of(**slot) : StateValue::none();
        else if constexpr (std::is_same_v<T, Tuple>) {
          StateValue list = StateValue::sequence(Kind::kList);
          for (const std::int64_t i : *slot) list.items.push_back(StateValue::of(i));
          return list;
        } else {
          fail(ErrorKind::kNotImplemented, "an attribute of this type is not pickled");
        }
      },
      field.slot);
}

void add_fields(StateValue& object, Fields& fields) {
  for (const AttrField& field : fields.attributes.fields())
    object.add(StateValue::of(field.name), field_value(field));
  for (const std::string& name : fields.empty_dicts)
    object.add(StateValue::of(name), StateValue::sequence(Kind::kDict));
}

template <class Map>
StateValue dict_of(const Map& map) {
  StateValue dict = StateValue::sequence(Kind::kDict);
  for (const auto& [key, value] : map) dict.add(StateValue::of(key), StateValue::of(value));
  return dict;
}

StateValue scheduler_value(const std::shared_ptr<LRScheduler>& scheduler) {
  if (!scheduler) return {};
  check(!scheduler->class_name().empty(), ErrorKind::kNotImplemented,
        "a scheduler of one's own cannot be saved with the optimizer");
  StateValue object = StateValue::sequence(Kind::kObject);
  object.text = "mxnet.lr_scheduler." + scheduler->class_name();
  Fields fields;
  scheduler->describe(fields);
  add_fields(object, fields);
  return object;
}

StateValue symbol_value(const SymbolFacts& symbol) {
  StateValue pair = StateValue::sequence(Kind::kTuple);
  if (symbol.arguments.empty()) return pair;
  StateValue attrs = StateValue::sequence(Kind::kDict), names = StateValue::sequence(Kind::kList);
  for (const auto& [name, dict] : symbol.attrs) attrs.add(StateValue::of(name), dict_of(dict));
  for (const std::string& name : symbol.arguments) names.items.push_back(StateValue::of(name));
  pair.items = {std::move(attrs), std::move(names)};
  return pair;
}

// ---- In -----------------------------------------------------------------------------------------

double number_of(const StateValue& v, const std::string& what) {
  if (v.kind == Kind::kFloat) return v.number;
  check(v.kind == Kind::kInt || v.kind == Kind::kBool, ErrorKind::kIo,
        "attribute {} of a saved object is no number", what);
  return static_cast<double>(v.integer);
}

void set_field(AttrField& field, const StateValue& v) {
  std::visit(
      [&](auto* slot) {
        using T = std::decay_t<decltype(*slot)>;
        if constexpr (std::is_same_v<T, std::string>) {
          check(v.kind == Kind::kText, ErrorKind::kIo, "attribute {} of a saved object is no text",
                field.name);
          *slot = v.text;
        } else if constexpr (std::is_same_v<T, std::optional<double>>) {
          if (v.kind == Kind::kNone)
            slot->reset();
          else
            *slot = number_of(v, field.name);
        } else if constexpr (std::is_same_v<T, Tuple>) {
          slot->clear();
          for (const StateValue& item : v.items)
            slot->push_back(static_cast<std::int64_t>(number_of(item, field.name)));
        } else if constexpr (std::is_arithmetic_v<T>) {
          *slot = static_cast<T>(number_of(v, field.name));
        }
      },
      field.slot);
}

Key key_of(const StateValue& v) {
  if (v.kind == Kind::kText || v.kind == Kind::kBytes) return v.text;
  check((v.kind == Kind::kInt || v.kind == Kind::kBool) && v.text.empty(), ErrorKind::kIo,
        "a key that is neither a number nor a name");
  return v.integer;
}

}  // namespace

void set_fields(Fields& fields, const StateValue& object) {
  for (AttrField& field : fields.attributes.fields())
    if (const StateValue* v = object.find(field.name)) set_field(field, *v);
}

namespace {

template <class Map, class Convert>
void read_map(const StateValue& object, const char* name, Map& map, Convert convert) {
  const StateValue* dict = object.find(name);
  if (dict == nullptr || dict->kind != Kind::kDict) return;
  map.clear();
  for (std::size_t i = 0; i + 1 < dict->items.size(); i += 2)
    map[key_of(dict->items[i])] = convert(dict->items[i + 1]);
}

std::shared_ptr<LRScheduler> scheduler_from(const StateValue* v) {
  if (v == nullptr || v->kind == Kind::kNone) return nullptr;
  check(v->kind == Kind::kObject, ErrorKind::kIo, "lr_scheduler of a saved optimizer is none");
  auto scheduler = make_lr_scheduler(std::string_view(v->text).substr(v->text.rfind('.') + 1));
  Fields fields;
  scheduler->describe(fields);
  set_fields(fields, *v);
  return scheduler;
}

void read_symbol(const StateValue* pair, SymbolFacts& symbol) {
  if (pair == nullptr || pair->items.size() != 2) return;
  const StateValue& attrs = pair->items[0];
  for (std::size_t i = 0; i + 1 < attrs.items.size(); i += 2) {
    AttrDict& dict = symbol.attrs[attrs.items[i].text];
    const std::vector<StateValue>& entries = attrs.items[i + 1].items;
    for (std::size_t k = 0; k + 1 < entries.size(); k += 2)
      dict[entries[k].text] = entries[k + 1].text;
  }
  for (const StateValue& name : pair->items[1].items) symbol.arguments.push_back(name.text);
}

}  // namespace

StateValue fields_value(Fields& fields) {
  StateValue dict = StateValue::dict();
  for (const AttrField& field : fields.attributes.fields())
    dict.add(StateValue::of(field.name), field_value(field));
  return dict;
}

StateValue multipliers_value(const Optimizer::Multipliers& multipliers) {
  return dict_of(multipliers);
}

Optimizer::Multipliers multipliers_from(const StateValue& value) {
  Optimizer::Multipliers multipliers;
  for (std::size_t i = 0; i + 1 < value.items.size(); i += 2)
    multipliers[key_of(value.items[i])] = number_of(value.items[i + 1], "multiplier");
  return multipliers;
}

StateValue counts_value(const std::map<std::int64_t, Optimizer::Counts>& counts) {
  StateValue all = StateValue::dict();
  for (const auto& [device, of_device] : counts)
    all.add(StateValue::of(device), dict_of(of_device));
  return all;
}

std::map<std::int64_t, Optimizer::Counts> counts_from(const StateValue& value) {
  std::map<std::int64_t, Optimizer::Counts> counts;
  for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
    const auto device = static_cast<std::int64_t>(number_of(value.items[i], "device"));
    const std::vector<StateValue>& entries = value.items[i + 1].items;
    for (std::size_t k = 0; k + 1 < entries.size(); k += 2)
      counts[device][key_of(entries[k])] =
          static_cast<std::int64_t>(number_of(entries[k + 1], "update count"));
  }
  return counts;
}

StateValue optimizer_value(Optimizer& optimizer) {
  StateValue object = StateValue::sequence(Kind::kObject);
  for (const BuiltinOptimizer& one : builtin_optimizers())
    if (optimizer.class_name() == one.class_name)
      object.text = fmt::format("{}.{}", one.module, one.class_name);
  check(!object.text.empty(), ErrorKind::kNotImplemented,
        "an optimizer of one's own ({}) cannot be saved with its states", optimizer.class_name());
  add_fields(object, optimizer.fields());
  const auto add = [&object](const char* name, StateValue value) {
    object.add(StateValue::of(std::string(name)), std::move(value));
  };
  add("lr_scheduler", scheduler_value(optimizer.lr_scheduler()));
  add("lr_mult", dict_of(optimizer.lr_mult()));
  add("wd_mult", dict_of(optimizer.wd_mult()));
  add("idx2name", dict_of(optimizer.idx2name()));
  add("sym_info", symbol_value(optimizer.symbol_facts()));
  add("_all_index_update_counts", counts_value(optimizer.all_counts()));
  add("_index_update_count", dict_of(optimizer.counts()));
  add("allow_np_array", StateValue::of(false));
  return object;
}

std::shared_ptr<Optimizer> optimizer_from(const StateValue& object, const std::string& source) {
  const std::string name = object.text.substr(object.text.rfind('.') + 1);
  std::shared_ptr<Optimizer> optimizer;
  for (const BuiltinOptimizer& one : builtin_optimizers())
    if (name == one.class_name) optimizer = one.make();
  check(object.kind == Kind::kObject && optimizer != nullptr, ErrorKind::kIo,
        "{}: there is no optimizer where one should be", source);
  set_fields(optimizer->fields(), object);
  optimizer->set_lr_scheduler(scheduler_from(object.find("lr_scheduler")));
  const auto number = [](const StateValue& v) { return number_of(v, "multiplier"); };
  read_map(object, "lr_mult", optimizer->lr_mult(), number);
  read_map(object, "wd_mult", optimizer->wd_mult(), number);
  read_map(object, "idx2name", optimizer->idx2name(), [](const StateValue& v) { return v.text; });
  read_symbol(object.find("sym_info"), optimizer->symbol_facts());
  if (const StateValue* all = object.find("_all_index_update_counts"))
    optimizer->all_counts() = counts_from(*all);
  else  // MXNet 0.11
    read_map(object, "_index_update_count", optimizer->counts(), [](const StateValue& v) {
      return static_cast<std::int64_t>(number_of(v, "update count"));
    });
  return optimizer;
}

}  // namespace symbind
