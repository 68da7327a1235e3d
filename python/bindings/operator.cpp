// Operator functions: mx.nd.FullyConnected(...) and mx.sym.FullyConnected(...) are objects of the
// two classes here, one per name in the registry. Signature and documentation are generated from
// the operator on demand, so that importing costs nothing.
//
// Decisions: positional arguments are inputs as long as they are arrays (or None in the place of an
// input), then parameters in their declared order. Keywords name inputs or parameters. Anything
// that is not an array becomes the text that MXNet would store. The values of the parameters are
// the cache key of a call on arrays, so a repeated call makes no text of them.

#include <algorithm>
#include <optional>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "convert.h"

#include <symbind/autograd.h>
#include <symbind/detail/op_call.h>
#include <symbind/detail/op_info.h>

namespace symbind::python {
namespace {

/// The text of a str; valid as long as the object.
std::string_view view_of(nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data == nullptr) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

// Whether the inputs are a list: of any length, or determined by the attributes (Custom).
bool takes_list(const OpDef& op) { return !op.variadic_key.empty() || op.take_rest != nullptr; }

/// The parameters of a call, in the given order; valid as long as its arguments. Values that cannot
/// change are kept; others (lists, objects) become text at once, so that key and texts always
/// agree.
class Params {
 public:
  void add(std::string_view name, nb::handle value) {
    OptionKey(key_).add(name);
    const std::size_t start = key_.size();
    given_.push_back({name, value, {}});
    if (append(value, 0)) return;
    key_.resize(start);
    OptionKey(key_).add(given_.back().text.emplace(attr_text(value)));
  }
  /// As MXNet stores them; of two with the same name the later one is used.
  AttrDict texts() const {
    AttrDict all;
    for (const Given& g : given_) all[std::string(g.name)] = g.text ? *g.text : attr_text(g.value);
    return all;
  }
  /// Equal bytes, equal texts.
  const std::string& key() const { return key_; }
  /// For a call that releases the GIL.
  CallOptions options() const {
    return {this,
            [](const void* self, std::string& to) { to += static_cast<const Params*>(self)->key_; },
            [](const void* self) {
              const nb::gil_scoped_acquire acquire;
              return static_cast<const Params*>(self)->texts();
            }};
  }

 private:
  struct Given {
    std::string_view name;
    nb::handle value;
    std::optional<std::string> text;
  };
  /// Appends type and bits of a value of a built-in type whose objects never change; false for any
  /// other, or one that nests deeply.
  bool append(nb::handle value, int depth) {
    constexpr int kDeepest = 4;
    PyObject* const v = value.ptr();
    OptionKey key(key_);
    int overflow = 1;
    const long long whole = PyLong_CheckExact(v) ? PyLong_AsLongLongAndOverflow(v, &overflow) : 0;
    key.add(Py_TYPE(v));
    if (PyTuple_CheckExact(v)) {
      key.add(PyTuple_GET_SIZE(v));
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(v); ++i)
        if (depth == kDeepest || !append(PyTuple_GET_ITEM(v, i), depth + 1)) return false;
    } else if (PyUnicode_CheckExact(v)) {
      key.add(view_of(value));
    } else if (PyFloat_CheckExact(v)) {
      key.add(PyFloat_AS_DOUBLE(v));
    } else if (overflow == 0) {
      key.add(whole);
    } else {
      key.add(v == Py_True);
      return v == Py_None || PyBool_Check(v);
    }
    return true;
  }

  std::vector<Given> given_;
  std::string key_;
};

struct OpFunction {
  std::string called;  ///< one of the operator's names
  std::string name;    ///< the function's: the hint for generated names
  const OpDef* op = nullptr;
  std::vector<std::string> inputs, params;  ///< all inputs there may be
  bool inputs_vary = false;                 ///< the parameters decide which are present
  /// The inputs of the last call that named some, with the key of its parameters.
  mutable std::pair<std::string, std::vector<std::string>> last_inputs;

