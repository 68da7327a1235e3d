#pragma once
// The store of dist_sync: every worker has all values and makes the same updates.

#include <map>
#include <optional>

#include <symbind/kvstore.h>

#include "kvstore/compression.h"
#include "kvstore/dist_job.h"

namespace symbind {

class DistStore final : public KVStore {
 public:
  DistStore(std::string type, std::shared_ptr<DistJob> job);
  ~DistStore() override;

  std::string type() const override { return type_; }
  void init(const Key& key, const NDArray& value) override;
  void push(const Key& key, const std::vector<NDArray>& values, int priority) override;
  void pull(const Key& key, const std::vector<NDArray>& out, int priority) override;
  void assign(const Key& key, const NDArray& value) override;
  void set_updater(StoreUpdate update) override;
  void set_gradient_compression(const AttrDict& params) override;
  StateValue state() const override { return residuals_.state(); }
  void set_state(const StateValue& state) override { residuals_.set_state(state); }
  int rank() const override { return job_->rank(); }
  int num_workers() const override { return job_->count(); }
  Workers* workers() override { return job_.get(); }
  void barrier() override { job_->barrier("barrier"); }

 private:
  struct Entry {
    NDArray stored;
    NDArray merged;            ///< the sum over this worker's devices, then over all workers
    std::uint64_t number = 0;  ///< equal on all workers
    std::uint64_t pushes = 0;
    NDArray sent;                           ///< the merged gradient, compressed
    std::shared_ptr<net::Pending> pending;  ///< the sum of the last push, until it is used
  };
  Entry& entry(const Key& key, const char* verb);
  std::shared_ptr<net::Pending> start(const Key& key, Entry& entry);
  /// Makes `merged` the sum of what was sent.
  void decompress(Entry& entry) const;
  /// Waits for the sum of the last push and updates the stored value.
  void finish(const Key& key, Entry& entry);

  std::string type_;
  std::shared_ptr<DistJob> job_;
  std::map<Key, Entry> entries_;
  StoreUpdate update_;
  std::optional<GradientCompression> compression_;
  Residuals residuals_;
};

}  // namespace symbind
