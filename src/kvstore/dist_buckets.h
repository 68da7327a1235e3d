#pragma once
// The buckets of a distributed store.

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "kvstore/bucket.h"
#include "kvstore/dist_store.h"

namespace symbind {

/// The places of each bucket's keys. `order` lists places; a bucket has keys of one type and is
/// closed when it has enough bytes.
std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<PushedKey>& keys,
                                                   const std::vector<std::int64_t>& sizes,
                                                   const std::vector<std::size_t>& order);

class DistBuckets final : public PushBuckets {
 public:
  /// All workers call it with the same keys.
  DistBuckets(DistStore& store, const std::vector<PushedKey>& keys);

  const std::vector<std::vector<std::size_t>>& buckets() const override { return table_; }
  std::size_t place_of(const Key& key) const override;
  void begin() override;
  void put(std::size_t place, const std::vector<NDArray>& gradients) override;
  void wait(std::size_t bucket) override;
  void take(std::size_t bucket) override;
  const NDArray& sum(std::size_t place) const override;
  NDArray& stored(std::size_t place) override { return places_[place].entry->stored; }
  void apply(std::size_t place) override;
  const StoreUpdate& update() const override { return store_.update_; }

 private:
  struct Place {
    Key key;
    DistStore::Entry* entry;
    std::size_t bucket = 0, member = 0;
  };
  struct Part {
    Part(DistJob& job, DType dtype, const std::vector<Bucket::Member>& members)
        : bucket(job, job.next_key(), 0, dtype, members), missing(members.size()) {}
    Bucket bucket;
    std::atomic<std::size_t> missing;  ///< keys whose gradient is not there yet
  };

  DistStore& store_;
  std::vector<Place> places_;
  std::vector<std::vector<std::size_t>> table_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::mutex starting_;  ///< of what buckets share when they start
};

}  // namespace symbind
