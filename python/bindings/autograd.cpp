// The tape: modes of the thread, variables, backward. A Function's backward is Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <symbind/autograd.h>
#include <symbind/symbol.h>

#include "convert.h"
#include "flag.h"
#include "in_python.h"

namespace symbind::python {
namespace {

class PythonFunction : public autograd::Function {
 public:
  PythonFunction(nb::object forward, nb::object backward)
      : forward_(std::move(forward)), backward_(std::move(backward)) {}

  std::vector<NDArray> forward(const std::vector<NDArray>& inputs) override {
    return arrays_from(forward_.object(*nb::tuple(arrays_to(inputs))), "an output of forward");
  }
  std::vector<NDArray> backward(const std::vector<NDArray>& head_grads) override {
    return in_python("autograd.Function: backward", [&] {
      return arrays_from(backward_.object(*nb::tuple(arrays_to(head_grads))),
                         "a gradient of backward");
    });
  }

 private:
  HeldObject forward_, backward_;
};

/// The NDArray inside a Python object, not a copy of its handle.
NDArray& array_in(nb::handle object, const char* what) {
  array_from(object, what);
  return nb::cast<NDArray&>(object);
}

}  // namespace

void bind_autograd(nb::module_& m) {
  m.def("is_recording", &autograd::is_recording);
  m.def("is_training", &autograd::is_training);
  m.def("set_recording", &autograd::set_recording);
  m.def("set_training", &autograd::set_training);
  m.def("mark_variables",
        [](nb::handle variables, nb::handle gradients, const std::vector<std::string>& grad_reqs) {
          std::vector<NDArray*> marked;
          for (const nb::handle each : variables) marked.push_back(&array_in(each, "a variable"));
          autograd::mark_variables(marked, writables_from(gradients, "a gradient"), grad_reqs);
        });
  m.def("attach_grad", [](nb::handle array, const std::string& grad_req) {
    array_in(array, "a variable").attach_grad(grad_req);
  });
  m.def("grad_of", [](const NDArray& array) {
    NDArray gradient = array.grad();
    return gradient.defined() ? array_to(std::move(gradient)) : nb::none();
  });
  m.def(
      "backward",
      [](nb::handle heads, nb::handle head_grads, Flag retain_graph, Flag train_mode) {
        const std::vector<NDArray> from = arrays_from(heads, "a head");
        const autograd::BackwardOptions options{
            .head_grads = arrays_from(head_grads, "a head gradient"),
            .retain_graph = retain_graph,
            .train_mode = train_mode};
        const nb::gil_scoped_release release;
        autograd::backward(from, options);
      },
      nb::arg("heads"), nb::arg("head_grads").none(), nb::arg("retain_graph"),
      nb::arg("train_mode"));
  m.def(
      "grad",
      [](nb::handle heads, nb::handle variables, nb::handle head_grads,
         std::optional<Flag> retain_graph, Flag create_graph, Flag train_mode) {
        const std::vector<NDArray> from = arrays_from(heads, "a head");
        const std::vector<NDArray> to = arrays_from(variables, "a variable");
        std::optional<bool> keep;
        if (retain_graph) keep = retain_graph->value;
        const autograd::GradOptions options{
            .head_grads = arrays_from(head_grads, "a head gradient"),
            .retain_graph = keep,
            .create_graph = create_graph,
            .train_mode = train_mode};
        std::vector<NDArray> results;
        {
          const nb::gil_scoped_release release;
          results = autograd::grad(from, to, options);
        }
        return arrays_to(results);
      },
      nb::arg("heads"), nb::arg("variables"), nb::arg("head_grads").none(),
      nb::arg("retain_graph").none(), nb::arg("create_graph"), nb::arg("train_mode"));
  m.def("get_symbol", [](const NDArray& array) { return symbol_to(autograd::get_symbol(array)); });
  m.def("call_function", [](nb::object forward, nb::object backward, nb::handle inputs) {
    return arrays_to(
        autograd::call(std::make_shared<PythonFunction>(std::move(forward), std::move(backward)),
                       arrays_from(inputs, "an input")));
  });
}

}  // namespace symbind::python
