// Between optimizers and the values of a pickle: states by key, and an optimizer as the attributes
// MXNet's object has.
#include <symbind/detail/states.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "base/checked.h"
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
  for (const Fields::Dict& dict : fields.dicts) object.add(StateValue::of(dict.name), dict.get());
}

template <class Map>
StateValue dict_of_map(const Map& map) {
  StateValue dict = StateValue::sequence(Kind::kDict);
  for (const auto& [key, value] : map) dict.add(StateValue::of(key), StateValue::of(value));
  return dict;
}

StateValue scheduler_value(const std::shared_ptr<LRScheduler>& scheduler) {
  if (!scheduler) return {};
  check(!scheduler->class_name().empty(), ErrorKind::kNotImplemented,
        "a custom scheduler cannot be saved with the optimizer");
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
  for (const auto& [name, dict] : symbol.attrs) attrs.add(StateValue::of(name), dict_of_map(dict));
  for (const std::string& name : symbol.arguments) names.items.push_back(StateValue::of(name));
  pair.items = {std::move(attrs), std::move(names)};
  return pair;
}

// ---- In -----------------------------------------------------------------------------------------

double number_of(const StateValue& v, const std::string& what) {
  if (v.kind == Kind::kFloat) return v.number;
  check((v.kind == Kind::kInt || v.kind == Kind::kBool) && v.text.empty(), ErrorKind::kIo,
        "attribute {} of a saved object is not a number", what);
  return static_cast<double>(v.integer);
}

/// A number that is neither NaN nor infinity: one of those in a rate makes every weight NaN.
double finite_of(const StateValue& v, const std::string& what) {
  const double number = number_of(v, what);
  check(std::isfinite(number), ErrorKind::kIo,
        "attribute {} of a saved object is {}: it must be finite", what, number);
  return number;
}

/// A whole number from `low` to `high`.
std::int64_t whole_of(const StateValue& v, const std::string& what, std::int64_t low,
                      std::int64_t high) {
  const bool exact = (v.kind == Kind::kInt || v.kind == Kind::kBool) && v.text.empty();
  const double number = exact ? 0 : number_of(v, what);
  const bool whole = exact || number == std::trunc(number);  // false for NaN
  const std::int64_t value = exact ? v.integer : whole_or(number, std::int64_t{-1} << 62);
  check(whole && value >= low && value <= high, ErrorKind::kIo,
        "attribute {} of a saved object is {}: it must be a whole number from {} to {}", what,
        exact ? fmt::format("{}", v.integer) : fmt::format("{}", number), low, high);
  return value;
}

// Counts become doubles in schedules and in bias corrections, and grow by one each update.
constexpr std::int64_t kMostUpdates = std::int64_t{1} << 53;
constexpr std::int64_t kMostDevices = 1 << 16;

/// The least a whole number may be, where a loop or a division needs that.
std::int64_t lowest_of(const AttrField& field) {
  constexpr std::pair<std::string_view, std::int64_t> kLowest[] = {
      {"num_update", 0},   {"begin_num_update", 0}, {"count", 0},
      {"cur_step_ind", 0}, {"warmup_steps", 0},     {"step", 1},
      {"max_steps", 1},    {"max_update", 1}};
  for (const auto& [name, lowest] : kLowest)
    if (field.name == name) return lowest;
  return -kMostUpdates;
}

/// ReduceOnPlateauScheduler's is the metric's best value, NaN before there is one.
bool may_be_nan(const AttrField& field) { return field.name == "best"; }

void set_field(AttrField& field, const StateValue& v) {
  std::visit(
      [&](auto* slot) {
        using T = std::decay_t<decltype(*slot)>;
        if constexpr (std::is_same_v<T, std::string>) {
          check(v.kind == Kind::kText, ErrorKind::kIo,
                "attribute {} of a saved object is not a text", field.name);
          *slot = v.text;
        } else if constexpr (std::is_same_v<T, std::optional<double>>) {
          if (v.kind == Kind::kNone)
            slot->reset();
          else
            *slot = finite_of(v, field.name);
        } else if constexpr (std::is_same_v<T, Tuple>) {
          Tuple read;
          for (const StateValue& item : v.items)
            read.push_back(whole_of(item, field.name, lowest_of(field), kMostUpdates));
          *slot = std::move(read);
        } else if constexpr (std::is_same_v<T, bool>) {
          *slot = number_of(v, field.name) != 0;
        } else if constexpr (std::is_integral_v<T>) {
          const std::int64_t low = std::numeric_limits<T>::min();
          const std::int64_t high = std::numeric_limits<T>::max();
          *slot = static_cast<T>(whole_of(v, field.name, std::max(low, lowest_of(field)),
                                          std::min(high, kMostUpdates)));
        } else if constexpr (std::is_floating_point_v<T>) {
          *slot = static_cast<T>(may_be_nan(field) ? number_of(v, field.name)
                                                   : finite_of(v, field.name));
        }
      },
      field.slot);
}

}  // namespace

std::int64_t saved_count(const StateValue& v, const std::string& what) {
  return whole_of(v, what, 0, kMostUpdates);
}

Key saved_key(const StateValue& v) {
  if (v.kind == Kind::kText || v.kind == Kind::kBytes) return v.text;
  check((v.kind == Kind::kInt || v.kind == Kind::kBool) && v.text.empty(), ErrorKind::kIo,
        "a key that is neither a number nor a name");
  return v.integer;
}

