// Decided here: a push starts the sum over the workers and returns; the value changes when it is
// asked for, or when the key is pushed again. So the sums of all keys travel at the same time. The
// first value of a key is that of worker 0.

#include "kvstore/dist_store.h"

#include <fmt/format.h>

#include <symbind/runtime.h>

#include "base/check.h"
#include "base/profiling.h"
#include "kvstore/dist_buckets.h"
#include "kvstore/reduce.h"
#include "ndarray/access.h"
#include "ndarray/recorder.h"

namespace symbind {
namespace {

bool is_like(const NDArray& a, const NDArray& b) {
  return !in_gpu_memory(a.context()) && a.dtype() == b.dtype() && a.shape() == b.shape();
}

/// Whether two arrays share some memory but are not the same.
bool overlaps(const NDArray& a, const NDArray& b) {
  const std::byte *from = read_pointer(a), *to = read_pointer(b);
  return from != to && from < to + b.nbytes() && to < from + a.nbytes();
}

}  // namespace

DistStore::DistStore(std::string type, std::shared_ptr<DistJob> job)
    : type_(std::move(type)), job_(std::move(job)) {}

DistStore::~DistStore() = default;

DistStore::Entry& DistStore::entry(const Key& key, const char* verb) {
  const auto it = entries_.find(key);
  check(it != entries_.end(), ErrorKind::kName,
        "kvstore: {} of key {} which has not been initialised\n  fix:  call init first", verb,
        key_text(key));
  return it->second;
}

void DistStore::init(const Key& key, const NDArray& value) {
  const Unrecorded within;
  check(value.defined(), "kvstore: init of key {} without a value", key_text(key));
  check(!entries_.contains(key), ErrorKind::kName,
        "kvstore: key {} was initialised before; a key is initialised once", key_text(key));
  const std::string what = fmt::format("init of key {}", key_text(key));
  job_->agree(what, fmt::format("{} {}", dtype_name(value.dtype()), value.shape().str()));
  Entry e;
  e.stored = value.as_in_context(cpu()).copy();
  e.number = job_->next_key();
  job_->wait(*job_->start_copy(e.number, 0, e.stored), what);
  entries_.emplace(key, std::move(e));
}

DistStore::Entry& DistStore::prepare_push(const Key& key, const std::vector<NDArray>& values) {
  Entry& e = entry(key, "push");
  check(!values.empty(), "kvstore: push of key {} without an array", key_text(key));
  check(values.front().shape() == e.stored.shape(), ErrorKind::kShape,
        "kvstore: key {} has the shape {}, the pushed array {}", key_text(key),
        e.stored.shape().str(), values.front().shape().str());
  finish(key, e);
  if (const DType dtype = values.front().dtype(); !e.bucket || e.bucket->dtype() != dtype)
    e.bucket = std::make_unique<Bucket>(*job_, e.number, e.bucket ? e.bucket->count() : 1, dtype,
                                        std::vector<Bucket::Member>{{key, e.stored.shape()}});
  return e;
}

void DistStore::note_push(const Entry& e) {
  if (&e == &entries_.begin()->second) job_->count_update();
}

void DistStore::push(const Key& key, const std::vector<NDArray>& values, int) {
  const Unrecorded within;
  const profiling::ApiSpan span("KVStore.push");
  Entry& e = prepare_push(key, values);
  sum_in_order(values, e.bucket->merged(0));
  e.bucket->start(compression_ ? &*compression_ : nullptr, residuals_);
  note_push(e);
}

void DistStore::push_rows(const Key& key, const std::vector<NDArray>& values, int priority) {
  if (compression_) return push(key, values, priority);
  const Unrecorded within;
  const profiling::ApiSpan span("KVStore.push_rows");
  Entry& e = prepare_push(key, values);
  NDArray& merged = e.bucket->merged(0);
  sum_in_order(values, merged);
  if (!e.rows) e.rows.emplace(*job_);
  e.rows->sum(fmt::format("the rows of key {}", key_text(key)), merged);
  apply(key, e, merged);
  note_push(e);
}

// The sum of one array is sent from its memory, and goes to the only target as it arrives.
void DistStore::pushpull(const Key& key, const std::vector<NDArray>& values,
                         const std::vector<NDArray>& out, int priority) {
  const Unrecorded within;
  if (compression_ || values.size() != 1 || in_gpu_memory(values.front().context()))
    return KVStore::pushpull(key, values, out, priority);
  const profiling::ApiSpan span("KVStore.pushpull");
  Entry& e = prepare_push(key, values);
  const NDArray& merged = e.bucket->merged(0);
  if (!check_sum(values, merged)) return KVStore::pushpull(key, values, out, priority);
  const bool direct = !update_ && out.size() == 1 && is_like(out.front(), e.stored) &&
                      is_like(merged, e.stored) && !overlaps(values.front(), out.front());
  e.bucket->start_from(values.front(), direct ? out.front() : NDArray());
  note_push(e);
  finish(key, e);
  if (!direct) pull(key, out, priority);
}

void DistStore::set_gradient_compression(const AttrDict& params) {
  for (auto& [key, e] : entries_) finish(key, e);
  compression_.emplace(params);
  job_->agree("set_gradient_compression", compression_->text());
}

// A push of this key alone is waited for here; one of a bucket by the value's late write.
void DistStore::finish(const Key& key, Entry& e) {
  e.stored.storage()->settle();
  if (!e.bucket || !e.bucket->is_started()) return;
  e.bucket->wait();
  e.bucket->take();
  if (!update_ && e.bucket->dtype() == e.stored.dtype())
    return e.bucket->swap_only(e.stored);  // both belong to the store alone
  apply(key, e, e.bucket->merged(0));
}

void DistStore::apply(const Key& key, Entry& e, const NDArray& merged) {
  if (update_)
    update_(key, merged, e.stored);
  else if (merged.dtype() == e.stored.dtype())
    merged.copy_to(e.stored);
  else
    e.stored = merged.copy();
}

std::shared_ptr<PushBuckets> DistStore::buckets(const std::vector<PushedKey>& keys) {
  std::map<Key, DType> known;
  for (const PushedKey& one : keys) known.emplace(one.key, one.dtype);
  std::shared_ptr<PushBuckets>& made = buckets_[known];
  if (!made) made = std::make_shared<DistBuckets>(*this, keys);
  return made;
}

void DistStore::pull(const Key& key, const std::vector<NDArray>& out, int) {
  const Unrecorded within;
  const profiling::ApiSpan span("KVStore.pull");
  Entry& e = entry(key, "pull");
  finish(key, e);
  for (const NDArray& target : out) {
    check(target.shape() == e.stored.shape(), ErrorKind::kShape,
          "kvstore: key {} has the shape {}, the array to pull into {}", key_text(key),
          e.stored.shape().str(), target.shape().str());
    e.stored.copy_to(target);
  }
}

void DistStore::assign(const Key& key, const NDArray& value) {
  const Unrecorded within;
  Entry& e = entry(key, "assign");
  finish(key, e);
  value.copy_to(e.stored);
}

void DistStore::set_updater(StoreUpdate update) {
  for (auto& [key, e] : entries_) finish(key, e);
  update_ = std::move(update);
}

}  // namespace symbind
