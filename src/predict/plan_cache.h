#pragma once
// Plans by the shapes of the inputs, as many as are allowed; the one not asked for longest goes.
//
// Decided here: a plan is made outside the cache's lock, once, while other shapes go on being
// found; whoever asks for the same one waits for it. A plan that could not be made is not kept.

#include <atomic>
#include <list>
#include <mutex>

#include "predict/network.h"

namespace symbind {

/// A place in the cache. Executors made of a plan hold its place.
struct PlanEntry {
  Signature signature;
  bool in_child = false;             ///< made behind a fork
  std::atomic<bool> evicted{false};  ///< it left the cache; whoever holds executors lets them go
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
  std::list<std::shared_ptr<PlanEntry>> entries_;  ///< the one asked for last first
  std::atomic<std::int64_t> made_{0};
};

}  // namespace symbind
