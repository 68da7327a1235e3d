#pragma once
// The objects of one C++ fit, as its session sees them.

#include <symbind/module.h>
#include <symbind/training_session.h>

#include "base/interrupt.h"

namespace symbind {

class ModuleTraining final : public Training {
 public:
  ModuleTraining(BaseModule& module, DataIter& train, EvalMetric& metric, const FitOptions& options)
      : module_(module), train_(train), metric_(metric), options_(options) {}

  DataBatch batch;  ///< what was fetched last

  std::vector<std::unique_ptr<TrainedNetwork>> networks() override;
  ModelParams params() override { return module_.get_params(); }
  void set_params(const NDArrayMap& args, const NDArrayMap& aux) override {
    module_.set_params(args, aux);
  }
  Resumables named() override;
  void reset_metric() override { metric_.reset(); }
  std::vector<NameValue> metric_values() override { return metric_.get(); }
  StateValue metric_facts() override;
  bool set_metric_facts(const StateValue& facts) override;
  bool fetch() override { return train_.next(batch); }
  void prepare() override { module_.prepare(batch); }
  void reset_data() override { train_.reset(); }
  std::optional<StateValue> data_state() override { return train_.state(); }
  void set_data_state(const StateValue& state) override { train_.set_state(state); }
  std::optional<StateValue> eval_state() override;
  void set_eval_state(const StateValue& state) override;
  StateValue random() override;
  void set_random(const StateValue& facts) override;
  void defer_interrupts() override { deferral_.emplace(); }
  void release_interrupts() override { deferral_.reset(); }
  bool interrupted() override { return interrupt_wanted(); }
  void info(const std::string& text) override;
  void warn(const std::string& text) override;

 private:
  BaseModule& module_;
  DataIter& train_;
  EvalMetric& metric_;
  const FitOptions& options_;
  std::optional<InterruptDeferral> deferral_;
};

}  // namespace symbind
