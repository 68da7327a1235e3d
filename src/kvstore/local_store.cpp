// What a push does: the arrays of all devices are added up in device order into one buffer per key,
// and the sum either replaces the stored value or goes through the update function.

#include "kvstore/local_store.h"

#include "base/check.h"
#include "base/profiling.h"
#include "kvstore/reduce.h"
#include "ndarray/recorder.h"

namespace symbind {

void LocalStore::check_kind(const Key& key) {
  if (entries_.empty()) return;
  check(key.index() == entries_.begin()->first.index(), ErrorKind::kType,
        "kvstore: key {} is a {}, the keys of this store are {}; a store has keys of one kind",
        key_text(key), std::holds_alternative<std::string>(key) ? "name" : "number",
        std::holds_alternative<std::string>(key) ? "numbers" : "names");
}

LocalStore::Entry& LocalStore::entry(const Key& key, const char* verb) {
  check_kind(key);
  const auto it = entries_.find(key);
  check(it != entries_.end(), ErrorKind::kName,
        "kvstore: {} of key {} which has not been initialised\n  fix:  call init first", verb,
        key_text(key));
  return it->second;
}

void LocalStore::init(const Key& key, const NDArray& value) {
  const Unrecorded within;
  check_kind(key);
  check(value.defined(), "kvstore: init of key {} without a value", key_text(key));
  check(!entries_.contains(key), ErrorKind::kName,
        "kvstore: key {} was initialised before; a key is initialised once", key_text(key));
  entries_.emplace(key, Entry{.stored = value.copy(), .merged = {}});
}

void LocalStore::push(const Key& key, const std::vector<NDArray>& values, int) {
  const Unrecorded within;
  const profiling::ApiSpan span("KVStore.push");
  Entry& e = entry(key, "push");
  check(!values.empty(), "kvstore: push of key {} without an array", key_text(key));
  if (!update_) {
    if (e.stored.shape() != values.front().shape() || e.stored.dtype() != values.front().dtype())
      e.stored = NDArray(values.front().shape(), e.stored.context(), values.front().dtype());
    return sum_in_order(values, e.stored);
  }
  if (values.size() == 1 && values.front().context() == e.stored.context())
    return update_(key, values.front(), e.stored);
  if (!e.merged.defined() || e.merged.shape() != values.front().shape() ||
      e.merged.dtype() != values.front().dtype())
    e.merged = NDArray(values.front().shape(), e.stored.context(), values.front().dtype());
  sum_in_order(values, e.merged);
  update_(key, e.merged, e.stored);
}

void LocalStore::assign(const Key& key, const NDArray& value) {
  const Unrecorded within;
  value.copy_to(entry(key, "assign").stored);
}

void LocalStore::pull(const Key& key, const std::vector<NDArray>& out, int) {
  const Unrecorded within;
  const profiling::ApiSpan span("KVStore.pull");
  const Entry& e = entry(key, "pull");
  for (const NDArray& target : out) {
    check(target.shape() == e.stored.shape(), ErrorKind::kShape,
          "kvstore: key {} has the shape {}, the array to pull into {}", key_text(key),
          e.stored.shape().str(), target.shape().str());
    e.stored.copy_to(target);
  }
}

}  // namespace symbind
