#pragma once
// The state of a Module.

#include <symbind/detail/param_update.h>
#include <symbind/module.h>

namespace symbind {

/// The host's copy of the parameters. Modules of one set of buckets share it.
struct HostParams {
  NDArrayMap args, aux;
  bool dirty = false;  ///< the devices hold newer values
};

struct Module::State {
  Symbol symbol;
  ModuleOptions options;
  std::vector<std::string> param_names, aux_names, output_names;
  std::shared_ptr<HostParams> params;  ///< null before bind
  std::unique_ptr<ExecutorGroup> group;
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<KVStore> store;
  bool update_on_store = false;
  std::shared_ptr<Updater> updater;
  std::unique_ptr<ParamUpdate> param_update;
  std::string preloaded_states;  ///< file to load when the optimizer is made
};

}  // namespace symbind
