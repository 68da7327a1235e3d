// The parameters of a Module: from initializers or given arrays to the devices, and back as the
// mean over the devices.

#include <fmt/format.h>

#include <symbind/log.h>

#include "base/check.h"
#include "module/module_state.h"

namespace symbind {

void Module::init_params(const InitParamsOptions& options) {
  if (params_initialized_ && !options.force_init) {
    return log_warning(
        "Parameters already initialized and force_init=False. init_params call ignored.");
  }
  check(binded_, ErrorKind::kState, "call bind before initializing the parameters");
  State& s = *state_;
  const auto pointer = [](const std::optional<NDArrayMap>& map) { return map ? &*map : nullptr; };
  check_params(pointer(options.arg_params), s.params->args, pointer(options.aux_params),
               s.params->aux, options.allow_missing);
  const auto attrs = s.symbol.attr_dict();
  const auto fill = [&](NDArrayMap& arrays, const NDArrayMap* given) {
    for (auto& [name, array] : arrays) {
      if (given && given->contains(name)) {
        const NDArray& from = given->at(name);
        if (!from.aliases(array)) from.copy_to(array);
        continue;
      }
      if (!options.initializer) continue;
      const auto it = attrs.find(name);
      (*options.initializer)({.name = name,
                              .attrs = it == attrs.end() ? AttrDict{} : it->second,
                              .global_init = options.initializer.get()},
                             array);
    }
  };
  fill(s.params->args, pointer(options.arg_params));
  fill(s.params->aux, pointer(options.aux_params));
  params_initialized_ = true;
  s.params->dirty = false;
  s.group->set_params(s.params->args, s.params->aux, options.allow_extra);
}

void Module::set_params(const NDArrayMap& args, const NDArrayMap& aux,
                        const SetParamsOptions& options) {
  if (!options.allow_missing) {
    return init_params({.initializer = nullptr,
                        .arg_params = args,
                        .aux_params = aux,
                        .force_init = options.force_init,
                        .allow_extra = options.allow_extra});
  }
  if (params_initialized_ && !options.force_init) {
    return log_warning(
        "Parameters already initialized and force_init=False. set_params call ignored.");
  }
  check_bound();
  state_->group->set_params(args, aux, options.allow_extra);
  state_->params->dirty = true;
  params_initialized_ = true;
}

ModelParams Module::get_params() {
  check(params_initialized_, ErrorKind::kState,
        "get_params before init_params\n  fix:  call init_params first");
  State& s = *state_;
  if (s.params->dirty) {
    s.group->get_params(s.params->args, s.params->aux);
    s.params->dirty = false;
  }
  return {s.params->args, s.params->aux};
}

std::unique_ptr<Module> Module::load(const std::string& prefix, int epoch,
                                     bool load_optimizer_states, const ModuleOptions& options) {
  Checkpoint saved = load_checkpoint(prefix, epoch);
  auto module = std::make_unique<Module>(saved.symbol, options);
  module->state_->params = std::make_shared<HostParams>();
  module->state_->params->args = std::move(saved.args);
  module->state_->params->aux = std::move(saved.aux);
  module->params_initialized_ = true;
  if (load_optimizer_states)
    module->state_->preloaded_states = checkpoint_path(prefix, epoch, "states");
  return module;
}

void Module::save_checkpoint(const std::string& prefix, int epoch, bool save_optimizer_states) {
  state_->symbol.save(prefix + "-symbol.json");
  const std::string params = checkpoint_path(prefix, epoch);
  save_params(params);
  log_info(fmt::format("Saved checkpoint to \"{}\"", params));
  if (!save_optimizer_states) return;
  const std::string states = checkpoint_path(prefix, epoch, "states");
  this->save_optimizer_states(states);
  log_info(fmt::format("Saved optimizer state to \"{}\"", states));
}

}  // namespace symbind
