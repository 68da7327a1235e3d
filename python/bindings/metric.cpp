// Metrics: the C++ objects that the classes of symbind.metric wrap. Custom metrics are plain Python
// and do not use this file.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <symbind/metric.h>

#include "convert.h"

namespace symbind::python {
namespace {

MetricParams params_from(const nb::dict& given) {
  MetricParams params;
  for (const auto& [key, value] : given)
    params.emplace(nb::cast<std::string>(key), MetricValue(attr_text(value)));
  return params;
}

void update(EvalMetric& metric, nb::handle labels, nb::handle preds) {
  const std::vector<NDArray> from = arrays_from(labels, "a label");
  const std::vector<NDArray> to = arrays_from(preds, "a prediction");
  const nb::gil_scoped_release release;
  metric.update(from, to);
}

NamedArrays named_from(const nb::dict& given, const char* what) {
  NamedArrays named;
  for (const auto& [name, array] : given) {
    named.names.push_back(nb::cast<std::string>(name));
    named.arrays.push_back(array_from(array, what));
  }
  return named;
}

void update_dict(EvalMetric& metric, const nb::dict& labels, const nb::dict& preds) {
  const NamedArrays from = named_from(labels, "a label");
  const NamedArrays to = named_from(preds, "a prediction");
  const nb::gil_scoped_release release;
  metric.update_dict(from, to);
}

nb::object option(EvalMetric& metric, const std::string& name) {
  AttrVisitor visitor;
  metric.describe(visitor);
  for (const AttrField& field : visitor.fields()) {
    if (field.name != name) continue;
    return std::visit(
        [](auto* slot) -> nb::object {
          using T = std::remove_reference_t<decltype(*slot)>;
          if constexpr (std::is_same_v<T, std::optional<double>>) {
            return *slot ? nb::cast(**slot) : nb::none();
          } else if constexpr (std::is_same_v<T, int> || std::is_same_v<T, double> ||
                               std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
            return nb::cast(*slot);
          } else {
            return nb::none();
          }
        },
        field.slot);
  }
  return nb::none();
}

}  // namespace

void bind_metric(nb::module_& m) {
  using M = EvalMetric;
  nb::class_<M>(m, "Metric")
      .def("update", &update)
      .def("update_dict", &update_dict)
      .def("reset", &M::reset)
      .def("reset_local", &M::reset_local)
      .def("get", [](const M& metric) { return metric.get(); })
      .def("get_global", [](const M& metric) { return metric.get_global(); })
      .def("option", &option)
      .def(
          "set_option",
          [](M& metric, const std::string& name, nb::handle value) {
            metric.set_options({{name, attr_text(value)}});
          },
          nb::arg("name"), nb::arg("value").none())
      .def("confusion_counts", [](const M& metric) { return array_to(confusion_counts(metric)); })
      .def("state", &M::state)
      .def("set_state", &M::set_state)
      .def_rw("name", &M::name)
      .def_rw("output_names", &M::output_names, nb::arg().none())
      .def_rw("label_names", &M::label_names, nb::arg().none())
      .def_rw("sum_metric", &M::sum_metric)
      .def_rw("num_inst", &M::num_inst)
      .def_rw("global_sum_metric", &M::global_sum_metric)
      .def_rw("global_num_inst", &M::global_num_inst)
      .def_rw("has_global_stats", &M::has_global_stats);
  m.def("create_metric", [](const std::string& name, const nb::dict& params) {
    return create_metric(name, params_from(params));
  });
  m.def("composite_metric", [](std::vector<MetricPtr> children) -> MetricPtr {
    return std::make_shared<CompositeEvalMetric>(std::move(children));
  });
}

}  // namespace symbind::python
