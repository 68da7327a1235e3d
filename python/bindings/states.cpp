// Files of optimizer states, from and to Python objects. Two functions of the package convert
// objects that are not plain data: one to a name with attributes, one back.

#include <symbind/detail/states.h>

#include "training.h"

namespace symbind::python {
namespace {

using Kind = StateValue::Kind;

void add_items(StateValue& out, const nb::dict& dict, nb::handle take_apart, int depth) {
  for (const auto& [key, item] : dict)
    out.add(value_from(key, take_apart, depth + 1), value_from(item, take_apart, depth + 1));
}

/// A number of any size.
StateValue int_from(nb::handle v) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(v.ptr(), &overflow);
  if (overflow == 0) return StateValue::of(std::int64_t{value});
  return {.kind = Kind::kInt, .text = nb::cast<std::string>(nb::str(v))};
}

}  // namespace

StateValue value_from(nb::handle v, nb::handle take_apart, int depth) {
  if (depth > 60) throw Error(ErrorKind::kValue, "states are nested too deeply, or in a circle");
  if (v.is_none()) return {};
  if (nb::isinstance<nb::bool_>(v)) return StateValue::of(nb::cast<bool>(v));
  if (nb::isinstance<nb::int_>(v)) return int_from(v);
  if (nb::isinstance<nb::float_>(v)) return StateValue::of(nb::cast<double>(v));
  if (nb::isinstance<nb::str>(v)) return StateValue::of(nb::cast<std::string>(v));
  if (is_array(v)) return StateValue::of(array_from(v));
  StateValue out;
  if (PyBytes_Check(v.ptr()) || PyByteArray_Check(v.ptr())) {
    const nb::bytes bytes(v);
    out.kind = Kind::kBytes;
    out.text.assign(bytes.c_str(), bytes.size());
  } else if (nb::isinstance<nb::tuple>(v) || nb::isinstance<nb::list>(v)) {
    out.kind = nb::isinstance<nb::tuple>(v) ? Kind::kTuple : Kind::kList;
    for (const nb::handle item : nb::iter(v))
      out.items.push_back(value_from(item, take_apart, depth + 1));
  } else if (nb::isinstance<nb::dict>(v)) {
    out.kind = Kind::kDict;
    add_items(out, nb::borrow<nb::dict>(v), take_apart, depth);
  } else {  // (name, attributes), or a plain value in its place
    const nb::object parts = take_apart(v);
    if (!nb::isinstance<nb::tuple>(parts)) return value_from(parts, take_apart, depth + 1);
    out.kind = Kind::kObject;
    out.text = nb::cast<std::string>(parts[0]);
    add_items(out, nb::cast<nb::dict>(parts[1]), take_apart, depth);
  }
  return out;
}

namespace {

nb::object text_to(const std::string& text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

/// Python hashes these fast, and a file cannot choose their collisions. The other kinds are lists,
/// which cannot be keys, and numbers of any length, whose hashes a file can choose.
void check_key(const StateValue& key) {
  const bool plain = key.kind == Kind::kNone || key.kind == Kind::kBool ||
                     key.kind == Kind::kFloat || key.kind == Kind::kText ||
                     key.kind == Kind::kBytes || (key.kind == Kind::kInt && key.text.empty());
  if (plain) return;
  if (key.kind != Kind::kTuple)
    throw Error(ErrorKind::kIo, "a key of a dictionary is neither a number nor a name");
  for (const StateValue& item : key.items) check_key(item);
}

}  // namespace

nb::object value_to(const StateValue& v, nb::handle put_together) {
  switch (v.kind) {
    case Kind::kNone: return nb::none();
    case Kind::kBool: return nb::bool_(v.integer != 0);
    case Kind::kInt:
      if (v.text.empty()) return nb::int_(v.integer);
      return nb::module_::import_("builtins").attr("int")(text_to(v.text), 0);
    case Kind::kFloat: return nb::float_(v.number);
    case Kind::kText: return text_to(v.text);
    case Kind::kBytes: return nb::bytes(v.text.data(), v.text.size());
    case Kind::kArray: return array_to(v.array);
    case Kind::kTuple:
    case Kind::kList: {
      nb::list items;
      for (const StateValue& item : v.items) items.append(value_to(item, put_together));
      if (v.kind == Kind::kList) return items;
      return nb::tuple(items);
    }
    case Kind::kDict:
    case Kind::kObject: break;
  }
  nb::dict dict;
  for (std::size_t i = 0; i + 1 < v.items.size(); i += 2) {
    check_key(v.items[i]);
    dict[value_to(v.items[i], put_together)] = value_to(v.items[i + 1], put_together);
  }
  if (v.kind == Kind::kDict) return dict;
  return put_together(text_to(v.text), dict);
}

StateValue plain_from(nb::handle v) {
  const nb::object refuse = nb::cpp_function([](nb::handle item) -> nb::object {
    throw Error(
        ErrorKind::kType,
        "a state holds a " + nb::cast<std::string>(nb::str(item.type().attr("__name__"))) +
            ": only numbers, texts, bytes, NDArrays and tuples, lists and dicts of them are "
            "saved");
  });
  return value_from(v, refuse);
}

nb::object plain_to(const StateValue& v) { return value_to(v, nb::none()); }

namespace {

nb::object load(nb::handle bytes, const std::string& source, nb::handle known,
                nb::handle put_together) {
  if (!PyBytes_Check(bytes.ptr()) && !PyByteArray_Check(bytes.ptr()))
    throw Error(ErrorKind::kType, source + ": states are bytes");
  const nb::bytes data(bytes);
  const StateValue value =
      load_states({data.c_str(), data.size()}, source,
                  [&known](const std::string& module, const std::string& name) {
                    return nb::cast<bool>(nb::object(known(text_to(module), text_to(name))));
                  });
  return value_to(value, put_together);
}

}  // namespace

void bind_states(nb::module_& m) {
  m.def(
      "dump_states",
      [](nb::handle value, nb::handle take_apart) {
        const std::string bytes = dump_states(value_from(value, take_apart, 0));
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("value").none(), nb::arg("take_apart"));
  m.def("set_saved_attributes", [](Optimizer& optimizer, const nb::dict& attributes) {
    set_saved_attributes(optimizer, plain_from(attributes));
  });
  m.def("set_saved_attributes", [](LRScheduler& scheduler, const nb::dict& attributes) {
    Fields fields;
    scheduler.describe(fields);
    set_fields(fields, plain_from(attributes));
  });
  m.def("load_states", &load, nb::arg("bytes"), nb::arg("source"), nb::arg("known"),
        nb::arg("put_together"));
}

}  // namespace symbind::python
