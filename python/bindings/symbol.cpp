// Symbol: composition, lists, attributes, JSON, inference. Naming and attribute scopes are Python
// (scripts subclass and read them), so this file gets final names.

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>
#include <symbind/control_flow.h>

#include "convert.h"

namespace symbind::python {
namespace {

ShapeMap shape_map_from(const nb::dict& given) {
  ShapeMap shapes;
  for (const auto& [name, shape] : given) shapes[nb::cast<std::string>(name)] = shape_from(shape);
  return shapes;
}
DTypeMap dtype_map_from(const nb::dict& given) {
  DTypeMap types;
  for (const auto& [name, dtype] : given)
    if (!nb::handle(dtype).is_none()) types[nb::cast<std::string>(name)] = dtype_from(dtype);
  return types;
}
ContextMap context_map_from(nb::handle given) {
  ContextMap contexts;
  if (given.is_none()) return contexts;
  for (const auto& [name, context] : nb::cast<nb::dict>(given))
    contexts[nb::cast<std::string>(name)] = context_from(context);
  return contexts;
}

nb::list shapes_to(const std::vector<Shape>& shapes) {
  nb::list list;
  for (const Shape& shape : shapes) list.append(shape_to(shape));
  return list;
}
nb::list dtypes_to(const std::vector<DType>& types) {
  nb::list list;
  for (const DType type : types) list.append(dtype_to(type));
  return list;
}

nb::tuple infer_shape(const Symbol& symbol, const nb::dict& given) {
  const InferredShapes found = symbol.infer_shape_partial(shape_map_from(given));
  return nb::make_tuple(shapes_to(found.args), shapes_to(found.outputs), shapes_to(found.aux),
                        found.complete);
}
nb::tuple infer_type(const Symbol& symbol, const nb::dict& given) {
  const InferredTypes found = symbol.infer_type(dtype_map_from(given));
  return nb::make_tuple(dtypes_to(found.args), dtypes_to(found.outputs), dtypes_to(found.aux),
                        found.complete);
}

GradReqArg grad_req_from(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (nb::isinstance<nb::dict>(value)) return nb::cast<std::map<std::string, std::string>>(value);
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value))
    return nb::cast<std::vector<std::string>>(value);
  throw Error(ErrorKind::kType,
              "grad_req must be a str, a list or a dict of 'write', 'add', 'null'");
}

ArraysArg arrays_arg_from(nb::handle value, const char* what) {
  if (value.is_none()) return NDArrayMap{};
  if (nb::isinstance<nb::dict>(value)) return array_map_from(value, what);
  return arrays_from(value, what);
}

/// The arrays that an executor writes to.
ArraysArg writables_arg_from(nb::handle value, const char* what) {
  if (nb::isinstance<nb::dict>(value))
    for (const auto& [name, array] : nb::cast<nb::dict>(value))
      if (!nb::handle(array).is_none()) writable_from(array, what);
  return nb::isinstance<nb::dict>(value) || value.is_none()
             ? arrays_arg_from(value, what)
             : ArraysArg(writables_from(value, what));
}

const Executor* executor_in(nb::handle value) {
  const Executor* executor = nullptr;
  if (!value.is_none() && !nb::try_cast(value, executor))
    throw Error(ErrorKind::kType, "shared_exec must be an Executor");
  return executor;
}

Executor simple_bind(const Symbol& symbol, nb::handle context, const nb::dict& shapes,
                     nb::handle grad_req, const nb::dict& types, nb::handle group2ctx,
                     nb::handle shared_exec) {
  const SimpleBindOptions options{.grad_req = grad_req_from(grad_req),
                                  .types = dtype_map_from(types),
                                  .group2ctx = context_map_from(group2ctx),
                                  .shared_exec = executor_in(shared_exec)};
  const Context where = context_from(context);
  const ShapeMap given = shape_map_from(shapes);
  const nb::gil_scoped_release release;
  return symbol.simple_bind(where, given, options);
}

Executor bind_arrays(const Symbol& symbol, nb::handle context, nb::handle args,
                     nb::handle args_grad, nb::handle grad_req, nb::handle aux_states,
                     nb::handle group2ctx, nb::handle shared_exec) {
  const BindOptions options{.args_grad = writables_arg_from(args_grad, "a gradient"),
                            .grad_req = grad_req_from(grad_req),
                            .aux_states = writables_arg_from(aux_states, "an auxiliary state"),
                            .group2ctx = context_map_from(group2ctx),
                            .shared_exec = executor_in(shared_exec)};
  const Context where = context_from(context);
  const ArraysArg given = arrays_arg_from(args, "an argument");
  const nb::gil_scoped_release release;
  return symbol.bind(where, given, options);
}

Symbol variable(const std::string& name, nb::handle attrs) {
  return Symbol::variable(name, {.attr = attr_dict_from(attrs)});
}