  explicit OpFunction(const std::string& operator_name, const std::string& function_name = "")
      : called(operator_name),
        name(function_name.empty() ? called : function_name),
        op(&OpRegistry::global().get(called)) {
    const auto attrs = op->make_attrs();
    inputs = most_input_names(*op);
    inputs_vary = takes_list(*op) || inputs != op->input_names(attrs.get());
    for (const AttrField& field : op->describe(attrs.get())) params.push_back(field.name);
    params.insert(params.end(), op->ignored_attrs.begin(), op->ignored_attrs.end());
  }
};
struct ArrayFunction : OpFunction {
  using OpFunction::OpFunction;
};
struct SymbolFunction : OpFunction {
  using OpFunction::OpFunction;
};

/// The arguments of a call, sorted.
template <class T>
struct Call {
  std::vector<T> inputs;  ///< positional ones
  std::vector<std::pair<std::string, T>> by_keyword;
  std::vector<const T*> given;  ///< the arrays themselves, in the order of the arguments
  Params params;
  nb::object out = nb::none(), name = nb::none(), attr = nb::none();
};

template <class T>
const T* value_in(nb::handle object) {
  if constexpr (std::is_same_v<T, NDArray>)
    return array_in(object);
  else
    return symbol_in(object);
}

bool is_given(const NDArray& array) { return array.defined(); }
bool is_given(const Symbol& symbol) { return symbol.num_outputs() > 0; }

template <class T>
void add_positional(const OpFunction& f, nb::handle value, Call<T>& call, std::size_t& param) {
  if (const T* input = value_in<T>(value)) {
    if (param > 0) throw Error(ErrorKind::kType, f.name + ": inputs come before parameters");
    call.inputs.push_back(*input);
    call.given.push_back(input);
    return;
  }
  const bool may_be_input = param == 0 && call.inputs.size() < f.inputs.size();
  if (may_be_input && value.is_none()) {
    call.inputs.emplace_back();
    return;
  }
  const bool is_sequence = nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value);
  if (param == 0 && !f.op->variadic_key.empty() && is_sequence && nb::len(value) > 0 &&
      value_in<T>(nb::object(value[0])) != nullptr) {  // Concat([a, b])
    for (const nb::handle item : value) {
      const T* input = value_in<T>(item);
      if (input == nullptr)
        throw Error(ErrorKind::kType,
                    f.name + ": the list of inputs holds " + nb::repr(item).c_str());
      call.inputs.push_back(*input);
      call.given.push_back(input);
    }
    return;
  }
  if (param >= f.params.size())
    throw Error(ErrorKind::kType,
                f.name + " takes " + std::to_string(f.inputs.size()) + " inputs and " +
                    std::to_string(f.params.size()) +
                    " parameters; this is one too many: " + nb::repr(value).c_str());
  call.params.add(f.params[param++], value);
}

template <class T>
Call<T> sort_arguments(const OpFunction& f, const nb::args& args, const nb::kwargs& kwargs) {
  Call<T> call;
  std::size_t param = 0;
  for (const nb::handle value : args) add_positional(f, value, call, param);
  while (!call.inputs.empty() && !is_given(call.inputs.back())) call.inputs.pop_back();
  for (const auto& [key, value] : kwargs) {
    const std::string_view name = view_of(key);
    if (name == "out") {
      call.out = nb::borrow(value);
    } else if (name == "name") {
      call.name = nb::borrow(value);
    } else if (name == "attr" && !std::ranges::count(f.params, name)) {
      call.attr = nb::borrow(value);
    } else if (const T* input = value_in<T>(value)) {
      call.by_keyword.emplace_back(std::string(name), *input);
      call.given.push_back(input);
    } else if (nb::handle(value).is_none() && std::ranges::count(f.inputs, name)) {
      continue;
    } else if (!f.op->variadic_key.empty() && !std::ranges::count(f.params, name) &&
               (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value))) {
      for (const nb::handle item : nb::handle(value))  // add_n(args=[a, b]), stack(data=[…])
        if (const T* element = value_in<T>(item)) call.inputs.push_back(*element);
    } else if (std::ranges::count(f.inputs, name) && !std::ranges::count(f.params, name)) {
      throw Error(ErrorKind::kType, f.name + ": input '" + std::string(name) + "' must be " +
                                        (std::is_same_v<T, NDArray> ? "an NDArray" : "a Symbol") +
                                        ", not " + nb::repr(nb::handle(value).type()).c_str());
    } else {
      call.params.add(name, value);
    }
  }
  return call;
}

