// The session of Python's fit: C++ decides, and calls the methods of the package's Training and
// Network (symbind/module/_session.py) for Python objects.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <symbind/detail/resume.h>
#include <symbind/detail/states.h>
#include <symbind/detail/training_session.h>

#include "training.h"

namespace symbind::python {
namespace {

class PythonNetwork final : public TrainedNetwork, Called {
 public:
  using Called::Called;
  ExecutorGroup& group() override { return *get<ExecutorGroup*>("group"); }
  Optimizer& optimizer() override { return *get<Optimizer*>("optimizer"); }
  bool update_on_store() override { return get<bool>("update_on_store"); }
  std::string symbol_json() override { return call<std::string>("symbol_json"); }
  StateValue states() override { return call<StateValue>("states"); }
  StateValue read_states(const std::string& bytes, const std::string& source) override {
    const auto any = [](const std::string&, const std::string&) { return true; };
    return load_states(bytes, source, any);  // set_states checks the classes it names
  }
  void set_states(const std::string& bytes, const std::string&) override {
    call("set_states", StateValue{.kind = StateValue::Kind::kBytes, .text = bytes});
  }
  void give_to_store() override { call("give_to_store"); }
  void add_facts(StateValue& facts) override {
    for (StateValue& item : call<StateValue>("facts").items) facts.items.push_back(std::move(item));
  }
  void check_facts(const StateValue& facts, const std::string& source) override {
    call("check_facts", facts, source);
  }
  void take_facts(const StateValue& facts) override { call("take_facts", facts); }
};

class PythonTraining final : public Training, public Called {
  using Names = std::vector<std::string>;

 public:
  using Called::Called;
  std::vector<std::unique_ptr<TrainedNetwork>> networks() override {
    const nb::gil_scoped_acquire acquire;
    std::vector<std::unique_ptr<TrainedNetwork>> all;
    for (const nb::handle one : nb::list(held_->object.attr("networks")()))
      all.push_back(std::make_unique<PythonNetwork>(one));
    return all;
  }
  ModelParams params() override { return call<ModelParams>("params"); }
  ParamOrder param_order() override {
    auto [args, aux] = call<std::pair<Names, Names>>("param_order");
    return {std::move(args), std::move(aux)};
  }
  void set_params(const NDArrayMap& args, const NDArrayMap& aux) override {
    call("set_params", args, aux);
  }
  std::vector<std::string> names() const {
    const nb::gil_scoped_acquire acquire;
    return nb::cast<std::vector<std::string>>(nb::list(held_->object.attr("named")()));
  }
  Resumables named() override {
    Resumables all;
    for (const std::string& name : names())
      all[name] = {[this, name] { return call<StateValue>("state_of", name); },
                   [this, name](const StateValue& state) { call("set_state_of", name, state); }};
    return all;
  }
  void reset_metric() override { call("reset_metric"); }
  std::vector<NameValue> metric_values() override {
    return call<std::vector<NameValue>>("metric_values");
  }
  StateValue metric_facts() override { return call<StateValue>("metric_facts"); }
  bool set_metric_facts(const StateValue& facts) override {
    return call<bool>("set_metric_facts", facts);
  }
  bool fetch() override { return call<bool>("fetch"); }
  void prepare() override { call("prepare"); }
  void reset_data() override { call("reset_data"); }
  std::optional<StateValue> data_state() override {
    return call<std::optional<StateValue>>("data_state");
  }
  void set_data_state(const StateValue& state) override { call("set_data_state", state); }
  std::optional<StateValue> eval_state() override {
    return call<std::optional<StateValue>>("eval_state");
  }
  void set_eval_state(const StateValue& state) override { call("set_eval_state", state); }
  StateValue random() override { return call<StateValue>("random"); }
  void set_random(const StateValue& facts) override { call("set_random", facts); }
  void defer_interrupts() override { call("defer_interrupts"); }
  void release_interrupts() override { call("release_interrupts"); }
  bool interrupted() override { return call<bool>("interrupted"); }
  void info(const std::string& text) override { call("info", text); }
  void warn(const std::string& text) override { call("warn", text); }
  Display display() override {
    return call<bool>("logs_epochs") ? Display::kForeignLog : Display::kFree;
  }
  std::int64_t batch_size() override { return get<std::int64_t>("batch_size"); }
  std::optional<std::int64_t> batches_per_epoch() override {
    return call<std::optional<std::int64_t>>("batches_per_epoch");
  }
  std::optional<NDArray> confusion() override { return call<std::optional<NDArray>>("confusion"); }
  Workers* workers() override {
    const std::shared_ptr<KVStore> store = this->store();
    return store ? store->workers() : nullptr;
  }
  int rank() override {
    const std::shared_ptr<KVStore> store = this->store();
    return store ? store->rank() : 0;
  }

