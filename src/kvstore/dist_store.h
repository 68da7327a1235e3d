#pragma once
// The store of dist_sync: every worker has all values and makes the same updates.

#include <map>
#include <optional>

#include <symbind/kvstore.h>

#include "kvstore/bucket.h"
#include "kvstore/compression.h"
#include "kvstore/dist_job.h"
#include "kvstore/row_sums.h"

namespace symbind {

class DistStore final : public KVStore {
 public:
  DistStore(std::string type, std::shared_ptr<DistJob> job);
  ~DistStore() override;

  std::string type() const override { return type_; }
  void init(const Key& key, const NDArray& value) override;
  void push(const Key& key, const std::vector<NDArray>& values, int priority) override;
  void push_rows(const Key& key, const std::vector<NDArray>& values, int priority) override;
  void pull(const Key& key, const std::vector<NDArray>& out, int priority) override;
  void pushpull(const Key& key, const std::vector<NDArray>& values, const std::vector<NDArray>& out,
                int priority) override;
  void assign(const Key& key, const NDArray& value) override;
  void set_updater(StoreUpdate update) override;
  void set_gradient_compression(const AttrDict& params) override;
  StateValue state() const override { return residuals_.state(); }
  void set_state(const StateValue& state) override { residuals_.set_state(state); }
  int rank() const override { return job_->rank(); }
  int num_workers() const override { return job_->count(); }
  Workers* workers() override { return job_.get(); }
  void barrier() override { job_->barrier("barrier"); }
  bool has_buckets() const override { return true; }
  std::shared_ptr<PushBuckets> buckets(const std::vector<PushedKey>& keys) override;

 private:
  friend class DistBuckets;
  struct Entry {
    NDArray stored;
    std::uint64_t number = 0;        ///< equal on all workers
    std::optional<RowSums> rows;     ///< of pushes of rows
    std::unique_ptr<Bucket> bucket;  ///< of this key alone; null before the first push
  };
  Entry& entry(const Key& key, const char* verb);
  /// Checks a push, ends the one before and makes room for the sum.
  Entry& prepare_push(const Key& key, const std::vector<NDArray>& values);
  void note_push(const Entry& entry);
  /// Waits for the sum of the last push and updates the stored value.
  void finish(const Key& key, Entry& entry);
  /// Updates the stored value by a sum over all workers.
  void apply(const Key& key, Entry& entry, const NDArray& merged);

  std::string type_;
  std::shared_ptr<DistJob> job_;
  std::map<Key, Entry> entries_;
  StoreUpdate update_;
  std::optional<GradientCompression> compression_;
  Residuals residuals_;
  std::map<std::map<Key, DType>, std::shared_ptr<PushBuckets>> buckets_;  ///< by their keys
};

}  // namespace symbind
