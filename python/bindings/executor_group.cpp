// ExecutorGroup and the update of its parameters: a Python Module runs its batches with them.

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <symbind/detail/executor_group.h>
#include <symbind/detail/param_update.h>
#include <symbind/metric.h>

#include "convert.h"
#include "flag.h"
#include "training.h"

namespace symbind::python {
namespace {

DataDesc desc_from(nb::handle value) {
  DataDesc desc{.name = nb::cast<std::string>(value[0]), .shape = shape_from(value[1])};
  if (nb::hasattr(value, "dtype")) desc.dtype = dtype_from(value.attr("dtype"));
  if (nb::hasattr(value, "layout")) {
    const nb::object layout = value.attr("layout");
    desc.layout = layout.is_none() ? "" : nb::cast<std::string>(layout);
  }
  return desc;
}

std::vector<DataDesc> descs_from(nb::handle list) {
  std::vector<DataDesc> descs;
  for (nb::handle d : list) descs.push_back(desc_from(d));
  return descs;
}

std::optional<std::vector<DataDesc>> labels_from(nb::handle list) {
  if (list.is_none()) return {};
  return descs_from(list);
}

GradReqArg grad_req_from(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (nb::isinstance<nb::dict>(value)) {
    std::map<std::string, std::string> by_name;
    for (const auto& [name, req] : nb::borrow<nb::dict>(value))
      by_name[nb::cast<std::string>(name)] = nb::cast<std::string>(req);
    return by_name;
  }
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value))
    return nb::cast<std::vector<std::string>>(value);
  throw Error(ErrorKind::kValue, "grad_req must be one of str, list, tuple, or dict.");
}

std::vector<ContextMap> groups_from(nb::handle value) {
  std::vector<ContextMap> groups;
  if (value.is_none()) return groups;
  for (nb::handle one : value) {
    ContextMap& map = groups.emplace_back();
    if (one.is_none()) continue;
    for (const auto& [name, context] : nb::borrow<nb::dict>(one))
      map[nb::cast<std::string>(name)] = context_from(context);
  }
  return groups;
}

// A list with one list of arrays (by device) for each entry.
nb::list nested(const std::vector<DeviceArrays>& arrays) {
  nb::list all;
  for (const DeviceArrays& row : arrays) all.append(arrays_to(row));
  return all;
}

nb::list with_rows(const std::vector<std::vector<SlicedArray>>& arrays) {
  nb::list all;
  for (const auto& row : arrays) {
    nb::list added;
    for (const SlicedArray& s : row) {
      const nb::slice rows(s.rows.begin, s.rows.end);
      added.append(nb::make_tuple(rows, s.array.defined() ? array_to(s.array) : nb::none()));
    }
    all.append(added);
  }
  return all;
}

ExecutorGroup make_group(const Symbol& symbol, nb::handle contexts, const nb::dict& given,
                         const ExecutorGroup* shared) {
  std::vector<Context> devices;
  for (nb::handle c : contexts) devices.push_back(context_from(c));
  const auto names = [&](const char* key) {
    return nb::cast<std::vector<std::string>>(given[key]);
  };
  const GroupOptions options{.work_load = nb::cast<std::vector<double>>(given["workload"]),
                             .data_shapes = descs_from(given["data_shapes"]),
                             .label_shapes = labels_from(given["label_shapes"]),
                             .param_names = names("param_names"),
                             .for_training = nb::cast<bool>(given["for_training"]),
                             .inputs_need_grad = nb::cast<bool>(given["inputs_need_grad"]),
                             .shared_group = shared,
                             .fixed_param_names = names("fixed_param_names"),
                             .grad_req = grad_req_from(given["grad_req"]),
                             .state_names = names("state_names"),
                             .group2ctxs = groups_from(given["group2ctxs"]),
                             .exact = nb::cast<std::optional<bool>>(given["exact"]),
                             .compute_dtype = nb::cast<std::string>(given["compute_dtype"])};
  const nb::gil_scoped_release release;
  return ExecutorGroup(symbol, devices, options);
}

