// What every module can do over the verbs.

#include <symbind/module.h>

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
  update();
  update_metric(metric, batch.label);
}

void BaseModule::keep_in_checkpoints(const std::string& name, Resumable part) {
  check(part.state && part.set_state, "'{}' needs a way to give its state and one to take it",
        name);
  kept_[name] = std::move(part);
}

void BaseModule::save_params(const std::string& path) {
  const ModelParams params = get_params();
  symbind::save_params(path, params.args, params.aux);
}

void BaseModule::load_params(const std::string& path) {
  const ModelParams params = symbind::load_params(path);
  set_params(params.args, params.aux);
}

}  // namespace symbind
