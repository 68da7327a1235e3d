// Decided here: a bucket has a few megabytes, so that a step of many small arrays sends few
// messages, and a step of large ones can send while it computes. The first bucket is smaller: it
// starts the sending. The order is worker 0's, because networks of several lengths finish their
// gradients in different orders.

#include "kvstore/dist_buckets.h"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/profiling.h"
#include "kvstore/reduce.h"
#include "ndarray/recorder.h"

namespace symbind {
namespace {

constexpr std::int64_t kFirstBytes = std::int64_t{1} << 20;
constexpr std::int64_t kBytes = std::int64_t{4} << 20;

/// The places sorted by key, so that all workers have the same list.
std::vector<std::size_t> sorted_places(const std::vector<PushedKey>& keys) {
  std::vector<std::size_t> sorted(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) sorted[i] = i;
  std::ranges::sort(sorted, {}, [&](std::size_t i) -> const Key& { return keys[i].key; });
  return sorted;
}

/// Worker 0's order, as places of this worker's list.
std::vector<std::size_t> common_order(Workers& workers, const std::vector<PushedKey>& keys) {
  const std::vector<std::size_t> sorted = sorted_places(keys);
  std::vector<std::string> facts;
  std::vector<std::size_t> rank(keys.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const PushedKey& one = keys[sorted[i]];
    facts.push_back(fmt::format("{} {}", key_text(one.key), dtype_name(one.dtype)));
    rank[sorted[i]] = i;
  }
  workers.agree("the gradients of a step", fmt::format("{}", fmt::join(facts, ", ")));
  std::istringstream first(
      workers.gather("the order of gradients", fmt::format("{}", fmt::join(rank, " "))).front());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; first >> i;) order.push_back(sorted.at(i));
  SYMBIND_ASSERT(order.size() == keys.size());
  return order;
}

}  // namespace

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<PushedKey>& keys,
                                                   const std::vector<std::int64_t>& sizes,
                                                   const std::vector<std::size_t>& order) {
  struct Open {
    std::vector<std::size_t> places;
    std::int64_t bytes = 0;
  };
  std::vector<std::vector<std::size_t>> full;
  std::map<DType, Open> open;
  for (const std::size_t place : order) {
    const DType dtype = keys[place].dtype;
    Open& one = open[dtype];
    one.places.push_back(place);
    one.bytes += sizes[place] * static_cast<std::int64_t>(size_of(dtype));
    if (one.bytes < (full.empty() ? kFirstBytes : kBytes)) continue;
    full.push_back(std::move(one.places));
    open.erase(dtype);
  }
  for (auto& [dtype, one] : open) full.push_back(std::move(one.places));
  return full;
}

DistBuckets::DistBuckets(DistStore& store, const std::vector<PushedKey>& keys) : store_(store) {
  std::vector<std::int64_t> sizes;
  for (const PushedKey& one : keys) {
    places_.push_back({one.key, &store.entry(one.key, "push")});
    sizes.push_back(places_.back().entry->stored.size());
  }
  table_ = fill_buckets(keys, sizes, common_order(*store.job_, keys));
  for (std::size_t b = 0; b < table_.size(); ++b) {
    std::vector<Bucket::Member> members;
    for (const std::size_t place : table_[b]) {
      places_[place].bucket = b;
      places_[place].member = members.size();
      members.push_back({keys[place].key, places_[place].entry->stored.shape()});
    }
    parts_.push_back(std::make_unique<Part>(*store.job_, keys[table_[b].front()].dtype, members));
  }
}

std::size_t DistBuckets::place_of(const Key& key) const {
  const auto it = std::ranges::find(places_, key, &Place::key);
  SYMBIND_ASSERT(it != places_.end());
  return static_cast<std::size_t>(it - places_.begin());
}

void DistBuckets::begin() {
  for (std::size_t b = 0; b < parts_.size(); ++b)
    check(!parts_[b]->bucket.is_started() && parts_[b]->missing == table_[b].size(),
          ErrorKind::kState,
          "kvstore: an error ended the last step before all gradients were summed over the "
          "workers\n  fix:  start the job again; resume= continues from the last checkpoint");
}

void DistBuckets::put(std::size_t place, const std::vector<NDArray>& gradients) {
  const Unrecorded within;
  const profiling::ApiSpan span("KVStore.push");
  const Place& p = places_[place];
  Part& part = *parts_[p.bucket];
  for (const NDArray& gradient : gradients) gradient.wait_to_read();
  sum_in_order(gradients, part.bucket.merged(p.member));
  if (part.missing.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::lock_guard lock(starting_);
  part.bucket.start(store_.compression_ ? &*store_.compression_ : nullptr, store_.residuals_);
  if (p.bucket == 0) store_.job_->count_update();
}

void DistBuckets::wait(std::size_t bucket) {
  const profiling::ApiSpan span("KVStore.pull");
  parts_[bucket]->bucket.wait();
}

void DistBuckets::take(std::size_t bucket) {
  const Unrecorded within;
  Part& part = *parts_[bucket];
  if (!part.bucket.is_started()) return;
  part.bucket.take();
  part.missing = table_[bucket].size();
}

const NDArray& DistBuckets::sum(std::size_t place) const {
  const Place& p = places_[place];
  return parts_[p.bucket]->bucket.merged(p.member);
}

void DistBuckets::apply(std::size_t place) {
  const Unrecorded within;
  store_.apply(places_[place].key, *places_[place].entry, sum(place));
}

}  // namespace symbind
