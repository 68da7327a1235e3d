#pragma once
// The objects of one C++ fit, in the form its session uses.

#include <fmt/format.h>

#include <symbind/detail/remote_states.h>
#include <symbind/detail/resume.h>
#include <symbind/detail/states.h>
#include <symbind/detail/training_session.h>
#include <symbind/log.h>
#include <symbind/module.h>

#include "base/interrupt.h"
#include "base/log_sink.h"

namespace symbind {

class ModuleNetwork final : public TrainedNetwork {
 public:
  explicit ModuleNetwork(Module& module) : module_(module) {}
  ExecutorGroup& group() override { return *module_.group(); }
  Optimizer& optimizer() override { return *module_.optimizer(); }
  bool update_on_store() override { return module_.update_on_kvstore(); }
  std::string symbol_json() override { return module_.symbol().tojson(); }
  StateValue states() override {
    if (remote() != nullptr) fetch_states(*remote(), *module_.updater());
    return states_facts(module_.updater()->states());
  }
  StateValue read_states(const std::string& bytes, const std::string& source) override {
    return load_states(bytes, source);
  }
  void set_states(const std::string& bytes, const std::string& source) override {
    module_.updater()->set_states(bytes, source);
    if (remote() != nullptr) send_states(*remote(), *module_.updater());
  }
  void give_to_store() override {
    const ModelParams params = module_.get_params();
    for (const std::string& name : module_.param_names())
      module_.kvstore()->assign(name, params.args.at(name));
  }
  void add_facts(StateValue& facts) override {
    if (module_.kvstore()) facts.add("store", module_.kvstore()->state());
  }
  void take_facts(const StateValue& facts) override {
    const StateValue* store = facts.find("store");
    if (store != nullptr && module_.kvstore()) module_.kvstore()->set_state(*store);
  }

 private:
  RemoteUpdates* remote() const {
    return module_.update_on_kvstore() ? module_.kvstore()->remote() : nullptr;
  }

  Module& module_;
};

class ModuleTraining final : public Training {
 public:
  ModuleTraining(BaseModule& module, DataIter& train, EvalMetric& metric, const FitOptions& options)
      : module_(module), train_(train), metric_(metric), options_(options) {}

  DataBatch batch;  ///< what was fetched last

  std::vector<std::unique_ptr<TrainedNetwork>> networks() override {
    std::vector<std::unique_ptr<TrainedNetwork>> all;
    for (Module* module : module_.modules(BaseModule::Which::kAllWeights))
      all.push_back(std::make_unique<ModuleNetwork>(*module));
    return all;
  }
  ModelParams params() override { return module_.get_params(); }
  ParamOrder param_order() override { return module_.param_order(); }
  void set_params(const NDArrayMap& args, const NDArrayMap& aux) override {
    module_.set_params(args, aux);
  }
  /// The module's state, and the callbacks that have state.
  Resumables named() override {
    Resumables all = module_.kept_in_checkpoints();
    std::size_t i = 0;
    const auto add = [&](const auto& callbacks) {
      for (const auto& callback : callbacks.all()) {
        if (const auto* stop = callback.template target<EarlyStopping>())
          all[fmt::format("callback {}: EarlyStopping", i)] = {
              [stop] { return stop->state(); },
              [stop](const StateValue& state) { stop->set_state(state); }};
        ++i;
      }
    };
    add(options_.batch_end_callback);
    i += options_.epoch_end_callback.all().size();
    add(options_.eval_end_callback);
    add(options_.eval_batch_end_callback);
    return all;
  }
  void reset_metric() override { metric_.reset(); }
  std::vector<NameValue> metric_values() override { return metric_.get_global(); }
  StateValue metric_facts() override { return symbind::metric_facts(metric_); }
  bool set_metric_facts(const StateValue& facts) override {
    return symbind::set_metric_facts(metric_, facts);
  }
  bool fetch() override { return train_.next(batch); }
  void prepare() override { module_.prepare(batch); }
  void reset_data() override { train_.reset(); }
  std::optional<StateValue> data_state() override { return train_.state(); }
  void set_data_state(const StateValue& state) override { train_.set_state(state); }
  std::optional<StateValue> eval_state() override {
    return options_.eval_data != nullptr ? options_.eval_data->state() : std::nullopt;
  }
  void set_eval_state(const StateValue& state) override {
    if (options_.eval_data != nullptr) options_.eval_data->set_state(state);
  }
  StateValue random() override { return random_facts(); }
  void set_random(const StateValue& facts) override { set_random_facts(facts); }
  void defer_interrupts() override { deferral_.emplace(); }
  void release_interrupts() override { deferral_.reset(); }
  bool interrupted() override { return interrupt_wanted(); }
  void info(const std::string& text) override { log_info(text); }
  void warn(const std::string& text) override { log_warning(text); }
  Display display() override { return has_log_sink() ? Display::kForeignLog : Display::kOurLog; }
  std::int64_t batch_size() override { return train_.batch_size(); }
  std::optional<std::int64_t> batches_per_epoch() override { return train_.batches(); }
  Workers* workers() override {
    const std::shared_ptr<KVStore> store = this->store();
    return store ? store->workers() : nullptr;
  }
  int rank() override {
    const std::shared_ptr<KVStore> store = this->store();
    return store ? store->rank() : 0;
  }
  std::optional<NDArray> confusion() override {
    if (options_.eval_data == nullptr) return std::nullopt;
    const MetricPtr counts = ConfusionMatrix();
    module_.score(*options_.eval_data, counts);
    return confusion_counts(*counts);
  }

 private:
  std::shared_ptr<KVStore> store() {
    for (Module* module : module_.modules(BaseModule::Which::kAllWeights))
      if (module->kvstore()) return module->kvstore();
    return nullptr;
  }

  BaseModule& module_;
  DataIter& train_;
  EvalMetric& metric_;
  const FitOptions& options_;
  std::optional<InterruptDeferral> deferral_;
};

}  // namespace symbind
