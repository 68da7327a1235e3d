#pragma once
// KVStore: sums what several devices and workers push and returns the result.
//
// A store reduces and broadcasts. It may be given an update function; it never creates one.
// Sums are taken in device order, independent of timing: equal pushes give equal bits.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <symbind/attr_dict.h>
#include <symbind/detail/key.h>
#include <symbind/detail/push_buckets.h>
#include <symbind/detail/state_value.h>
#include <symbind/detail/workers.h>
#include <symbind/ndarray.h>

namespace symbind {

class RemoteUpdates;

class KVStore {
 public:
  virtual ~KVStore() = default;
  /// The name it was made by, in lower case.
  virtual std::string type() const = 0;
  /// Gives a key its first value. A key is initialised once; keys are all numbers or all names.
  virtual void init(const Key& key, const NDArray& value) = 0;
  /// Adds up one array per device. Without an update function the sum replaces the stored value.
  virtual void push(const Key& key, const std::vector<NDArray>& values, int priority = 0) = 0;
  /// The same for arrays most of whose rows are 0: a store over several processes sends only the
  /// others, and all workers push such keys in the same order.
  virtual void push_rows(const Key& key, const std::vector<NDArray>& values, int priority = 0) {
    push(key, values, priority);
  }
  /// Copies the stored value into each of `out`.
  virtual void pull(const Key& key, const std::vector<NDArray>& out, int priority = 0) = 0;
  /// push and pull as one; `out` may be the pushed arrays.
  virtual void pushpull(const Key& key, const std::vector<NDArray>& values,
                        const std::vector<NDArray>& out, int priority = 0) {
    push(key, values, priority);
    pull(key, out, priority);
  }
  /// init and pull as one.
  virtual void broadcast(const Key& key, const NDArray& value, const std::vector<NDArray>& out,
                         int priority = 0) {
    init(key, value);
    pull(key, out, priority);
  }
  /// Replaces the stored value, without an update, a sum or compression: all workers give the same.
  /// A training that resumes needs it of a store that runs the updates.
  virtual void assign(const Key& key, const NDArray& value);
  /// From now on pushed gradients are compressed: {{"type", "2bit"}, {"threshold", "0.5"}}, or type
  /// "fp16" or "bf16". Distributed stores and those whose type contains device do this; others
  /// throw kNotImplemented.
  virtual void set_gradient_compression(const AttrDict& params);
  /// What checkpoints save of the store beside its values: residuals of compression, or kNone.
  virtual StateValue state() const { return StateValue::none(); }
  virtual void set_state(const StateValue& /*state*/) {}
  /// From now on a push calls `update` instead of replacing the stored value.
  virtual void set_updater(StoreUpdate update) = 0;
  /// Whether updates can run on the store.
  virtual bool can_update() const { return true; }
  virtual int rank() const { return 0; }
  virtual int num_workers() const { return 1; }
  /// The other workers, for what they do together; null for a store of one process, or if every
  /// worker trains independently of the others (dist_async).
  virtual Workers* workers() { return nullptr; }
  /// The processes that run the updates; null if they run in this one.
  virtual RemoteUpdates* remote() { return nullptr; }
  /// Waits for the other workers.
  virtual void barrier() {}
  /// Whether `buckets` makes any.
  virtual bool has_buckets() const { return false; }
  /// Buckets for these keys, which are in the order in which their gradients become final; worker
  /// 0's order counts. All workers call it. Null for a store that takes pushes key by key.
  virtual std::shared_ptr<PushBuckets> buckets(const std::vector<PushedKey>& /*keys*/) {
    return nullptr;
  }
};

/// Throws unless set_gradient_compression accepts these parameters.
void check_compression_params(const AttrDict& params);

/// "local", "device" and similar names; "dist_sync", "dist_async" and similar names in a process of
/// a job; or a registered store.
std::shared_ptr<KVStore> create_kvstore(const std::string& type = "local");
using StoreFactory = std::function<std::shared_ptr<KVStore>(const std::string& type)>;
/// Registers `type` for create_kvstore; takes precedence over built-in names.
void register_kvstore(const std::string& type, StoreFactory factory);

}  // namespace symbind