DataBatch batch_from(nb::handle data, nb::handle label) {
  DataBatch batch;
  batch.data = arrays_from(data, "data of a batch");
  if (!label.is_none()) batch.label = arrays_from(label, "a label of a batch");
  return batch;
}

// False if the batch's shapes differ from the group's: the module reshapes first.
bool step(ExecutorGroup& group, ParamUpdate& update, nb::handle data, nb::handle label,
          EvalMetric& metric, UpdatePolicy& policy) {
  const DataBatch batch = batch_from(data, label);
  if (!group.fits(batch)) return false;
  const nb::gil_scoped_release release;
  group.load(batch);
  update.step(group, policy);
  group.update_metric(metric, batch.label);
  return true;
}

void update(ExecutorGroup& group, ParamUpdate& update) {
  const nb::gil_scoped_release release;
  update.update(group);
}

void load_each(ExecutorGroup& group, nb::handle pairs) {
  std::vector<DataBatch> batches;
  for (nb::handle pair : pairs) batches.push_back(batch_from(pair[0], pair[1]));
  const nb::gil_scoped_release release;
  group.load(batches);
}

void set_states(ExecutorGroup& group, nb::handle states) {
  std::vector<DeviceArrays> arrays;
  for (nb::handle row : states) arrays.push_back(arrays_from(row, "a state"));
  group.set_states(arrays);
}

void update_metric(const ExecutorGroup& group, EvalMetric& metric, nb::handle labels,
                   bool pre_sliced) {
  if (!pre_sliced) {
    const std::vector<NDArray> all = arrays_from(labels, "a label");
    const nb::gil_scoped_release release;
    return group.update_metric(metric, all);
  }
  std::vector<std::vector<NDArray>> by_device;
  for (nb::handle own : labels) by_device.push_back(arrays_from(own, "a label"));
  const nb::gil_scoped_release release;
  group.update_metric(metric, by_device);
}

nb::list shapes_to(const std::vector<std::pair<std::string, Shape>>& shapes) {
  nb::list all;
  for (const auto& [name, shape] : shapes) all.append(nb::make_tuple(name, shape_to(shape)));
  return all;
}

nb::list pool_to(ExecutorGroup& group) {
  nb::list all;
  for (const NDArrayMap& pool : group.shared_data_arrays()) {
    nb::dict by_name;
    for (const auto& [name, array] : pool) by_name[name.c_str()] = array_to(array);
    all.append(by_name);
  }
  return all;
}

void bind_param_update(nb::module_& m) {
  using U = ParamUpdate;
  nb::class_<U>(m, "ParamUpdate")
      .def(
          "__init__",
          [](U* self, const std::shared_ptr<Updater>& updater, nb::handle store, bool on_store) {
            new (self) U(updater, store_from(store), on_store);
          },
          nb::arg("updater").none(), nb::arg("store").none(), nb::arg("on_store"));
  m.def("choose_store",
        [](const std::string& name, std::size_t devices, std::int64_t largest, bool can_update) {
          const StoreChoice choice = choose_store(name, devices, largest, can_update);
          return std::pair(choice.needed, choice.runs_updates);
        });
  m.def("gradient_scale",
        [](std::int64_t rows, const std::string& store_type, const nb::callable& workers) {
          return gradient_scale(rows, store_type, [&] { return nb::cast<int>(workers()); });
        });
  m.def("update_names", &update_names);
}

}  // namespace

