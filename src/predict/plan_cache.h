#pragma once
// A bounded cache of plans by the shapes of the inputs; the least recently used one is evicted.
//
// Decided here: a plan is made once, outside the cache's lock, so other shapes are still found;
// calls for the same shapes wait for it. A failed plan is not cached.

#include <atomic>
#include <list>
#include <mutex>

#include "predict/network.h"

namespace symbind {

/// An entry of the cache. Executors made from a plan hold its entry.
struct PlanEntry {
  Signature signature;
  bool in_child = false;             ///< made after a fork
  std::atomic<bool> evicted{false};  ///< removed from the cache; its executors must be released
  std::mutex making;
  PlannedShapes planned;  ///< complete once `made`
  bool made = false;      ///< guarded by `making`
};

class PlanCache {
 public:
  explicit PlanCache(std::size_t most) : most_(most) {}

  /// The entry of these shapes, planned.
  std::shared_ptr<PlanEntry> get(const Network& network, const Signature& signature);
  std::size_t size() const;
  std::int64_t made() const { return made_.load(); }

 private:
  std::shared_ptr<PlanEntry> find_or_add(const Signature& signature);
  void drop(const std::shared_ptr<PlanEntry>& entry);

  std::size_t most_;
  mutable std::mutex guard_;
  std::list<std::shared_ptr<PlanEntry>> entries_;  ///< most recently used first
  std::atomic<std::int64_t> made_{0};
};

}  // namespace symbind
