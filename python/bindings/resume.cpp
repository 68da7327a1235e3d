// Checkpoints that trainings go on from: what Python's fit captures, hands over and gets back.

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <symbind/model.h>
#include <symbind/resume.h>
#include <symbind/states.h>

#include "training.h"

namespace symbind::python {
namespace {

/// Its end waits for a thread whose log lines want the interpreter: it lets go of it meanwhile.
class HeldCheckpointer {
 public:
  explicit HeldCheckpointer(CheckpointOptions options)
      : held_(std::make_unique<Checkpointer>(std::move(options))) {}
  ~HeldCheckpointer() {
    if (PyGILState_Check() == 0) return;
    const nb::gil_scoped_release release;
    held_.reset();
  }
  HeldCheckpointer(const HeldCheckpointer&) = delete;
  HeldCheckpointer& operator=(const HeldCheckpointer&) = delete;
  Checkpointer& operator*() { return *held_; }
  Checkpointer* operator->() { return held_.get(); }

 private:
  std::unique_ptr<Checkpointer> held_;
};

NDArrayMap copies(nb::handle arrays) {
  NDArrayMap result;
  for (const auto& [name, array] : array_map_from(arrays, "a parameter"))
    result[name] = array.context() == cpu() ? array.copy() : array.as_in_context(cpu());
  return result;
}

std::vector<std::string> names(nb::handle arrays) {
  std::vector<std::string> result;
  for (const nb::handle name : nb::iter(arrays)) result.push_back(nb::cast<std::string>(name));
  return result;
}

/// (symbol as JSON or None, an Updater of C++, bytes, or None).
TrainingPart part_from(nb::handle part) {
  TrainingPart result;
  const nb::object symbol = part[0], states = part[1];
  if (!symbol.is_none()) result.symbol_json = nb::cast<std::string>(symbol);
  if (nb::isinstance<Updater>(states))
    result.states = states_facts(nb::cast<Updater&>(states).states());
  else
    result.states = plain_from(states);
  return result;
}

void save(HeldCheckpointer& to, int epoch, int batch, nb::handle args, nb::handle aux,
          nb::handle parts, nb::handle facts, const std::optional<NameValue>& score) {
  TrainingState state{.epoch = epoch, .batch = batch, .score = score};
  state.args = copies(args);
  state.aux = copies(aux);
  state.order = {names(args), names(aux)};
  for (const nb::handle part : nb::iter(parts)) state.parts.push_back(part_from(part));
  state.facts = plain_from(facts).deep_copy();
  const nb::gil_scoped_release release;
  to->save(std::move(state));
}

nb::dict arrays_dict(const NDArrayMap& arrays) {
  nb::dict dict;
  for (const auto& [name, array] : arrays) dict[name.c_str()] = array_to(array);
  return dict;
}

nb::object load(const std::string& where) {
  std::optional<TrainingState> state;
  {
    const nb::gil_scoped_release release;
    state = load_training(where);
  }
  if (!state) return nb::none();
  nb::list parts;
  for (const TrainingPart& part : state->parts) parts.append(plain_to(part.states));
  nb::dict result;
  result["epoch"] = state->epoch;
  result["batch"] = state->batch;
  result["args"] = arrays_dict(state->args);
  result["aux"] = arrays_dict(state->aux);
  result["states"] = parts;
  result["facts"] = plain_to(state->facts);
  result["source"] = state->source;
  result["exact"] = state->exact;
  return result;
}

void check_states_of(const nb::bytes& bytes, nb::handle weights, const std::string& source) {
  std::map<Key, NDArray> by_key;
  for (const auto& [key, array] : nb::cast<nb::dict>(weights))
    by_key[nb::isinstance<nb::int_>(key) ? Key(nb::cast<std::int64_t>(key))
                                         : Key(nb::cast<std::string>(key))] = array_from(array);
  const auto any = [](const std::string&, const std::string&) { return true; };
  check_states(load_states({bytes.c_str(), bytes.size()}, source, any), by_key, source);
}

void bind_checkpointer(nb::module_& m) {
  using C = HeldCheckpointer;
  nb::class_<C>(m, "Checkpointer", "Saves trainings; see symbind/checkpoint.h.")
      .def("__init__",
           [](C* self, const std::string& prefix, int every_n_epochs, int every_n_batches,
              int keep_last, const std::string& keep_best, const std::string& mode,
              bool background) {
             new (self) C(
                 {prefix, every_n_epochs, every_n_batches, keep_last, keep_best, mode, background});
           })
      .def("due_in_epoch", [](C& c, int batches) { return c->due_in_epoch(batches); })
      .def("due_at_border",
           [](C& c, int epochs, int num_epoch) { return c->due_at_border(epochs, num_epoch); })
      .def("save", &save, nb::arg("epoch"), nb::arg("batch"), nb::arg("args"), nb::arg("aux"),
           nb::arg("parts"), nb::arg("facts"), nb::arg("score").none())
      .def("finish", [](C& c) {
        const nb::gil_scoped_release release;
        c->finish();
      });
}

}  // namespace

void bind_resume(nb::module_& m) {
  bind_checkpointer(m);
  m.def("load_training", &load, "The newest checkpoint of a prefix, or that of a manifest.");
  m.def("list_checkpoints", [](const std::string& prefix) {
    nb::list list;
    for (const CheckpointInfo& info : list_checkpoints(prefix))
      list.append(nb::make_tuple(info.manifest, info.epoch, info.batch, info.score));
    return list;
  });
  m.def("watched_value",
        [](const std::vector<NameValue>& values, const std::string& wanted,
           const std::string& who) { return watched_value(values, wanted, who.c_str()); });
  m.def("random_facts", [] { return plain_to(random_facts()); });
  m.def("set_random_facts", [](nb::handle facts) { set_random_facts(plain_from(facts)); });
  m.def("optimizer_facts", [](Optimizer& o) { return plain_to(optimizer_facts(o)); });
  m.def("check_optimizer_facts", [](Optimizer& o, nb::handle facts, const std::string& source) {
    check_optimizer_facts(o, plain_from(facts), source);
  });
  m.def("set_optimizer_facts", [](Optimizer& o, nb::handle facts, const std::string& source) {
    set_optimizer_facts(o, plain_from(facts), source);
  });
  m.def("metric_facts", [](const EvalMetric& metric) { return plain_to(metric_facts(metric)); });
  m.def("set_metric_facts", [](EvalMetric& metric, nb::handle facts) {
    return set_metric_facts(metric, plain_from(facts));
  });
  m.def("device_facts", [](const ExecutorGroup& group, nb::handle args, nb::handle aux) {
    return plain_to(device_facts(group, array_map_from(args, "a parameter"),
                                 array_map_from(aux, "an auxiliary state")));
  });
  m.def("set_device_facts",
        [](ExecutorGroup& group, nb::handle facts) { set_device_facts(group, plain_from(facts)); });
  m.def("kernel_facts", [](const ExecutorGroup& group) { return plain_to(kernel_facts(group)); });
  m.def("compare_kernel_facts", [](nb::handle now, nb::handle saved) {
    compare_kernel_facts(plain_from(now), plain_from(saved));
  });
  m.def("check_states", &check_states_of);
  m.def("check_resumed_params",
        [](nb::handle given_args, nb::handle given_aux, nb::handle needed_args,
           nb::handle needed_aux, const std::string& source) {
          TrainingState state{.source = source};
          state.args = array_map_from(given_args, "a parameter");
          state.aux = array_map_from(given_aux, "an auxiliary state");
          check_resumed_params(state, array_map_from(needed_args, "a parameter"),
                               array_map_from(needed_aux, "an auxiliary state"));
        });
}

}  // namespace symbind::python
