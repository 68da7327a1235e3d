// Optimizers and the Updater. The package's classes wrap these: fields are read and set by name,
// dictionaries through views, and states are converted.

#include <nanobind/stl/shared_ptr.h>

#include <symbind/optimizer.h>

#include "fields.h"
#include "flag.h"
#include "key.h"
#include "training.h"

namespace symbind::python {
namespace {

using OptimizerPtr = std::shared_ptr<Optimizer>;

// ---- Conversions --------------------------------------------------------------------------------

nb::object state_to(const OptimizerState& state) {
  if (state.empty()) return nb::none();
  if (state.is_array()) return array_to(state.array());
  nb::list parts;
  for (const OptimizerState& part : state.parts()) parts.append(state_to(part));
  if (state.is_list()) return parts;
  return nb::tuple(parts);
}

OptimizerState state_from(nb::handle value, int depth = 0) {
  if (value.is_none()) return {};
  if (is_array(value)) return {array_from(value)};
  const bool list = nb::isinstance<nb::list>(value);
  if ((!list && !nb::isinstance<nb::tuple>(value)) || depth > 64)
    throw Error(ErrorKind::kType,
                "a state of this optimizer is None, an NDArray or a tuple of such");
  std::vector<OptimizerState> parts;
  for (const nb::handle part : nb::iter(value)) parts.push_back(state_from(part, depth + 1));
  return OptimizerState(std::move(parts), list);
}

std::vector<Key> keys_from(nb::handle sequence) {
  std::vector<Key> keys;
  for (const nb::handle key : nb::iter(sequence)) keys.push_back(key_from(key));
  return keys;
}

nb::object value_to(const std::string& value) { return nb::str(value.data(), value.size()); }
nb::object value_to(double value) { return nb::float_(value); }
nb::object value_to(std::int64_t value) { return nb::int_(value); }
nb::object value_to(bool value) { return nb::bool_(value); }
nb::object value_to(const OptimizerState& value) { return state_to(value); }
template <class T>
T value_from(nb::handle value) {
  if constexpr (std::is_same_v<T, OptimizerState>)
    return state_from(value);
  else if constexpr (std::is_same_v<T, double>)
    return nb::cast<double>(nb::float_(value));
  else
    return nb::cast<T>(value);
}

template <class T>
std::map<Key, T> map_from(const nb::dict& dict) {
  std::map<Key, T> map;
  for (const auto& [key, value] : dict) map[key_from(key)] = value_from<T>(value);
  return map;
}

// ---- Views of the dictionaries inside -----------------------------------------------------------

/// A C++ dictionary that keeps its owner alive; the package wraps it in a MutableMapping.
template <class T>
struct MapView {
  std::shared_ptr<void> owner;
  std::map<Key, T>* map;
  std::function<void()> before_change = {};  ///< called before each change of the dictionary

