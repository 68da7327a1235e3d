#pragma once
// The store of one process: a table of values.

#include <map>
#include <optional>

#include <symbind/kvstore.h>

#include "kvstore/compression.h"

namespace symbind {

class LocalStore : public KVStore {
 public:
  explicit LocalStore(std::string type) : type_(std::move(type)) {}

  std::string type() const override { return type_; }
  void init(const Key& key, const NDArray& value) override;
  void push(const Key& key, const std::vector<NDArray>& values, int priority) override;
  void pull(const Key& key, const std::vector<NDArray>& out, int priority) override;
  void assign(const Key& key, const NDArray& value) override;
  void set_updater(StoreUpdate update) override { update_ = std::move(update); }
  void set_gradient_compression(const AttrDict& params) override;
  StateValue state() const override { return residuals_.state(); }
  void set_state(const StateValue& state) override { residuals_.set_state(state); }

 private:
  struct Entry {
    NDArray stored;
    NDArray merged;  ///< where sums are taken; made at the first push
  };
  Entry& entry(const Key& key, const char* verb);
  void check_kind(const Key& key);
  void sum(const Key& key, const std::vector<NDArray>& values, NDArray& target);

  std::string type_;
  std::map<Key, Entry> entries_;
  StoreUpdate update_;
  std::optional<GradientCompression> compression_;
  Residuals residuals_;
  std::vector<std::byte> sent_;  ///< what the devices send in one push
};

}  // namespace symbind
