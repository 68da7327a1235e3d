#include "predict/executor_pool.h"

#include <algorithm>
#include <chrono>
#include <list>

#include "base/interrupt.h"
#include "executor/watchers.h"

namespace symbind {
namespace {

constexpr std::chrono::milliseconds kPollInterval{50};  // between interrupt checks while waiting

}  // namespace

/// What runs one plan in one lane.
struct ExecutorPool::Wired {
  Wired(std::shared_ptr<PlanEntry> of, Bound bound, const std::shared_ptr<Arenas>& arenas,
        std::shared_ptr<const Plan> plan)
      : entry(std::move(of)), runner(std::move(bound), arenas, std::move(plan)) {}
  std::shared_ptr<PlanEntry> entry;
  Runner runner;
  Watchers watchers;
};

struct ExecutorPool::Lane {
  std::shared_ptr<Arenas> arenas = std::make_shared<Arenas>();
  std::list<Wired> wired;

  Wired& wired_for(const std::shared_ptr<PlanEntry>& entry, const Network& network) {
    for (Wired& w : wired)
      if (w.entry == entry) return w;
    const PlannedShapes& planned = entry->planned;
    Bound bound = planned.bound;
    std::shared_ptr<const Plan> plan = planned.plan;
    if (!planned.shareable) {  // custom operators have state, and may write auxiliary states
      plan = network.plan(entry->signature).plan;
      for (NDArray& aux : bound.aux) aux = aux.copy();
    }
    return wired.emplace_back(entry, std::move(bound), arenas, std::move(plan));
  }
  /// Moves out what is wired for evicted plans.
  void leave_evicted(std::list<Wired>& leaving) noexcept {
    for (auto it = wired.begin(); it != wired.end();) {
      const auto one = it++;
      if (one->entry->evicted.load()) leaving.splice(leaving.end(), wired, one);
    }
  }
  std::size_t bytes() const {
    std::size_t total = 0;
    for (const auto& [device, arena] : *arenas) total += arena->capacity();
    return total;
  }
};

ExecutorPool::ExecutorPool(std::size_t most) : most_(most) {}
ExecutorPool::~ExecutorPool() = default;

std::unique_ptr<ExecutorPool::Lane> ExecutorPool::take() {
  std::unique_lock lock(guard_);
  for (;;) {
    if (!idle_.empty()) {
      std::unique_ptr<Lane> lane = std::move(idle_.back());
      idle_.pop_back();
      return lane;
    }
    if (most_ == 0 || count_ < most_) {
      idle_.reserve(count_ + 1);  // returning a lane must not fail
      ++count_;
      break;
    }
    returned_.wait_for(lock, kPollInterval);
    lock.unlock();  // the check may wait for a thread that waits for this lock
    interruption_point();
    lock.lock();
  }
  lock.unlock();
  try {
    return std::make_unique<Lane>();
  } catch (...) {
    lock.lock();
    --count_;
    throw;
  }
}

void ExecutorPool::give_back(std::unique_ptr<Lane> lane) noexcept {
  std::list<Wired> leaving;  // destroyed after unlocking: may own user objects
  {
    const std::lock_guard lock(guard_);
    idle_.push_back(std::move(lane));
    for (const auto& one : idle_) one->leave_evicted(leaving);
  }
  returned_.notify_one();
}

void ExecutorPool::describe(PredictorStats& stats) const {
  const std::lock_guard lock(guard_);
  stats.pool = static_cast<int>(count_);
  for (const auto& lane : idle_) {
    stats.arena_bytes += lane->bytes();
    stats.wired += static_cast<int>(lane->wired.size());
  }
}

ExecutorPool::Lease::Lease(ExecutorPool& pool, const std::shared_ptr<PlanEntry>& entry,
                           const Network& network)
    : pool_(pool), lane_(pool.take()) {
  try {
    wired_ = &lane_->wired_for(entry, network);
  } catch (...) {
    pool_.give_back(std::move(lane_));
    throw;
  }
}

ExecutorPool::Lease::~Lease() {
  wired_->runner.empty();
  pool_.give_back(std::move(lane_));
}

void ExecutorPool::Lease::fill(const std::vector<std::pair<std::size_t, NDArray>>& args,
                               std::vector<NDArray> outputs) {
  wired_->runner.fill(args, std::move(outputs));
}

void ExecutorPool::Lease::run(std::size_t first, std::size_t last) {
  wired_->runner.predict(first, last, wired_->watchers);
}

}  // namespace symbind
