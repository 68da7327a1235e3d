#include "predict/plan_cache.h"

#include <algorithm>
#include <iterator>

#include "base/parallel.h"

namespace symbind {

std::shared_ptr<PlanEntry> PlanCache::find_or_add(const Signature& signature) {
  const bool in_child = is_forked_child();
  std::list<std::shared_ptr<PlanEntry>> leaving;  // destroyed after unlocking: may own user objects
  const std::lock_guard lock(guard_);
  const auto found = std::ranges::find_if(entries_, [&](const auto& entry) {
    return entry->in_child == in_child && entry->signature == signature;
  });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front();
  }
  auto entry = std::make_shared<PlanEntry>();
  entry->signature = signature;
  entry->in_child = in_child;
  entries_.push_front(entry);
  while (entries_.size() > most_) {
    entries_.back()->evicted.store(true);
    leaving.splice(leaving.end(), entries_, std::prev(entries_.end()));
  }
  return entry;
}

void PlanCache::drop(const std::shared_ptr<PlanEntry>& entry) {
  const std::lock_guard lock(guard_);
  entry->evicted.store(true);
  entries_.remove(entry);
}

std::shared_ptr<PlanEntry> PlanCache::get(const Network& network, const Signature& signature) {
  std::shared_ptr<PlanEntry> entry = find_or_add(signature);
  const std::lock_guard lock(entry->making);
  if (entry->made) return entry;
  try {
    entry->planned = network.plan(signature);
  } catch (...) {
    drop(entry);
    throw;
  }
  entry->made = true;
  made_.fetch_add(1);
  return entry;
}

std::size_t PlanCache::size() const {
  const std::lock_guard lock(guard_);
  return entries_.size();
}

}  // namespace symbind
