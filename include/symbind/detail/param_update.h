#pragma once
// From gradients to weights over the devices of a group: on a store, or on the devices.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <symbind/detail/executor_group.h>
#include <symbind/kvstore.h>
#include <symbind/optimizer.h>
#include <symbind/update_policy.h>

namespace symbind {

/// Whether a training has a store, and whether that runs the updates.
struct StoreChoice {
  bool needed = false, runs_updates = false;
};
/// `name` is the user's choice, empty where a store was given; `largest` counts the numbers
/// of the largest parameter; `can_update` says whether the store can run updates at all.
StoreChoice choose_store(const std::string& name, std::size_t devices, std::int64_t largest,
                         bool can_update);
/// What gradients are multiplied by to be the mean over a batch of `rows`, on all workers if the
/// store adds them up in step.
double gradient_scale(std::int64_t rows, const std::string& store_type,
                      const std::function<int()>& workers);
/// The names of parameters by the numbers their updates have; `devices` is 1 for updates on a
/// store.
Optimizer::Names update_names(const std::vector<std::string>& params, std::size_t devices);

/// The update function of a store that calls an Updater, and the Updater of such a function (else
/// null).
StoreUpdate store_update(std::shared_ptr<Updater> updater);
std::shared_ptr<Updater> updater_of(const StoreUpdate& update);

class WiredUpdate;
class WorkerUpdate;

/// Runs an optimizer over a group's parameters. The store may be null (one device); with
/// `on_store` its update function, which the owner has set, changes the weights, and the updater
/// may be null for `update`.
class ParamUpdate {
 public:
  ParamUpdate(std::shared_ptr<Updater> updater, std::shared_ptr<KVStore> store, bool on_store);
  ~ParamUpdate();

  /// Updates the weights by the current gradients.
  void update(ExecutorGroup& group);
  /// Forward, backward and update of what was loaded, as one, with the same results. The policy
  /// decides whether the update is due.
  void step(ExecutorGroup& group, UpdatePolicy& policy);

  const std::shared_ptr<Updater>& updater() const { return updater_; }
  const std::shared_ptr<KVStore>& store() const { return store_; }
  bool on_store() const { return on_store_; }

 private:
  bool fuse(ExecutorGroup& group);
  void push_and_pull(ExecutorGroup& group);
  void update_on_devices(ExecutorGroup& group);

  std::shared_ptr<Updater> updater_;
  std::shared_ptr<KVStore> store_;
  bool on_store_;
  std::unique_ptr<WiredUpdate> wired_;  ///< of the executor that ran last
  std::unique_ptr<WorkerUpdate> over_workers_;
};

}  // namespace symbind