void set_fields(Fields& fields, const StateValue& object) {
  for (AttrField& field : fields.attributes.fields())
    if (const StateValue* v = object.find(field.name)) set_field(field, *v);
  for (const Fields::Dict& dict : fields.dicts)
    if (const StateValue* v = object.find(dict.name)) dict.set(*v);
}

namespace {

template <class Map, class Convert>
void read_map(const StateValue& object, const char* name, Map& map, Convert convert) {
  const StateValue* dict = object.find(name);
  if (dict == nullptr || dict->kind != Kind::kDict) return;
  map.clear();
  for (std::size_t i = 0; i + 1 < dict->items.size(); i += 2)
    map[saved_key(dict->items[i])] = convert(dict->items[i + 1]);
}

std::shared_ptr<LRScheduler> scheduler_from(const StateValue* v) {
  if (v == nullptr || v->kind == Kind::kNone) return nullptr;
  check(v->kind == Kind::kObject, ErrorKind::kIo,
        "lr_scheduler of a saved optimizer is not a scheduler");
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
  for (const Fields::Dict& one : fields.dicts) dict.add(StateValue::of(one.name), one.get());
  return dict;
}

StateValue multipliers_value(const Optimizer::Multipliers& multipliers) {
  return dict_of_map(multipliers);
}

Optimizer::Multipliers multipliers_from(const StateValue& value) {
  Optimizer::Multipliers multipliers;
  for (std::size_t i = 0; i + 1 < value.items.size(); i += 2)
    multipliers[saved_key(value.items[i])] = finite_of(value.items[i + 1], "multiplier");
  return multipliers;
}

StateValue counts_value(const std::map<std::int64_t, Optimizer::Counts>& counts) {
  StateValue all = StateValue::dict();
  for (const auto& [device, of_device] : counts)
    all.add(StateValue::of(device), dict_of_map(of_device));
  return all;
}

std::map<std::int64_t, Optimizer::Counts> counts_from(const StateValue& value) {
  std::map<std::int64_t, Optimizer::Counts> counts;
  for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
    const std::int64_t device = whole_of(value.items[i], "device", 0, kMostDevices);
    const std::vector<StateValue>& entries = value.items[i + 1].items;
    for (std::size_t k = 0; k + 1 < entries.size(); k += 2)
      counts[device][saved_key(entries[k])] = saved_count(entries[k + 1], "update count");
  }
  return counts;
}

StateValue optimizer_value(Optimizer& optimizer) {
  StateValue object = StateValue::sequence(Kind::kObject);
  for (const BuiltinOptimizer& one : builtin_optimizers())
    if (optimizer.class_name() == one.class_name)
      object.text = fmt::format("{}.{}", one.module, one.class_name);
  check(!object.text.empty(), ErrorKind::kNotImplemented,
        "a custom optimizer ({}) cannot be saved with its states", optimizer.class_name());
  add_fields(object, optimizer.fields());
  const auto add = [&object](const char* name, StateValue value) {
    object.add(StateValue::of(std::string(name)), std::move(value));
  };
  add("lr_scheduler", scheduler_value(optimizer.lr_scheduler()));
  add("lr_mult", dict_of_map(optimizer.lr_mult()));
  add("wd_mult", dict_of_map(optimizer.wd_mult()));
  add("idx2name", dict_of_map(optimizer.idx2name()));
  add("sym_info", symbol_value(optimizer.symbol_facts()));
  add("_all_index_update_counts", counts_value(optimizer.all_counts()));
  add("_index_update_count", dict_of_map(optimizer.counts()));
  add("allow_np_array", StateValue::of(false));
  return object;
}

std::shared_ptr<Optimizer> optimizer_from(const StateValue& object, const std::string& source) {
  const std::string name = object.text.substr(object.text.rfind('.') + 1);
  std::shared_ptr<Optimizer> optimizer;
  for (const BuiltinOptimizer& one : builtin_optimizers())
    if (name == one.class_name) optimizer = one.make();
  check(object.kind == Kind::kObject && optimizer != nullptr, ErrorKind::kIo,
        "{}: an optimizer is missing", source);
  set_saved_attributes(*optimizer, object);
  optimizer->set_lr_scheduler(scheduler_from(object.find("lr_scheduler")));
  return optimizer;
}

void set_saved_attributes(Optimizer& optimizer, const StateValue& object) {
  set_fields(optimizer.fields(), object);
  const auto number = [](const StateValue& v) { return finite_of(v, "multiplier"); };
  read_map(object, "lr_mult", optimizer.lr_mult(), number);
  read_map(object, "wd_mult", optimizer.wd_mult(), number);
  read_map(object, "idx2name", optimizer.idx2name(), [](const StateValue& v) { return v.text; });
  read_symbol(object.find("sym_info"), optimizer.symbol_facts());
  if (const StateValue* all = object.find("_all_index_update_counts"))
    optimizer.all_counts() = counts_from(*all);
  else  // MXNet 0.11
    read_map(object, "_index_update_count", optimizer.counts(),
             [](const StateValue& v) { return saved_count(v, "update count"); });
}

}  // namespace symbind