void bind_executor_group(nb::module_& m) {
  using G = ExecutorGroup;
  bind_param_update(m);
  nb::class_<G>(m, "ExecutorGroup")
      .def(
          "__init__",
          [](G* self, const Symbol& symbol, nb::handle contexts, const nb::dict& options,
             const G* shared) { new (self) G(make_group(symbol, contexts, options, shared)); },
          nb::arg("symbol"), nb::arg("contexts"), nb::arg("options"), nb::arg("shared").none())
      .def(
          "reshape",
          [](G& g, nb::handle data, nb::handle label) {
            const auto shapes = descs_from(data);
            const auto labels = labels_from(label);
            const nb::gil_scoped_release release;
            g.reshape(shapes, labels);
          },
          nb::arg("data_shapes"), nb::arg("label_shapes").none())
      .def("set_params",
           [](G& g, nb::handle args, nb::handle aux, Flag allow_extra) {
             g.set_params(array_map_from(args, "a parameter"),
                          array_map_from(aux, "an auxiliary state"), allow_extra);
           })
      .def("get_params",
           [](const G& g, nb::handle args, nb::handle aux) {
             NDArrayMap into_args = array_map_from(args, "a parameter");
             NDArrayMap into_aux = array_map_from(aux, "an auxiliary state");
             const nb::gil_scoped_release release;
             g.get_params(into_args, into_aux);
           })
      .def(
          "load",
          [](G& g, nb::handle data, nb::handle label) {
            const DataBatch batch = batch_from(data, label);
            const nb::gil_scoped_release release;
            g.load(batch);
          },
          nb::arg("data"), nb::arg("label").none())
      .def("load_each", &load_each)
      .def(
          "forward",
          [](G& g, std::optional<Flag> is_train) {
            std::optional<bool> training;
            if (is_train) training = is_train->value;
            const nb::gil_scoped_release release;
            g.forward(training);
          },
          nb::arg("is_train").none())
      .def("backward",
           [](G& g, nb::handle grads) {
             const auto arrays = arrays_from(grads, "an output's gradient");
             const nb::gil_scoped_release release;
             g.backward(arrays);
           })
      .def("update", &update)
      .def("step", &step, nb::arg("update"), nb::arg("data"), nb::arg("label").none(),
           nb::arg("metric"), nb::arg("policy"))
      .def_prop_ro("is_watched", &G::is_watched)
      .def("outputs", [](const G& g) { return arrays_to(g.get_outputs()); })
      .def("device_outputs", [](const G& g) { return nested(g.device_outputs()); })
      .def("input_grads", [](const G& g) { return arrays_to(g.get_input_grads()); })
      .def("set_states", &set_states)
      .def("fill_states", [](G& g, double value) { g.set_states(value); })
      .def("update_metric", &update_metric)
      .def("output_shapes", [](const G& g) { return shapes_to(g.output_shapes()); })
      .def("execs", [](const G& g) { return g.execs(); })
      .def("data_arrays", [](const G& g) { return with_rows(g.data_arrays()); })
      .def("label_arrays", [](const G& g) { return with_rows(g.label_arrays()); })
      .def("param_arrays", [](const G& g) { return nested(g.param_arrays()); })
      .def("grad_arrays", [](const G& g) { return nested(g.grad_arrays()); })
      .def("aux_arrays", [](const G& g) { return nested(g.aux_arrays()); })
      .def("state_arrays", [](const G& g) { return nested(g.state_arrays()); })
      .def("input_grad_arrays", [](const G& g) { return nested(g.input_grad_arrays()); })
      .def("shared_data_arrays", &pool_to)
      .def_prop_ro("batch_size", &G::batch_size)
      .def_prop_ro("total_exec_megabytes", &G::total_exec_megabytes)
      .def_prop_ro("data_layouts", &G::data_layouts)
      .def_prop_ro("label_layouts", &G::label_layouts)
      .def_prop_ro("output_layouts", &G::output_layouts)
      .def("slices",
           [](const G& g) {
             nb::list all;
             for (const BatchSlice& s : g.slices()) all.append(nb::slice(s.begin, s.end));
             return all;
           })
      .def("grad_req", [](const G& g) {
        nb::dict req;
        for (const auto& [name, text] : g.grad_req()) req[name.c_str()] = text;
        return req;
      });
}

}  // namespace symbind::python