 private:
  std::shared_ptr<KVStore> store() {
    const nb::gil_scoped_acquire acquire;
    return store_from(held_->object.attr("store")());
  }
};

/// Methods and destructor wait for a thread whose log lines need the GIL, so they release it.
class HeldSession {
 public:
  HeldSession(nb::handle training, SessionOptions options) : training_(training) {
    const nb::gil_scoped_release release;
    held_ = std::make_unique<TrainingSession>(training_, std::move(options));
  }
  ~HeldSession() {
    if (PyGILState_Check() == 0) return;
    const nb::gil_scoped_release release;
    held_.reset();
  }
  HeldSession(const HeldSession&) = delete;
  HeldSession& operator=(const HeldSession&) = delete;
  TrainingSession* operator->() { return held_.get(); }
  nb::object training() const { return training_.object(); }

 private:
  PythonTraining training_;
  std::unique_ptr<TrainingSession> held_;
};

using Recording = std::tuple<std::string, std::string, bool, int, std::string>;
using Saving = std::tuple<std::string, int, int, int, std::string, std::string, bool>;

void bind_session(nb::module_& m) {
  using S = HeldSession;
  const auto release = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<S>(m, "TrainingSession", "When fit saves, resumes and stops.")
      .def(
          "__init__",
          [](S* self, nb::handle training, const std::optional<Saving>& saving,
             const std::string& resume, int begin_epoch, int num_epoch,
             const std::optional<Recording>& run, std::optional<bool> progress) {
            SessionOptions options{.resume = resume,
                                   .begin_epoch = begin_epoch,
                                   .num_epoch = num_epoch,
                                   .progress = progress};
            if (run) options.run = std::make_from_tuple<RunOptions>(*run);
            if (saving) options.checkpoint = std::make_from_tuple<CheckpointOptions>(*saving);
            new (self) S(training, std::move(options));
          },
          nb::arg("training"), nb::arg("checkpoint").none(), nb::arg("resume"),
          nb::arg("begin_epoch"), nb::arg("num_epoch"), nb::arg("run").none(),
          nb::arg("progress").none())
      .def_prop_ro("training", &S::training)
      .def_prop_ro("begin_epoch", [](S& s) { return s->begin_epoch(); })
      .def(
          "start_epoch", [](S& s, int epoch) { return s->start_epoch(epoch).nbatch; }, release)
      .def(
          "after_update", [](S& s, int batches) { s->after_update(batches); }, release)
      .def(
          "after_callbacks",
          [](S& s, int epoch, int batches, bool more) { s->after_callbacks(epoch, batches, more); },
          release)
      .def(
          "after_batches", [](S& s, int epoch, int batches) { s->after_batches(epoch, batches); },
          release)
      .def(
          "after_epoch",
          [](S& s, int epochs, const std::vector<NameValue>& values, bool evaluated) {
            s->after_epoch(epochs, values, evaluated);
          },
          release)
      .def(
          "decided", [](S& s, const std::vector<NameValue>& values) { return s->decided(values); },
          release)
      .def(
          "decided_stop",
          [](S& s, const std::optional<std::string>& why) { return s->decided_stop(why); },
          nb::arg("why").none(), release)
      .def(
          "stopped", [](S& s, const std::string& why) { s->stopped(why); }, release)
      .def(
          "finish", [](S& s) { s->finish(); }, release)
      .def(
          "interrupted", [](S& s) { s->interrupted(); }, release)
      .def(
          "failed", [](S& s, const std::string& error) { s->failed(error); }, release);
}

}  // namespace

void bind_resume(nb::module_& m) {
  bind_session(m);
  m.def("list_checkpoints", [](const std::string& prefix) {
    nb::list list;
    for (const CheckpointInfo& info : list_checkpoints(prefix))
      list.append(nb::make_tuple(info.manifest, info.epoch, info.batch, info.score));
    return list;
  });
  m.def("random_facts", [] { return plain_to(random_facts()); });
  m.def("set_random_facts", [](nb::handle facts) { set_random_facts(plain_from(facts)); });
  m.def("metric_facts", [](const EvalMetric& metric) { return plain_to(metric_facts(metric)); });
  m.def("set_metric_facts", [](EvalMetric& metric, nb::handle facts) {
    return set_metric_facts(metric, plain_from(facts));
  });
}

}  // namespace symbind::python