/// Positional and named inputs in the operator's order; missing ones at the end are left out.
std::vector<NDArray> ordered(const OpFunction& f, Call<NDArray>& call, std::string key) {
  std::vector<NDArray> inputs = std::move(call.inputs);
  if (call.by_keyword.empty()) return inputs;
  std::vector<std::string> names = f.inputs;
  if (f.inputs_vary) {  // LeakyReLU has a gamma when act_type is 'prelu'
    const std::size_t given = inputs.size() + call.by_keyword.size();
    OptionKey(key).add(given);
    if (f.last_inputs.first != key)
      f.last_inputs = {key,
                       f.op->input_names(f.op->parse(call.params.texts(), f.name, given).get())};
    names = f.last_inputs.second;
  }
  for (auto& [name, array] : call.by_keyword) {
    const auto it = std::ranges::find(names, name);
    if (it == names.end()) throw Error(ErrorKind::kName, f.name + " has no input '" + name + "'");
    const auto at = static_cast<std::size_t>(it - names.begin());
    if (inputs.size() <= at) inputs.resize(at + 1);
    inputs[at] = array;
  }
  return inputs;
}

/// Copies autograd's links from the input handles to the objects they were copied from.
void keep_record(const std::vector<const NDArray*>& given, const std::vector<NDArray>& inputs) {
  for (const NDArray* object : given)
    for (const NDArray& input : inputs)
      if (input.tape().node != nullptr && input.storage() == object->storage() &&
          input.byte_offset() == object->byte_offset() && input.shape() == object->shape())
        object->set_tape(input.tape());
}

/// Returns the arrays given as `out` in place of the results.
void keep_record(nb::handle out, const std::vector<NDArray>& results) {
  if (is_array(out)) return array_from(out).set_tape(results.front().tape());
  std::size_t i = 0;
  for (const nb::handle each : out) array_from(each).set_tape(results[i++].tape());
}

nb::object call_arrays(const ArrayFunction& f, const nb::args& args, const nb::kwargs& kwargs) {
  Call<NDArray> call = sort_arguments<NDArray>(f, args, kwargs);
  const std::vector<NDArray> inputs = ordered(f, call, call.params.key());
  const std::vector<NDArray> out = writables_from(call.out, "out");
  std::vector<NDArray> results;
  {
    const nb::gil_scoped_release release;
    results = invoke(*f.op, inputs, call.params.options(), out);
  }
  if (autograd::is_recording()) {
    keep_record(call.given, inputs);
    if (!call.out.is_none()) keep_record(call.out, results);
  }
  if (!call.out.is_none()) return call.out;
  if (results.size() == 1) return array_to(std::move(results.front()));
  return arrays_to(results);
}

nb::object call_symbols(const SymbolFunction& f, const nb::args& args, const nb::kwargs& kwargs) {
  Call<Symbol> call = sort_arguments<Symbol>(f, args, kwargs);
  std::string hint = f.name;
  std::ranges::transform(hint, hint.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto name = nb::cast<std::string>(registered("name_for")(call.name, hint));
  AttrDict attrs = attr_dict_from(registered("attrs_for")(call.attr));
  attrs.merge(call.params.texts());
  if (call.by_keyword.empty()) return symbol_to(make_symbol(f.called, name, call.inputs, attrs));
  NamedSymbols named;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (i >= f.inputs.size())
      throw Error(ErrorKind::kType, f.name + ": inputs can be given in order or by name, not both");
    named.emplace_back(f.inputs[i], call.inputs[i]);
  }
  named.insert(named.end(), call.by_keyword.begin(), call.by_keyword.end());
  return symbol_to(make_symbol(f.called, name, named, attrs));
}

