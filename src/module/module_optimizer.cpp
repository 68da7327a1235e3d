// The optimizer of a Module: which store sums gradients, where the weights are updated, and the
// keys of the parameters there.

#include <algorithm>

#include <fmt/format.h>

#include <symbind/detail/remote_states.h>
#include <symbind/log.h>

#include "base/check.h"
#include "base/files.h"
#include "base/settings.h"
#include "module/module_state.h"

namespace symbind {
namespace {

// Parameters with more elements are updated on the devices instead of on a local store.
constexpr std::int64_t kLargeParameter = 16 * 1024 * 1024;

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// Where the updates run, if that is in other processes.
RemoteUpdates* remote_of(const auto& state) {
  return state.update_on_store ? state.store->remote() : nullptr;
}

std::int64_t largest(const NDArrayMap& params) {
  std::int64_t most = 0;
  for (const auto& [name, array] : params) most = std::max(most, array.size());
  return most;
}

}  // namespace

StoreChoice choose_store(const std::string& name, std::size_t devices, std::int64_t largest,
                         bool can_update) {
  settings::refresh();
  if (!name.empty() && devices == 1 && !contains(name, "dist")) return {};
  const bool on_devices = name == "local" && largest > kLargeParameter;
  return {true, can_update && !on_devices && settings::flag("MXNET_UPDATE_ON_KVSTORE")};
}

double gradient_scale(std::int64_t rows, const std::string& store_type,
                      const std::function<int()>& workers) {
  if (contains(store_type, "dist") && contains(store_type, "_sync")) rows *= workers();
  return 1.0 / static_cast<double>(std::max<std::int64_t>(rows, 1));
}

Optimizer::Names update_names(const std::vector<std::string>& params, std::size_t devices) {
  Optimizer::Names names;
  for (std::size_t i = 0; i < params.size(); ++i)
    for (std::size_t d = 0; d < devices; ++d)
      names[static_cast<std::int64_t>(i * devices + d)] = params[i];
  return names;
}

void Module::init_optimizer(const InitOptimizerOptions& options) {
  check_initialized();
  if (optimizer_initialized_ && !options.force_init)
    return log_warning("optimizer already initialized, ignoring...");
  State& s = *state_;
  get_params();
  const std::size_t devices = s.options.context.size();
  const StoreArg& given = options.kvstore;
  std::shared_ptr<KVStore> store = given.store();
  if (!given.name().empty())
    store = create_kvstore(given.name());  // a wrong name is an error on one device, too
  const StoreChoice choice =
      choose_store(given.name(), devices, largest(s.params->args), store && store->can_update());
  if (!choice.needed) store = nullptr;
  const bool on_store = store && choice.runs_updates;
  const double rescale = gradient_scale(s.group->batch_size(), store ? store->type() : "",
                                        [&] { return store->num_workers(); });
  const Optimizer::Names names = update_names(s.param_names, on_store ? 1 : devices);
  std::shared_ptr<Optimizer> optimizer = options.optimizer.optimizer();
  if (!optimizer) {
    OptimizerParams params = options.optimizer_params;
    params.emplace("rescale_grad", rescale);
    optimizer = create_optimizer(options.optimizer.name(), params);
    optimizer->set_parameters(names, s.symbol);
  } else {
    if (optimizer->rescale_grad != rescale) {
      log_warning(fmt::format(
          "Optimizer created manually outside Module but rescale_grad is not normalized to "
          "1.0/batch_size/num_workers ({} vs. {}). Is this intended?",
          optimizer->rescale_grad, rescale));
    }
    if (optimizer->idx2name().empty()) optimizer->idx2name() = names;
  }
  s.optimizer = optimizer;
  s.store = store;
  s.update_on_store = on_store;
  s.updater = std::make_shared<Updater>(optimizer);
  s.param_update = std::make_unique<ParamUpdate>(s.updater, store, on_store);
  if (store && !s.options.compression_params.empty())
    store->set_gradient_compression(s.options.compression_params);
  if (on_store && store->remote() != nullptr)
    store->remote()->set_optimizer(sent_optimizer(*optimizer));
  else if (on_store)
    store->set_updater(store_update(s.updater));
  for (std::size_t i = 0; store && i < s.param_names.size(); ++i) {
    const NDArray& value = s.params->args.at(s.param_names[i]);
    if (on_store)
      store->broadcast(s.param_names[i], value, s.group->param_arrays()[i]);
    else
      store->init(s.param_names[i], value);
  }
  optimizer_initialized_ = true;
  if (!s.preloaded_states.empty()) {
    load_optimizer_states(s.preloaded_states);
    s.preloaded_states.clear();
  }
}

void Module::borrow_optimizer(const Module& other) {
  check(other.optimizer_initialized_, ErrorKind::kState,
        "borrow_optimizer: the other module has no optimizer");
  State& s = *state_;
  const State& o = *other.state_;
  s.optimizer = o.optimizer;
  s.store = o.store;
  s.update_on_store = o.update_on_store;
  s.updater = o.updater;
  s.param_update = std::make_unique<ParamUpdate>(s.updater, s.store, s.update_on_store);
  optimizer_initialized_ = true;
}

void Module::save_optimizer_states(const std::string& path) const {
  check(optimizer_initialized_, ErrorKind::kState,
        "save_optimizer_states before init_optimizer\n  fix:  call init_optimizer first");
  if (RemoteUpdates* remote = remote_of(*state_)) fetch_states(*remote, *state_->updater);
  write_file(path, state_->updater->get_states());
}

void Module::load_optimizer_states(const std::string& path) {
  check(optimizer_initialized_, ErrorKind::kState,
        "load_optimizer_states before init_optimizer\n  fix:  call init_optimizer first");
  const std::vector<std::byte> bytes = read_file(path);
  state_->updater->set_states({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  if (RemoteUpdates* remote = remote_of(*state_)) send_states(*remote, *state_->updater);
}

}  // namespace symbind
