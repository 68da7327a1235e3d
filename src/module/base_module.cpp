// What every module can do over the verbs.

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
  if (!policy_ || policy_->take(update_parts(Which::kRanLast))) {
    update();
    if (policy_) policy_->updated(update_parts(Which::kAllWeights));
  }
  update_metric(metric, batch.label);
}

UpdatePolicy::Parts BaseModule::update_parts(Which which) {
  UpdatePolicy::Parts parts;
  for (const Module* module : modules(which))
    parts.push_back({module->group(), module->optimizer() ? module->optimizer()->rescale_grad : 1});
  return parts;
}

void BaseModule::begin_updates(const UpdatePolicyOptions& options) {
  check(!policy_ || !policy_->shows_average(), ErrorKind::kState,
        "the weights are the average now\n  fix:  call swap_ema_params before training on");
  const NDArrayMap average = get_ema_params();  // goes on over several fits
  policy_.reset();
  kept_.erase("updates");
  if (options == UpdatePolicyOptions{} && average.empty()) return;
  policy_ = std::make_unique<UpdatePolicy>(options);
  policy_->set_average(average);
  policy_->begin(update_parts(Which::kAllWeights));
  keep_in_checkpoints("updates", {.state =
                                      [this] {
                                        StateValue arrays = StateValue::dict();
                                        for (const auto& [name, array] : policy_->state())
                                          arrays.add(name.c_str(), StateValue::of(array));
                                        return arrays;
                                      },
                                  .set_state =
                                      [this](const StateValue& saved) {
                                        NDArrayMap arrays;
                                        for (std::size_t i = 0; i + 1 < saved.items.size(); i += 2)
                                          arrays[saved.items[i].text] = saved.items[i + 1].array;
                                        policy_->set_state(arrays);
                                      }});
}

void BaseModule::finish_updates() {
  if (!policy_ || !policy_->take_rest(update_parts(Which::kRanLast))) return;
  update();
  policy_->updated(update_parts(Which::kAllWeights));
}

void BaseModule::tell_schedulers(const std::vector<NameValue>& values) {
  std::set<LRScheduler*> told;  // the parts of a chain may share one
  for (const Module* module : modules(Which::kAllWeights)) {
    LRScheduler* scheduler =
        module->optimizer() ? module->optimizer()->lr_scheduler().get() : nullptr;
    if (scheduler != nullptr && told.insert(scheduler).second) scheduler->observe(values);
  }
}

NDArrayMap BaseModule::get_ema_params() const {
  return policy_ ? policy_->average() : NDArrayMap{};
}

void BaseModule::set_ema_params(const NDArrayMap& average) {
  if (!policy_) policy_ = std::make_unique<UpdatePolicy>(UpdatePolicyOptions{});
  policy_->set_average(average);
}

void BaseModule::swap_ema_params() {
  check_initialized();
  check(policy_ != nullptr, ErrorKind::kState,
        "there is no average of the weights\n  fix:  train with ema_decay, or set_ema_params");
  const UpdatePolicy::Parts parts = update_parts(Which::kAllWeights);
  if (policy_->shows_average())
    policy_->show_weights(parts);
  else
    policy_->show_average(parts);
  for (Module* module : modules(Which::kAllWeights)) module->set_params_dirty();
}

void BaseModule::keep_in_checkpoints(const std::string& name, Resumable part) {
  check(part.state && part.set_state, "'{}' needs a way to give its state and one to take it",
        name);
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
