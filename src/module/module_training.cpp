#include "module/module_training.h"

#include <fmt/format.h>

#include <symbind/log.h>
#include <symbind/resume.h>
#include <symbind/states.h>

namespace symbind {
namespace {

class ModuleNetwork final : public TrainedNetwork {
 public:
  explicit ModuleNetwork(Module& module) : module_(module) {}
  ExecutorGroup& group() override { return *module_.group(); }
  Optimizer& optimizer() override { return *module_.optimizer(); }
  bool update_on_store() override { return module_.update_on_kvstore(); }
  std::string symbol_json() override { return module_.symbol().tojson(); }
  StateValue states() override { return states_facts(module_.updater()->states()); }
  StateValue read_states(const std::string& bytes, const std::string& source) override {
    return load_states(bytes, source);
  }
  void set_states(const std::string& bytes, const std::string& source) override {
    module_.updater()->set_states(bytes, source);
  }
  void give_to_store() override {
    KVStore& store = *module_.kvstore();
    store.set_updater(
        [](const Key&, const NDArray& merged, NDArray& stored) { merged.copy_to(stored); });
    const ModelParams params = module_.get_params();
    for (const std::string& name : module_.param_names()) store.push(name, {params.args.at(name)});
    store.set_updater(
        [updater = module_.updater()](const Key& key, const NDArray& grad, NDArray& weight) {
          (*updater)(key, grad, weight);
        });
  }

 private:
  Module& module_;
};

}  // namespace

std::vector<std::unique_ptr<TrainedNetwork>> ModuleTraining::networks() {
  std::vector<std::unique_ptr<TrainedNetwork>> all;
  for (Module* module : module_.modules(BaseModule::Which::kAllWeights))
    all.push_back(std::make_unique<ModuleNetwork>(*module));
  return all;
}

/// What the module keeps, and the callbacks with a state.
Resumables ModuleTraining::named() {
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

StateValue ModuleTraining::metric_facts() { return symbind::metric_facts(metric_); }
bool ModuleTraining::set_metric_facts(const StateValue& facts) {
  return symbind::set_metric_facts(metric_, facts);
}
std::optional<StateValue> ModuleTraining::eval_state() {
  return options_.eval_data != nullptr ? options_.eval_data->state() : std::nullopt;
}
void ModuleTraining::set_eval_state(const StateValue& state) {
  if (options_.eval_data != nullptr) options_.eval_data->set_state(state);
}
StateValue ModuleTraining::random() { return random_facts(); }
void ModuleTraining::set_random(const StateValue& facts) { set_random_facts(facts); }
void ModuleTraining::info(const std::string& text) { log_info(text); }
void ModuleTraining::warn(const std::string& text) { log_warning(text); }

}  // namespace symbind
