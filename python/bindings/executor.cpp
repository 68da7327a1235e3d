// Executor: the GIL is released while a network runs; a monitor acquires it for its call.

#include <symbind/explain.h>

#include "convert.h"
#include "flag.h"

namespace symbind::python {
namespace {

void set_monitor(Executor& executor, nb::handle callback, Flag all) {
  if (callback.is_none()) return executor.set_monitor_callback(nullptr, all);
  auto shared = std::make_shared<HeldObject>(nb::borrow(callback));
  executor.set_monitor_callback(
      [shared](const std::string& name, const NDArray& value) {
        const nb::gil_scoped_acquire acquire;
        shared->object(nb::bytes(name.data(), name.size()), array_to(value));
      },
      all);
}

nb::list forward(Executor& executor, Flag is_train, nb::handle feed) {
  const NDArrayMap arrays = array_map_from(feed, "an array to forward");
  {
    const nb::gil_scoped_release release;
    executor.forward(is_train, arrays);
  }
  return arrays_to(executor.outputs());
}

void backward(Executor& executor, nb::handle head_grads) {
  if (nb::isinstance<nb::dict>(head_grads)) {
    const NDArrayMap grads = array_map_from(head_grads, "a head gradient");
    const nb::gil_scoped_release release;
    executor.backward(grads);
  } else {
    const std::vector<NDArray> grads = arrays_from(head_grads, "a head gradient");
    const nb::gil_scoped_release release;
    executor.backward(grads);
  }
}

Executor reshape(const Executor& executor, const nb::dict& given, Flag partial, Flag up_sizing) {
  ShapeMap shapes;
  for (const auto& [name, shape] : given) shapes[nb::cast<std::string>(name)] = shape_from(shape);
  const nb::gil_scoped_release release;
  return executor.reshape(shapes, {.partial_shaping = partial, .allow_up_sizing = up_sizing});
}

}  // namespace

void bind_executor(nb::module_& m) {
  using E = Executor;
  nb::class_<E>(m, "Executor", nb::is_weak_referenceable(), nb::dynamic_attr())
      .def("_forward", &forward, nb::arg("is_train"), nb::arg("feed").none())
      .def("_backward", &backward)
      .def("_outputs", [](const E& e) { return arrays_to(e.outputs()); })
      .def("_arg_arrays", [](const E& e) { return arrays_to(e.arg_arrays()); })
      .def("_grad_arrays", [](const E& e) { return arrays_to(e.grad_arrays()); })
      .def("_aux_arrays", [](const E& e) { return arrays_to(e.aux_arrays()); })
      .def(
          "_copy_params_from",
          [](E& e, nb::handle args, nb::handle aux, Flag allow_extra) {
            e.copy_params_from(array_map_from(args, "a parameter"),
                               array_map_from(aux, "an auxiliary state"), allow_extra);
          },
          nb::arg("args"), nb::arg("aux").none(), nb::arg("allow_extra"))
      .def("_reshape", &reshape)
      .def("_set_monitor", &set_monitor, nb::arg("callback").none(), nb::arg("all"))
      .def("_optimized_symbol", [](const E& e) { return symbol_to(e.optimized_symbol()); })
      .def(
          "_explain",
          [](const E& e, const std::string& format, const std::string& title) {
            const nb::gil_scoped_release release;
            return explain(e, {.format = format, .title = title});
          },
          nb::arg("format"), nb::arg("title"))
      .def(
          "_explain_to_file",
          [](const E& e, const std::string& path, const std::string& format,
             const std::string& title) {
            const nb::gil_scoped_release release;
            explain_to_file(e, path, {.format = format, .title = title});
          },
          nb::arg("path"), nb::arg("format"), nb::arg("title"))
      .def("plan_text", &E::plan_text, "The compiled plan: steps, kernels, layouts, memory.")
      .def("debug_str", &E::debug_str, "MXNet's debug text, with the executor's memory.");
}

}  // namespace symbind::python
