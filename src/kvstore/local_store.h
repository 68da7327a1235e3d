#pragma once
// The store of one process: a table of values.

#include <map>
#include <optional>

#include <symbind/kvstore.h>

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

 private:
  struct Entry {
    NDArray stored;
    NDArray merged;  ///< where sums are taken; made at the first push
  };
  Entry& entry(const Key& key, const char* verb);
  void check_kind(const Key& key);

  std::string type_;
  std::map<Key, Entry> entries_;
  StoreUpdate update_;
};

}  // namespace symbind
