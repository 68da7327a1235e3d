// The optimizer of a Module: which store adds gradients up, where the weights change, and what the
// parameters are called there.

#include <algorithm>

#include <fmt/format.h>

#include <symbind/log.h>

#include "base/check.h"
#include "base/files.h"
#include "base/settings.h"
#include "module/module_state.h"

namespace symbind {
namespace {

// Above this many elements a parameter is better updated on the devices than on a local store.
constexpr std::int64_t kLargeParameter = 16 * 1024 * 1024;

struct StoreChoice {
  std::shared_ptr<KVStore> store;
  bool update_on_store;
};

StoreChoice choose_store(const StoreArg& given, std::size_t devices, const NDArrayMap& params) {
  settings::refresh();
  bool on_store = settings::flag("MXNET_UPDATE_ON_KVSTORE");
  std::shared_ptr<KVStore> store = given.store();
  if (!store && !given.name().empty()) {
    const bool needed = devices > 1 || given.name().find("dist") != std::string::npos;
    store = create_kvstore(given.name());  // a wrong name is an error on one device, too
    if (!needed) store = nullptr;
    const bool large = std::ranges::any_of(
        params, [](const auto& p) { return p.second.size() > kLargeParameter; });
    if (given.name() == "local" && large) on_store = false;
  }
  return {store, store && on_store && store->can_update()};
}

}  // namespace

void Module::init_optimizer(const InitOptimizerOptions& options) {
  check_initialized();
  if (optimizer_initialized_ && !options.force_init)
    return log_warning("optimizer already initialized, ignoring...");
  State& s = *state_;
  get_params();
  const std::size_t devices = s.options.context.size();
  const auto [store, on_store] = choose_store(options.kvstore, devices, s.params->args);

  std::int64_t batch_size = s.group->batch_size();
  if (store && store->type().find("dist") != std::string::npos &&
      store->type().find("_sync") != std::string::npos)
    batch_size *= store->num_workers();
  const double rescale = 1.0 / static_cast<double>(std::max<std::int64_t>(batch_size, 1));

  Optimizer::Names names;
  for (std::size_t i = 0; i < s.param_names.size(); ++i) {
    for (std::size_t d = 0; d < (on_store ? 1 : devices); ++d)
      names[static_cast<std::int64_t>(on_store ? i : i * devices + d)] = s.param_names[i];
  }
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
  if (on_store) {
    store->set_updater([updater = s.updater](const Key& key, const NDArray& grad, NDArray& weight) {
      (*updater)(key, grad, weight);
    });
  }
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
  write_file(path, state_->updater->get_states());
}

void Module::load_optimizer_states(const std::string& path) {
  check(optimizer_initialized_, ErrorKind::kState,
        "load_optimizer_states before init_optimizer\n  fix:  call init_optimizer first");
  const std::vector<std::byte> bytes = read_file(path);
  state_->updater->set_states({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace symbind