std::vector<Symbol> symbols_from(nb::handle sequence) {
  std::vector<Symbol> symbols;
  for (const nb::handle item : sequence) {
    const Symbol* symbol = symbol_in(item);
    if (symbol == nullptr)
      throw Error(ErrorKind::kType,
                  "a Symbol is wanted, not " + std::string(nb::repr(item.type()).c_str()));
    symbols.push_back(*symbol);
  }
  return symbols;
}

}  // namespace

void bind_symbol(nb::module_& m) {
  using S = Symbol;
  nb::class_<S>(m, "Symbol", nb::is_weak_referenceable(), nb::dynamic_attr())
      .def(nb::init<>())
      .def("_assign", [](S& self, const S& other) { self = other; })
      .def_prop_ro("_name", &S::name)
      .def("__len__", &S::num_outputs)
      .def("list_arguments", &S::list_arguments,
           "Names of the arguments, in depth-first order from the heads.")
      .def("list_outputs", &S::list_outputs, "Names of the outputs.")
      .def("list_auxiliary_states", &S::list_auxiliary_states,
           "Names of the states operators write, such as moving averages.")
      .def("list_inputs", &S::list_inputs, "Arguments and auxiliary states, in graph order.")
      .def("_attr", &S::attr)
      .def("_list_attr", &S::list_attr)
      .def("attr_dict", &S::attr_dict, "Attributes of every node, by name.")
      .def("_with_attr",
           [](const S& s, const std::string& key, const std::string& value) {
             return symbol_to(s.with_attr(key, value));
           })
      .def(
          "get_internals", [](const S& s) { return symbol_to(s.get_internals()); },
          "A group of every output of every node.")
      .def("_children", [](const S& s) { return symbol_to(s.get_children()); })
      .def("_output", [](const S& s, std::size_t index) { return symbol_to(s[index]); })
      .def("_compose",
           [](const S& s, const nb::dict& given, const std::string& name) {
             std::map<std::string, Symbol> replacements;
             for (const auto& [key, value] : given) {
               const Symbol* symbol = symbol_in(value);
               if (symbol == nullptr)
                 throw Error(ErrorKind::kType, "Compose expect `Symbol` as arguments");
               replacements.emplace(nb::cast<std::string>(key), *symbol);
             }
             return symbol_to(s.compose(replacements, name));
           })
      .def("_json", &S::tojson, nb::call_guard<nb::gil_scoped_release>())
      .def("_infer_shape", &infer_shape)
      .def("_infer_type", &infer_type)
      .def("_simple_bind", &simple_bind, nb::arg("ctx").none(), nb::arg("shapes"),
           nb::arg("grad_req"), nb::arg("types"), nb::arg("group2ctx").none(),
           nb::arg("shared_exec").none())
      .def("_bind", &bind_arrays, nb::arg("ctx").none(), nb::arg("args").none(),
           nb::arg("args_grad").none(), nb::arg("grad_req"), nb::arg("aux_states").none(),
           nb::arg("group2ctx").none(), nb::arg("shared_exec").none())
      .def("_text", &S::str)
      .def("debug_str", &S::debug_str, "Every node with its inputs, one per line.");
  m.def(
      "variable",
      [](const std::string& name, nb::handle attrs) { return symbol_to(variable(name, attrs)); },
      nb::arg("name"), nb::arg("attrs").none());
  m.def("group",
        [](nb::handle symbols) { return symbol_to(Symbol::group(symbols_from(symbols))); });
  m.def("close_loop", [](const std::string& scope, nb::handle data,
                         const std::vector<std::string>& slice_names, nb::handle states,
                         const std::vector<std::string>& state_names, nb::handle outputs,
                         nb::handle new_states, const std::string& name, nb::handle attrs) {
    const LoopResult loop = close_loop({.scope = scope,
                                        .data = symbols_from(data),
                                        .states = symbols_from(states),
                                        .slice_names = slice_names,
                                        .state_names = state_names,
                                        .result = {symbols_from(outputs), symbols_from(new_states)},
                                        .attrs = attr_dict_from(attrs)},
                                       name);
    const auto list = [](const std::vector<Symbol>& symbols) {
      nb::list result;
      for (const Symbol& symbol : symbols) result.append(symbol_to(symbol));
      return result;
    };
    return nb::make_tuple(list(loop.outputs), list(loop.states));
  });
  m.def("load_symbol", [](const std::string& path) {
    Symbol symbol;
    {
      const nb::gil_scoped_release release;
      symbol = Symbol::load(path);
    }
    return symbol_to(std::move(symbol));
  });
  m.def("load_json", [](const std::string& json) {
    Symbol symbol;
    {
      const nb::gil_scoped_release release;
      symbol = Symbol::load_json(json);
    }
    return symbol_to(std::move(symbol));
  });
  m.def(
      "save_symbol", [](const Symbol& symbol, const std::string& path) { symbol.save(path); },
      nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace symbind::python
