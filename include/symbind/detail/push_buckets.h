#pragma once
// Gradients of a training step, summed over the workers of a store in a few large messages.

#include <cstddef>
#include <functional>
#include <vector>

#include <symbind/detail/key.h>
#include <symbind/ndarray.h>

namespace symbind {

/// Changes `stored` by what was pushed for `key`, already added up over the devices.
using StoreUpdate = std::function<void(const Key& key, const NDArray& merged, NDArray& stored)>;

struct PushedKey {
  Key key;
  DType dtype;  ///< of its gradients
};

/// A fixed table that puts keys into buckets. The sum of a bucket starts when the gradients of all
/// its keys are there. A key's place is its number in the table.
class PushBuckets {
 public:
  virtual ~PushBuckets() = default;
  /// The places of each bucket's keys; buckets are in the order in which they are expected to be
  /// complete.
  virtual const std::vector<std::vector<std::size_t>>& buckets() const = 0;
  virtual std::size_t place_of(const Key& key) const = 0;
  /// Call it before the first gradient of a step. kState if the step before it was not finished.
  virtual void begin() = 0;
  /// Adds up one array per device and puts the sum into the bucket. Any thread may call it.
  virtual void put(std::size_t place, const std::vector<NDArray>& gradients) = 0;
  /// Waits until the sum of a bucket is back; at once if none was started. Any thread may call it.
  virtual void wait(std::size_t bucket) = 0;
  /// After `wait`: makes `sum` of the bucket's keys that over all workers. The next step may begin.
  virtual void take(std::size_t bucket) = 0;
  virtual const NDArray& sum(std::size_t place) const = 0;
  /// The store's value of the key.
  virtual NDArray& stored(std::size_t place) = 0;
  /// Changes `stored` by `sum`, as a push does.
  virtual void apply(std::size_t place) = 0;
  /// The function that `apply` calls; empty: the sum replaces the value.
  virtual const StoreUpdate& update() const = 0;
};

}  // namespace symbind
