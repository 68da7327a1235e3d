// Module: one network on one or several devices. Construction, binding and the verbs of a step;
// parameters are in module_params.cpp, optimizers in module_optimizer.cpp.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <symbind/log.h>

#include "base/check.h"
#include "base/nearest.h"
#include "module/module_state.h"

namespace symbind {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// A name the network does not have is an error; for a label it is only a warning, since a network
// for prediction may not have it.
void check_input_names(const Symbol& symbol, const std::vector<std::string>& names,
                       const char* what, bool must_be) {
  const std::vector<std::string> arguments = symbol.list_arguments();
  for (const std::string& name : names) {
    if (has(arguments, name)) continue;
    std::vector<std::string> candidates;
    for (const std::string& a : arguments) {
      const bool parameter = a.ends_with("_weight") || a.ends_with("_bias") ||
                             a.ends_with("_gamma") || a.ends_with("_beta");
      if (!parameter) candidates.push_back(a);
    }
    const std::string text = fmt::format(
        "You created Module with Module(..., {}_names={}) but input with name '{}' is not found in "
        "symbol.list_arguments(). Did you mean one of:\n\t{}",
        what, names, name, fmt::join(candidates, "\n\t"));
    if (must_be) fail(ErrorKind::kName, "{}", text);
    log_warning(text);
  }
}

// The shapes should have these names, in any order. For data a mismatch is an error, for labels a
// warning.
void check_names_match(std::vector<std::string> names, const Shapes& given, const char* what,
                       bool must_be) {
  std::vector<std::string> given_names;
  for (const DataDesc& d : given) given_names.push_back(d.name);
  std::ranges::sort(names);
  std::ranges::sort(given_names);
  if (names == given_names) return;
  const std::string text =
      fmt::format("Data provided by {}_shapes don't match names specified by {}_names ({} vs. {})",
                  what, what, fmt::join(given_names, ", "), fmt::join(names, ", "));
  if (must_be) fail(ErrorKind::kValue, "{}", text);
  log_warning(text);
}

}  // namespace

Module::Module(const Symbol& symbol, const ModuleOptions& options)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.symbol = symbol;
  s.options = options;
  check(!options.context.empty(), "a module needs a context");
  check(options.work_load_list.empty() || options.work_load_list.size() == options.context.size(),
        ErrorKind::kState, "{} work loads for {} contexts", options.work_load_list.size(),
        options.context.size());
  if (!options.compression_params.empty()) check_compression_params(options.compression_params);
  check_input_names(symbol, options.data_names, "data", true);
  check_input_names(symbol, options.label_names, "label", false);
  check_input_names(symbol, options.state_names, "state", true);
  check_input_names(symbol, options.fixed_param_names, "fixed_param", true);
  for (const std::string& name : symbol.list_arguments()) {
    if (!has(options.data_names, name) && !has(options.label_names, name) &&
        !has(options.state_names, name))
      s.param_names.push_back(name);
  }
  s.aux_names = symbol.list_auxiliary_states();
  s.output_names = symbol.list_outputs();
}

Module::~Module() = default;

const Symbol& Module::symbol() const { return state_->symbol; }
const ModuleOptions& Module::options() const { return state_->options; }
std::vector<std::string> Module::data_names() const { return state_->options.data_names; }
std::vector<std::string> Module::output_names() const { return state_->output_names; }
const std::vector<std::string>& Module::label_names() const { return state_->options.label_names; }
const std::vector<std::string>& Module::param_names() const { return state_->param_names; }
const std::vector<std::string>& Module::aux_names() const { return state_->aux_names; }
ExecutorGroup* Module::group() const { return state_->group.get(); }
const std::shared_ptr<Optimizer>& Module::optimizer() const { return state_->optimizer; }
const std::shared_ptr<KVStore>& Module::kvstore() const { return state_->store; }
bool Module::update_on_kvstore() const { return state_->update_on_store; }
const std::shared_ptr<Updater>& Module::updater() const { return state_->updater; }
bool Module::params_dirty() const { return state_->params && state_->params->dirty; }

void Module::set_params_dirty() {
  check_initialized();
  state_->params->dirty = true;
}

const Shapes& Module::data_shapes() const {
  check_bound();
  return state_->group->data_shapes();
}

Shapes Module::label_shapes() const {
  check_bound();
  return state_->group->label_shapes().value_or(Shapes{});
}

std::vector<std::pair<std::string, Shape>> Module::output_shapes() const {
  check_bound();
  return state_->group->output_shapes();
}

