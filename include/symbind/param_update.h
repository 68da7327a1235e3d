#pragma once
// From gradients to weights over the devices of a group: on a store, or beside it.

#include <memory>
#include <vector>

#include <symbind/executor_group.h>
#include <symbind/kvstore.h>
#include <symbind/optimizer.h>
#include <symbind/update_policy.h>

namespace symbind {

/// Runs an optimizer over a group's parameters. The store may be null (one device); with
/// `on_store` its update function, which the owner has set, changes the weights.
class ParamUpdate {
 public:
  ParamUpdate(std::shared_ptr<Updater> updater, std::shared_ptr<KVStore> store, bool on_store);
  ~ParamUpdate();

  /// Changes the weights by the gradients that are there.
  void update(ExecutorGroup& group);
  /// Forward, backward and update of what was loaded, as one. Leaves what the three would leave. A
  /// policy decides whether the update is due.
  void step(ExecutorGroup& group, UpdatePolicy* policy = nullptr);

  const std::shared_ptr<Updater>& updater() const { return updater_; }
  const std::shared_ptr<KVStore>& store() const { return store_; }
  bool on_store() const { return on_store_; }

 private:
  struct Fused;
  bool fuse(ExecutorGroup& group);
  bool is_current(const Executor& executor) const;
  void set_values();

  std::shared_ptr<Updater> updater_;
  std::shared_ptr<KVStore> store_;
  bool on_store_;
  std::unique_ptr<Fused> fused_;  ///< of the executor that ran last
};

}  // namespace symbind