nb::dict info(const OpDef& op) {
  const auto attrs = op.make_attrs();
  nb::list params;
  for (const AttrField& field : op.describe(attrs.get()))
    params.append(nb::make_tuple(
        field.name, attr_type_text(field), field.doc,
        field.is_required ? nb::none() : nb::object(nb::str(attr_text(field).c_str()))));
  nb::dict result;
  result["name"] = op.name;
  result["doc"] = op.doc;
  result["inputs"] = most_input_names(op);
  result["params"] = params;
  result["variadic_key"] = op.variadic_key;
  result["takes_list"] = takes_list(op);
  result["outputs"] = visible_outputs(op);
  return result;
}

template <class F>
nb::class_<F> bind_function(nb::module_& m, const char* name) {
  return nb::class_<F>(m, name, nb::dynamic_attr(), nb::is_weak_referenceable())
      .def(nb::init<const std::string&, const std::string&>(), nb::arg("op"), nb::arg("name") = "")
      // Not properties: the class itself has these two attributes.
      .def("__getattr__",
           [](const F& f, const std::string& attribute) {
             if (attribute == "__name__" || attribute == "__qualname__") return f.name;
             throw nb::attribute_error(
                 ("operator function " + f.name + " has no attribute " + attribute).c_str());
           })
      .def_prop_ro("__signature__",
                   [](const F& f) {
                     return registered("signature_of")(f.called, std::is_same_v<F, ArrayFunction>);
                   })
      .def_prop_ro("__doc__",
                   [](const F& f) {
                     return registered("doc_of")(f.called, std::is_same_v<F, ArrayFunction>);
                   })
      .def("__repr__", [](const F& f) { return "<function " + f.name + ">"; })
      .def("__reduce__",
           [](nb::handle self) {
             const F& f = nb::cast<const F&>(self);
             return nb::make_tuple(self.type(), nb::make_tuple(f.called, f.name));
           })
      .def(
          "__get__",
          [](nb::handle self, nb::handle instance, nb::handle) {
            return instance.is_none() ? nb::borrow(self)
                                      : nb::steal(PyMethod_New(self.ptr(), instance.ptr()));
          },
          nb::arg("instance").none(), nb::arg("owner").none() = nb::none());
}

}  // namespace

void bind_operator(nb::module_& m) {
  bind_function<ArrayFunction>(m, "ArrayFunction").def("__call__", &call_arrays);
  bind_function<SymbolFunction>(m, "SymbolFunction").def("__call__", &call_symbols);
  m.def(
      "list_ops",
      [] {
        std::vector<std::string> names;
        const OpRegistry& registry = OpRegistry::global();
        for (const std::string& name : registry.names()) {
          const OpDef& op = *registry.find(name);
          if (!is_public(op)) continue;
          names.push_back(name);
          names.insert(names.end(), op.aliases.begin(), op.aliases.end());
        }
        std::ranges::sort(names);
        return names;
      },
      "Every name of the operators users may call, in alphabetical order.");
  m.def("_texts_made", attr_texts_made,
        "How many parameters were converted to text. A repeated call converts none.");
  m.def("op_info", [](const std::string& name) { return info(OpRegistry::global().get(name)); });
  m.def(
      "invoke",
      [](const std::string& op, nb::handle inputs, nb::handle attrs, nb::handle out) {
        return arrays_to(invoke(op, arrays_from(inputs, "an input"), attr_dict_from(attrs),
                                writables_from(out, "out")));
      },
      nb::arg("op"), nb::arg("inputs"), nb::arg("attrs").none(), nb::arg("out").none());
}

}  // namespace symbind::python
