// Dry runs: C++ decides, and calls the methods of the package's Trial
// (symbind/module/_dry_run.py).

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <symbind/dry_run.h>

#include "training.h"

namespace symbind::python {
namespace {

DryRunReport run(nb::handle object) {
  const Called trial(object);
  const auto values = [&](const char* method) {
    return [&trial, method] { return trial.call<std::vector<NameValue>>(method); };
  };
  const nb::gil_scoped_release release;
  return try_training(
      {.begin = [&] { trial.call("begin"); },
       .step = [&] { trial.call("step"); },
       .groups = [&] { return trial.call<std::vector<const ExecutorGroup*>>("groups"); },
       .train_values = values("train_values"),
       .evaluate = values("evaluate"),
       .notes = [&] { return trial.get<std::vector<std::string>>("notes"); }});
}

std::optional<std::string> peek_at(nb::handle object) {
  const Called source(object);
  return peek({.next = [&] { return source.call<bool>("fetch"); },
               .reset = [&] { source.call("reset"); },
               .state = [&] { return source.call<std::optional<StateValue>>("state"); },
               .set_state = [&](const StateValue& state) { source.call("set_state", state); }});
}

}  // namespace

void bind_dry_run(nb::module_& m) {
  using R = DryRunReport;
  nb::class_<R>(m, "DryRunReport", "The result of a dry run; see symbind/dry_run.h.")
      .def_ro("parameters", &R::parameters)
      .def_ro("trained", &R::trained)
      .def_ro("auxiliary", &R::auxiliary)
      .def_ro("weight_bytes", &R::weight_bytes)
      .def_ro("gradient_bytes", &R::gradient_bytes)
      .def_ro("batch_bytes", &R::batch_bytes)
      .def_ro("arena_bytes", &R::arena_bytes)
      .def_prop_ro("total_bytes", &R::total_bytes)
      .def_ro("batch_size", &R::batch_size)
      .def_ro("seconds_per_step", &R::seconds_per_step)
      .def_prop_ro("outputs",
                   [](const R& report) {
                     nb::list all;
                     for (const auto& [name, shape] : report.outputs)
                       all.append(nb::make_tuple(name, shape_to(shape)));
                     return all;
                   })
      .def_ro("train", &R::train)
      .def_ro("validation", &R::validation)
      .def_ro("notes", &R::notes)
      .def("__str__", &R::text);
  m.def("try_training", &run, nb::arg("trial"));
  m.def("peek", &peek_at, nb::arg("source"));
}

}  // namespace symbind::python
