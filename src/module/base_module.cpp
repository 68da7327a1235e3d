// What every module provides on top of the verbs.

#include <symbind/module.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/check.h"

namespace symbind {

void BaseModule::check_bound() const {
  check(binded_, ErrorKind::kState, "the module is not bound\n  fix:  call bind first");
}

void BaseModule::check_initialized() const {
  check_bound();
  check(params_initialized_, ErrorKind::kState,
        "the module's parameters are not initialised\n  fix:  call init_params first");
}

void BaseModule::set_params(const NDArrayMap& args, const NDArrayMap& aux,
                            const SetParamsOptions& options) {
  init_params({.initializer = nullptr,
               .arg_params = args,
               .aux_params = aux,
               .allow_missing = options.allow_missing,
               .force_init = options.force_init,
               .allow_extra = options.allow_extra});
}

void BaseModule::forward_backward(const DataBatch& batch) {
  forward(batch, true);
  backward();
}

void BaseModule::step(const DataBatch& batch, EvalMetric& metric) {
  forward_backward(batch);
  policy_.step(update_parts(), [this] { update(); });
  update_metric(metric, batch.label);
}

UpdatePolicy::PartsOf BaseModule::update_parts() {
  return [this](bool all_weights) {
    UpdatePolicy::Parts parts;
    for (const Module* module : modules(all_weights ? Which::kAllWeights : Which::kRanLast))
      parts.push_back({module->group(),
                       module->updater() ? module->updater()->optimizer()->rescale_grad : 1,
                       module->kvstore() ? module->kvstore()->workers() : nullptr});
    return parts;
  };
}

void BaseModule::begin_updates(const UpdatePolicyOptions& options) {
  policy_.begin_fit(options, update_parts());
  kept_.erase("updates");
  if (!policy_.is_used()) return;
  keep_in_checkpoints("updates", {[this] { return policy_.state(); },
                                  [this](const StateValue& state) { policy_.set_state(state); }});
}

void BaseModule::tell_schedulers(const std::vector<NameValue>& values) {
  std::set<LRScheduler*> notified;  // the parts of a chain may share one
  for (const Module* module : modules(Which::kAllWeights)) {
    LRScheduler* scheduler =
        module->optimizer() ? module->optimizer()->lr_scheduler().get() : nullptr;
    if (scheduler != nullptr && notified.insert(scheduler).second) scheduler->observe(values);
  }
}

void BaseModule::swap_ema_params() {
  check_initialized();
  policy_.swap_average(update_parts()(true));
  for (Module* module : modules(Which::kAllWeights)) module->set_params_dirty();
}

void BaseModule::keep_in_checkpoints(const std::string& name, Resumable part) {
  check(part.state && part.set_state, "'{}' needs functions to get and to set its state", name);
  kept_[name] = std::move(part);
}

void BaseModule::save_params(const std::string& path) {
  const ModelParams params = get_params();
  symbind::save_params(path, params.args, params.aux, param_order());
}

ParamOrder BaseModule::param_order() {
  ParamOrder order;
  for (Module* module : modules(Which::kAllWeights)) {
    std::ranges::copy(module->param_names(), std::back_inserter(order.args));
    std::ranges::copy(module->aux_names(), std::back_inserter(order.aux));
  }
  return order;
}

void BaseModule::load_params(const std::string& path) {
  const ModelParams params = symbind::load_params(path);
  set_params(params.args, params.aux);
}

}  // namespace symbind
