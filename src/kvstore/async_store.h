#pragma once
// The store of dist_async: values are on servers, and every push changes them at once.

#include <map>
#include <optional>

#include <symbind/detail/remote_updates.h>
#include <symbind/kvstore.h>

#include "kvstore/compression.h"
#include "kvstore/dist_job.h"

namespace symbind {

class AsyncStore final : public KVStore, public RemoteUpdates {
 public:
  explicit AsyncStore(std::shared_ptr<DistJob> job);
  ~AsyncStore() override;

  std::string type() const override { return "dist_async"; }
  void init(const Key& key, const NDArray& value) override;
  void push(const Key& key, const std::vector<NDArray>& values, int priority) override;
  void pull(const Key& key, const std::vector<NDArray>& out, int priority) override;
  void assign(const Key& key, const NDArray& value) override;
  void set_updater(StoreUpdate update) override;
  void set_gradient_compression(const AttrDict& params) override { compression_.emplace(params); }
  StateValue state() const override { return residuals_.state(); }
  void set_state(const StateValue& state) override { residuals_.set_state(state); }
  int rank() const override { return job_->rank(); }
  int num_workers() const override { return job_->count(); }
  /// The servers have all that the workers pushed before.
  void barrier() override {
    for (auto& [key, entry] : entries_) finish_push(entry);
    job_->barrier("barrier");
  }
  RemoteUpdates* remote() override { return this; }

  void set_optimizer(const SentOptimizer& optimizer) override;
  int servers() const override { return job_->servers().count(); }
  const std::vector<Part>& parts(const Key& key) const override { return entry(key).parts; }
  const Shape& shape(const Key& key) const override { return entry(key).shape; }
  std::string states(int server) override;
  void set_states(const std::vector<std::string>& by_server) override;

 private:
  using Questions = std::vector<std::shared_ptr<net::Asked>>;
  struct Entry {
    Shape shape;
    DType dtype;
    std::vector<Part> parts;
    NDArray sent;       ///< what the last push sends
    Questions pushing;  ///< until the servers have it
  };
  Entry& entry(const Key& key, const char* verb = "parts");
  const Entry& entry(const Key& key) const { return const_cast<AsyncStore*>(this)->entry(key); }
  /// Asks for every part of a key. The call's array is the part of `array`, if there is one.
  Questions start(net::ValueCall::Verb verb, const Key& key, const Entry& entry,
                  const NDArray& array = {});
  net::ValueCall call(net::ValueCall::Verb verb) const;
  /// The same for a part of a key, without its array.
  net::ValueCall part_call(net::ValueCall::Verb verb, const Key& key, const Entry& entry,
                           const Part& part) const;
  Questions start_push(const Key& key, Entry& entry);
  void finish(const Questions& questions, const std::string& what);
  /// Waits for the servers to have the last push of the key.
  void finish_push(Entry& entry);

  std::shared_ptr<DistJob> job_;
  std::map<Key, Entry> entries_;
  bool whole_ = false;  ///< arrays are not divided
  std::optional<GradientCompression> compression_;
  Residuals residuals_;
};

}  // namespace symbind