void Module::bind(const Shapes& data_shapes, const std::optional<Shapes>& label_shapes,
                  const ModuleBindOptions& options) {
  State& s = *state_;
  if (options.force_rebind) {
    if (binded_ && params_initialized_) get_params();  // keeps the devices' trained parameters
    binded_ = false;
    s.group = nullptr;
  }
  if (binded_) return log_warning("Already bound, ignoring bind()");
  check(options.for_training || !options.inputs_need_grad, ErrorKind::kState,
        "inputs_need_grad=True needs for_training=True");
  const Module* shared = options.shared_module;
  check(!shared || (shared->binded_ && shared->params_initialized_), ErrorKind::kState,
        "shared_module must be bound and its parameters initialised");
  check(!shared || shared->state_->options.context.size() >= s.options.context.size(),
        ErrorKind::kState, "shared_module runs on fewer devices than this module");
  const bool has_labels = label_shapes && !label_shapes->empty();
  check_names_match(s.options.data_names, data_shapes, "data", true);
  if (has_labels) check_names_match(s.options.label_names, *label_shapes, "label", false);
  GroupOptions group{.work_load = s.options.work_load_list,
                     .data_shapes = data_shapes,
                     .label_shapes = has_labels ? label_shapes : std::nullopt,
                     .param_names = s.param_names,
                     .for_training = options.for_training,
                     .inputs_need_grad = options.inputs_need_grad,
                     .shared_group = shared ? shared->state_->group.get() : nullptr,
                     .fixed_param_names = s.options.fixed_param_names,
                     .grad_req = options.grad_req,
                     .state_names = s.options.state_names,
                     .group2ctxs = s.options.group2ctxs,
                     .exact = s.options.exact,
                     .compute_dtype = s.options.compute_dtype};
  s.group = std::make_unique<ExecutorGroup>(s.symbol, s.options.context, group);
  for_training_ = options.for_training;
  inputs_need_grad_ = options.inputs_need_grad;
  if (shared) {
    params_initialized_ = true;
    s.params = shared->state_->params;
  } else if (params_initialized_) {
    const auto by_name = [](const std::vector<std::string>& names, const auto& arrays) {
      NDArrayMap map;
      for (std::size_t i = 0; i < names.size(); ++i) map[names[i]] = arrays[i].front();
      return map;
    };
    check_params(&s.params->args, by_name(s.param_names, s.group->param_arrays()), &s.params->aux,
                 by_name(s.aux_names, s.group->aux_arrays()), false);
    s.group->set_params(s.params->args, s.params->aux);
  } else {
    const auto zeros_like = [](const std::vector<std::string>& names, const auto& arrays) {
      NDArrayMap map;
      for (std::size_t i = 0; i < names.size(); ++i) {
        const NDArray& a = arrays[i].front();
        map[names[i]] = NDArray::zeros(a.shape(), cpu(), a.dtype());
      }
      return map;
    };
    s.params = std::make_shared<HostParams>();
    s.params->args = zeros_like(s.param_names, s.group->param_arrays());
    s.params->aux = zeros_like(s.aux_names, s.group->aux_arrays());
  }
  if (shared && shared->optimizer_initialized_) borrow_optimizer(*shared);
  binded_ = true;
}

void Module::reshape(const Shapes& data_shapes, const std::optional<Shapes>& label_shapes) {
  check_bound();
  const bool has_labels = label_shapes && !label_shapes->empty();
  check_names_match(state_->options.data_names, data_shapes, "data", true);
  if (has_labels) check_names_match(state_->options.label_names, *label_shapes, "label", false);
  state_->group->reshape(data_shapes, has_labels ? label_shapes : std::nullopt);
}

void Module::forward(const DataBatch& batch, std::optional<bool> is_train) {
  check_initialized();
  ExecutorGroup& group = *state_->group;
  group.reshape_for(batch);
  group.load(batch);
  group.forward(is_train);
}

void Module::backward(const std::vector<NDArray>& out_grads) {
  check_initialized();
  state_->group->backward(out_grads);
}

void Module::update() {
  check_initialized();
  check(optimizer_initialized_, ErrorKind::kState,
        "update before init_optimizer\n  fix:  call init_optimizer first");
  state_->params->dirty = true;
  state_->param_update->update(*state_->group);
}

void Module::step(const DataBatch& batch, EvalMetric& metric) {
  check_initialized();
  check(optimizer_initialized_, ErrorKind::kState,
        "step before init_optimizer\n  fix:  call init_optimizer first");
  ExecutorGroup& group = *state_->group;
  if (group.is_watched()) return BaseModule::step(batch, metric);
  state_->params->dirty = true;
  group.reshape_for(batch);
  group.load(batch);
  state_->param_update->step(group, policy_);
  group.update_metric(metric, batch.label);
}

std::vector<NDArray> Module::get_outputs() const {
  check_initialized();
  return state_->group->get_outputs();
}

std::vector<NDArray> Module::get_input_grads() const {
  check_initialized();
  return state_->group->get_input_grads();
}

std::vector<DeviceArrays> Module::get_states() const {
  check_initialized();
  return state_->group->state_arrays();
}

void Module::set_states(const std::vector<DeviceArrays>& states) {
  check_initialized();
  state_->group->set_states(states);
}

void Module::set_states(double value) {
  check_initialized();
  state_->group->set_states(value);
}

void Module::update_metric(EvalMetric& metric, const std::vector<NDArray>& labels) const {
  check_bound();
  state_->group->update_metric(metric, labels);
}

void Module::install_monitor(Monitor& monitor) {
  check_bound();
  for (Executor& e : state_->group->execs()) monitor.install(e);
}

}  // namespace symbind
