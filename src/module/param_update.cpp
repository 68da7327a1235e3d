// Updates of the weights.
//
// Decided here: on one device whose optimizer is one operator per weight, the updates are wired
// into the executor: `step` runs them after backward as one, `update` runs them alone. Over several
// workers sums overlap with backward and the next forward. Everything else updates weight by
// weight, or on the store.

#include <symbind/detail/param_update.h>

#include "base/profiling.h"
#include "base/team.h"
#include "module/wired_update.h"
#include "module/worker_update.h"

namespace symbind {
namespace {

struct UpdaterCall {
  std::shared_ptr<Updater> updater;
  void operator()(const Key& key, const NDArray& merged, NDArray& stored) const {
    (*updater)(key, merged, stored);
  }
};

}  // namespace

StoreUpdate store_update(std::shared_ptr<Updater> updater) {
  return UpdaterCall{std::move(updater)};
}

std::shared_ptr<Updater> updater_of(const StoreUpdate& update) {
  const auto* call = update.target<UpdaterCall>();
  return call == nullptr ? nullptr : call->updater;
}

ParamUpdate::ParamUpdate(std::shared_ptr<Updater> updater, std::shared_ptr<KVStore> store,
                         bool on_store)
    : updater_(std::move(updater)), store_(std::move(store)), on_store_(on_store) {
  if (store_ && store_->has_buckets())
    over_workers_ = std::make_unique<WorkerUpdate>(updater_, store_, on_store_);
}
ParamUpdate::~ParamUpdate() = default;

void ParamUpdate::update(ExecutorGroup& group) {
  const profiling::ApiSpan span("Module.update");
  if (fuse(group)) {
    wired_->set_values();
    wired_->run();
    return;
  }
  if (over_workers_)
    over_workers_->update(group);
  else if (store_)
    push_and_pull(group);
  if (!on_store_) update_on_devices(group);
}

void ParamUpdate::push_and_pull(ExecutorGroup& group) {
  const auto& grads = group.grad_arrays();
  const auto& out = on_store_ ? group.param_arrays() : grads;
  const std::vector<std::string>& names = group.options().param_names;
  const TeamScope scope(group.team());  // these threads run before and after
  // All pushes to servers are under way before the first value is waited for.
  const bool ahead = store_->remote() != nullptr;
  for (std::size_t i = 0; ahead && i < grads.size(); ++i)
    if (grads[i].front().defined()) store_->push(names[i], grads[i], -static_cast<int>(i));
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].front().defined()) continue;
    if (ahead)
      store_->pull(names[i], out[i], -static_cast<int>(i));
    else
      store_->pushpull(names[i], grads[i], out[i], -static_cast<int>(i));
  }
}

void ParamUpdate::update_on_devices(ExecutorGroup& group) {
  const auto& grads = group.grad_arrays();
  const std::size_t devices = group.contexts().size();
  const TeamScope scope(group.team());
  std::vector<Key> keys;
  std::vector<NDArray> gradients, weights;
  for (std::size_t d = 0; d < devices; ++d) {
    keys.clear();
    gradients.clear();
    weights.clear();
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].front().defined()) continue;
      keys.emplace_back(static_cast<std::int64_t>(i * devices + d));
      gradients.push_back(grads[i][d]);
      weights.push_back(group.param_arrays()[i][d]);
    }
    if (!keys.empty()) updater_->update(keys, gradients, weights);
  }
}

// Whether the updates can run wired; wires them if necessary.
bool ParamUpdate::fuse(ExecutorGroup& group) {
  if (store_ || group.contexts().size() != 1 || !group.options().for_training) return false;
  const Executor& executor = group.execs().front();
  if (wired_ && wired_->is_current(*updater_, executor)) return true;
  std::vector<WiredUpdate::Item> items;
  for (std::size_t i = 0; i < group.grad_arrays().size(); ++i) {
    const NDArray& grad = group.grad_arrays()[i].front();
    if (grad.defined())
      items.push_back({static_cast<std::int64_t>(i), group.param_arrays()[i].front(), grad});
  }
  if (!wired_) wired_ = std::make_unique<WiredUpdate>();
  return wired_->wire(*updater_, executor, items);
}

void ParamUpdate::step(ExecutorGroup& group, UpdatePolicy& policy) {
  const profiling::ApiSpan span("Module.step");
  const bool unchanged = !policy.changes_gradients();
  const bool fused = unchanged && fuse(group);
  if (over_workers_ && unchanged)
    over_workers_->forward_backward(group);
  else if (!fused)
    group.forward_backward();
  const auto change = [&] {
    if (!fused) return update(group);
    wired_->set_values();
    wired_->run_step();
  };
  // One reference each: a std::function with a larger capture allocates.
  policy.step(
      [&](bool) {
        return UpdatePolicy::Parts{
            {&group, updater_->optimizer()->rescale_grad, store_ ? store_->workers() : nullptr}};
      },
      [&change] { change(); });
}

}  // namespace symbind
