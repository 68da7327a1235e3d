// What a dry run needs of C++: a batch without moving the iterator, random numbers undone, labels
// checked, and the counts.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <symbind/dry_run.h>
#include <symbind/random.h>

#include "convert.h"

namespace symbind::python {
namespace {

/// The random numbers from here on can be drawn again.
struct RandomMark {
  RandomState state = random_state();
};

nb::dict measured(const nb::list& groups) {
  std::vector<const ExecutorGroup*> all;
  for (nb::handle group : groups) all.push_back(nb::cast<const ExecutorGroup*>(group));
  const DryRunReport report = measure(all);
  nb::dict facts;
  facts["parameters"] = report.parameters;
  facts["trained"] = report.trained;
  facts["auxiliary"] = report.auxiliary;
  facts["weight_bytes"] = report.weight_bytes;
  facts["gradient_bytes"] = report.gradient_bytes;
  facts["batch_bytes"] = report.batch_bytes;
  facts["arena_bytes"] = report.arena_bytes;
  facts["batch_size"] = report.batch_size;
  nb::list outputs;
  for (const auto& [name, shape] : report.outputs)
    outputs.append(nb::make_tuple(name, shape_to(shape)));
  facts["outputs"] = outputs;
  return facts;
}

std::string text_of(const nb::dict& facts) {
  const auto pairs = [&](const char* key) { return nb::cast<std::vector<NameValue>>(facts[key]); };
  const auto size = [&](const char* key) { return nb::cast<std::size_t>(facts[key]); };
  DryRunReport report{.parameters = nb::cast<std::int64_t>(facts["parameters"]),
                      .trained = nb::cast<std::int64_t>(facts["trained"]),
                      .auxiliary = nb::cast<std::int64_t>(facts["auxiliary"]),
                      .weight_bytes = size("weight_bytes"),
                      .gradient_bytes = size("gradient_bytes"),
                      .batch_bytes = size("batch_bytes"),
                      .arena_bytes = size("arena_bytes"),
                      .batch_size = nb::cast<std::int64_t>(facts["batch_size"]),
                      .seconds_per_step = nb::cast<double>(facts["seconds_per_step"]),
                      .train = pairs("train"),
                      .validation = pairs("validation"),
                      .notes = nb::cast<std::vector<std::string>>(facts["notes"])};
  for (nb::handle output : facts["outputs"])
    report.outputs.emplace_back(nb::cast<std::string>(output[0]), shape_from(output[1]));
  return report.text();
}

}  // namespace

void bind_dry_run(nb::module_& m) {
  nb::class_<RandomMark>(m, "RandomMark")
      .def(nb::init<>())
      .def("restore", [](const RandomMark& mark) { set_random_state(mark.state); });
  nb::class_<CheckedValues>(m, "CheckedValues").def(nb::init<>());
  m.def("measure", &measured, nb::arg("groups"));
  m.def("dry_run_text", &text_of, nb::arg("facts"));
}

}  // namespace symbind::python