  std::map<Key, T>& edit() const {
    if (before_change) before_change();
    return *map;
  }
};

template <class T>
void bind_view(nb::module_& m, const char* name) {
  using V = MapView<T>;
  nb::class_<V>(m, name)
      .def("get",
           [](const V& v, nb::handle key) -> nb::object {
             const auto it = v.map->find(key_from(key));
             if (it != v.map->end()) return value_to(it->second);
             PyErr_SetObject(PyExc_KeyError, key.ptr());
             throw nb::python_error();
           })
      .def("contains",
           [](const V& v, nb::handle key) {
             if (!nb::isinstance<nb::str>(key) && PyIndex_Check(key.ptr()) == 0) return false;
             return v.map->contains(key_from(key));
           })
      .def(
          "set",
          [](const V& v, nb::handle key, nb::handle value) {
            v.edit()[key_from(key)] = value_from<T>(value);
          },
          nb::arg("key"), nb::arg("value").none())
      .def("delete",
           [](const V& v, nb::handle key) {
             if (v.edit().erase(key_from(key)) > 0) return;
             PyErr_SetObject(PyExc_KeyError, key.ptr());
             throw nb::python_error();
           })
      .def("__len__", [](const V& v) { return v.map->size(); })
      .def("keys",
           [](const V& v) {
             nb::list keys;
             for (const auto& [key, value] : *v.map) keys.append(key_to(key));
             return keys;
           })
      .def("assign", [](const V& v, const nb::dict& dict) { v.edit() = map_from<T>(dict); });
}

// ---- Optimizer ----------------------------------------------------------------------------------

OptimizerPtr make(const std::string& class_name) {
  return class_name.empty() ? std::make_shared<Optimizer>() : make_optimizer(class_name);
}

nb::list names(Optimizer& o) {
  nb::list names;
  for (const AttrField& field : o.fields().attributes.fields()) names.append(field.name);
  return names;
}

/// The error for unknown keywords of a constructor.
void refuse(Optimizer& o, const nb::dict& unknown) {
  OptimizerParams params;
  for (const auto& [name, value] : unknown) params.emplace(nb::cast<std::string>(name), 0);
  o.configure(params);
}

void set_hooks(Optimizer& o, nb::handle lr, nb::handle wd, nb::handle count, nb::handle warn) {
  OptimizerHooks hooks;
  const auto number = [](nb::handle function) -> std::function<double(const Key&)> {
    if (function.is_none()) return {};
    return [held = std::make_shared<HeldObject>(nb::borrow(function))](const Key& key) {
      const nb::gil_scoped_acquire acquire;
      return nb::cast<double>(nb::float_(nb::object(held->object(key_to(key)))));
    };
  };
  hooks.lr = number(lr);
  hooks.wd = number(wd);
  if (!count.is_none())
    hooks.count = [held = std::make_shared<HeldObject>(nb::borrow(count))](const Key& key) {
      const nb::gil_scoped_acquire acquire;
      held->object(key_to(key));
    };
  if (!warn.is_none())
    hooks.warn = [held = std::make_shared<HeldObject>(nb::borrow(warn))](const std::string& text) {
      const nb::gil_scoped_acquire acquire;
      held->object(value_to(text));
    };
  o.set_hooks(std::move(hooks));
}

void set_parameters(Optimizer& o, const nb::dict& idx2name, nb::handle attrs,
                    nb::handle arguments) {
  SymbolFacts facts;
  for (const nb::handle name : nb::iter(arguments))
    facts.arguments.push_back(nb::cast<std::string>(name));
  for (const auto& [name, dict] : nb::cast<nb::dict>(attrs))
    facts.attrs[nb::cast<std::string>(name)] = attr_dict_from(dict);
  o.set_parameters(map_from<std::string>(idx2name), facts);
}

nb::tuple symbol_facts(Optimizer& o) {
  const SymbolFacts& facts = o.symbol_facts();
  if (facts.arguments.empty()) return nb::make_tuple();
  nb::dict attrs;
  for (const auto& [name, dict] : facts.attrs) {
    nb::dict one;
    for (const auto& [key, value] : dict) one[value_to(key)] = value_to(value);
    attrs[value_to(name)] = one;
  }
  nb::list arguments;
  for (const std::string& name : facts.arguments) arguments.append(value_to(name));
  return nb::make_tuple(attrs, arguments);
}

void update(Optimizer& o, nb::handle key, nb::handle weight, nb::handle grad, nb::handle state,
            bool mixed) {
  const Key k = key_from(key);
  const NDArray w = writable_from(weight, "weight"), g = array_from(grad, "grad");
  const OptimizerState s = state_from(state);
  const nb::gil_scoped_release release;
  if (mixed)
    o.update_multi_precision(k, w, g, s);
  else
    o.update(k, w, g, s);
}

void update_group(Optimizer& o, nb::handle keys, nb::handle weights, nb::handle grads,
                  nb::handle states) {
  const std::vector<Key> k = keys_from(keys);
  const std::vector<NDArray> w = writables_from(weights, "weight"), g = arrays_from(grads, "grad");
  std::vector<OptimizerState> s;
  for (const nb::handle state : nb::iter(states)) s.push_back(state_from(state));
  if (k.size() != w.size() || k.size() != g.size() || k.size() != s.size())
    throw Error(ErrorKind::kValue, "an update needs a weight, a gradient and a state for each key");
  if (k.empty()) return;
  const nb::gil_scoped_release release;
  o.update_group(k, w, g, s);
}

const Fields::Dict& dict_of(Optimizer& o, const std::string& name) {
  for (const Fields::Dict& dict : o.fields().dicts)
    if (dict.name == name) return dict;
  throw Error(ErrorKind::kName, o.class_name() + " has no dictionary '" + name + "'");
}

void bind_core(nb::module_& m) {
  using O = Optimizer;
  nb::class_<O>(m, "Optimizer")
      .def("class_name", &O::class_name)
      .def("names", &names)
      .def("empty_dicts",
           [](O& o) {
             nb::list names;
             for (const std::string& name : o.fields().empty_dicts) names.append(value_to(name));
             return names;
           })
      .def("dict_names",
           [](O& o) {
             nb::list names;
             for (const Fields::Dict& dict : o.fields().dicts) names.append(value_to(dict.name));
             return names;
           })
      .def("get_dict", [](O& o, const std::string& n) { return plain_to(dict_of(o, n).get()); })
      .def("set_dict", [](O& o, const std::string& n,
                          nb::handle value) { dict_of(o, n).set(plain_from(value).deep_copy()); })
      .def("get",
           [](O& o, const std::string& n) {
             return field_to(field_of(o.fields(), n, o.class_name()));
           })
      .def(
          "set",
          [](O& o, const std::string& n, nb::handle value) {
            field_from(field_of(o.fields(), n, o.class_name()), value, o.class_name());
          },
          nb::arg("name"), nb::arg("value").none())
      .def("refuse", &refuse)
      .def("set_hooks", &set_hooks, nb::arg("lr").none(), nb::arg("wd").none(),
           nb::arg("count").none(), nb::arg("warn").none())
      .def("set_parameters", &set_parameters)
      .def("symbol_facts", &symbol_facts)
      .def(
          "set_scheduler",
          [](O& o, std::shared_ptr<LRScheduler> s) { o.set_lr_scheduler(std::move(s)); },
          nb::arg("scheduler").none())
      .def("learning_rate", &O::learning_rate)
      .def("set_lr_mult", [](O& o, const nb::dict& d) { o.set_lr_mult(map_from<double>(d)); })
      .def("set_wd_mult", [](O& o, const nb::dict& d) { o.set_wd_mult(map_from<double>(d)); })
      .def("get_lr", [](O& o, nb::handle key) { return o.get_lr(key_from(key)); })
      .def("get_wd", [](O& o, nb::handle key) { return o.get_wd(key_from(key)); })
      .def("update_count", [](O& o, nb::handle key) { o.update_count(key_from(key)); })
      .def("set_current_context", &O::set_current_context)
      .def("create_state",
           [](O& o, nb::handle key, nb::handle weight) {
             return state_to(o.create_state(key_from(key), array_from(weight, "weight")));
           })
      .def("create_state_multi_precision",
           [](O& o, nb::handle key, nb::handle weight) {
             return state_to(
                 o.create_state_multi_precision(key_from(key), array_from(weight, "weight")));
           })
      .def("update", &update, nb::arg("key"), nb::arg("weight"), nb::arg("grad"),
           nb::arg("state").none(), nb::arg("mixed"))
      .def(
          "update_lazily",
          [](O& o, nb::handle key, nb::handle weight, nb::handle grad, nb::handle state) {
            o.update_lazily(key_from(key), array_from(weight, "weight"), array_from(grad, "grad"),
                            state_from(state));
          },
          nb::arg("key"), nb::arg("weight"), nb::arg("grad"), nb::arg("state").none())
      .def("update_group", &update_group);
  m.def("make_optimizer", &make, nb::arg("class_name"));
  m.def("view_lr_mult", [](const OptimizerPtr& o) { return MapView<double>{o, &o->lr_mult()}; });
  m.def("view_wd_mult", [](const OptimizerPtr& o) { return MapView<double>{o, &o->wd_mult()}; });
  m.def("view_idx2name", [](const OptimizerPtr& o) {
    return MapView<std::string>{o, &o->idx2name()};
  });
  m.def("view_counts", [](const OptimizerPtr& o) {
    return MapView<std::int64_t>{o, &o->counts()};
  });
  m.def("view_all_counts", [](const OptimizerPtr& o) {
    nb::dict all;
    for (auto& [device, counts] : o->all_counts())
      all[nb::int_(device)] = MapView<std::int64_t>{o, &counts};
    return all;
  });
  m.def("set_all_counts", [](const OptimizerPtr& o, const nb::dict& all) {
    std::map<std::int64_t, Optimizer::Counts> counts;
    for (const auto& [device, dict] : all)
      counts[nb::cast<std::int64_t>(device)] = map_from<std::int64_t>(nb::cast<nb::dict>(dict));
    counts[0];
    o->all_counts() = std::move(counts);
    o->set_current_context(0);
  });
}

// ---- Updater ------------------------------------------------------------------------------------

void call_updater(Updater& u, nb::handle key, nb::handle grad, nb::handle weight) {
  if (!nb::isinstance<nb::list>(key) && !nb::isinstance<nb::tuple>(key)) {
    const Key k = key_from(key);
    const NDArray g = array_from(grad, "grad"), w = writable_from(weight, "weight");
    const nb::gil_scoped_release release;
    u.update({&k, 1}, {&g, 1}, {&w, 1});
    return;
  }
  const std::vector<Key> keys = keys_from(key);
  const std::vector<NDArray> g = arrays_from(grad, "grad"), w = writables_from(weight, "weight");
  const nb::gil_scoped_release release;
  u.update(keys, g, w);
}

void bind_updater(nb::module_& m) {
  using U = Updater;
  nb::class_<U>(m, "Updater")
      .def(nb::init<OptimizerPtr>())
      .def("__call__", &call_updater)
      .def("update_lazily",
           [](U& u, nb::handle key, nb::handle grad, nb::handle weight) {
             const NDArray w = array_from(weight, "weight");
             const Key k = key_from(key);
             u.optimizer()->set_current_context(w.context().id);
             u.optimizer()->update_lazily(k, w, array_from(grad, "grad"), u.state_for(k, w));
           })
      .def("get_states",
           [](const U& u, Flag dump_optimizer) {
             const std::string bytes = u.get_states(dump_optimizer);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("load", [](U& u, const nb::dict& states, const std::string& source) {
        u.set_states(map_from<OptimizerState>(states), source);
      });
  using P = std::shared_ptr<U>;
  m.def("view_states", [](const P& u) {
    return MapView<OptimizerState>{u, &u->edit_states(), [u] { u->edit_states(); }};
  });
  m.def("view_states_synced", [](const P& u) {
    return MapView<bool>{u, &u->edit_states_synced(), [u] { u->edit_states_synced(); }};
  });
}

}  // namespace

void bind_optimizer(nb::module_& m) {
  bind_view<double>(m, "NumbersByKey");
  bind_view<std::string>(m, "TextsByKey");
  bind_view<std::int64_t>(m, "CountsByKey");
  bind_view<bool>(m, "FlagsByKey");
  bind_view<OptimizerState>(m, "StatesByKey");
  bind_core(m);
  bind_updater(m);
}

}  // namespace symbind::python
