// Decided here: a push starts the sum over the workers and returns; the value changes when it is
// asked for, or when the key is pushed again. So the sums of all keys travel at the same time. The
// first value of a key is that of worker 0.

#include "kvstore/dist_store.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/profiling.h"
#include "kvstore/reduce.h"
#include "ndarray/access.h"
#include "ndarray/recorder.h"

namespace symbind {

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
  job_->wait(*job_->start_copy(e.number, e.pushes++, e.stored), what);
  entries_.emplace(key, std::move(e));
}

void DistStore::push(const Key& key, const std::vector<NDArray>& values, int) {
  const Unrecorded within;
  const profiling::ApiSpan span("KVStore.push");
  Entry& e = entry(key, "push");
  check(!values.empty(), "kvstore: push of key {} without an array", key_text(key));
  check(values.front().shape() == e.stored.shape(), ErrorKind::kShape,
        "kvstore: key {} has the shape {}, the pushed array {}", key_text(key),
        e.stored.shape().str(), values.front().shape().str());
  finish(key, e);
  if (!e.merged.defined() || e.merged.dtype() != values.front().dtype())
    e.merged = NDArray(values.front().shape(), cpu(), values.front().dtype());
  sum_in_order(values, e.merged);
  e.pending = start(key, e);
  ++e.pushes;
  if (&e == &entries_.begin()->second) job_->count_update();
}

// Without a residual the sum is that of 16-bit numbers. With one, every worker gets what all others
// send and adds it up: the sum itself has no such short form.
std::shared_ptr<net::Pending> DistStore::start(const Key& key, Entry& e) {
  if (!compression_) return job_->start_sum(e.number, e.pushes, e.merged);
  GradientCompression::check_dtype(key, e.merged.dtype());
  if (!compression_->has_residual()) {
    e.sent = e.merged.astype(compression_->dtype());
    return job_->start_sum(e.number, e.pushes, e.sent);
  }
  const std::int64_t bytes = compression_->compressed_bytes(e.merged.size());
  if (!e.sent.defined()) e.sent = NDArray({job_->count(), bytes}, cpu(), DType::kUint8);
  const std::size_t size = static_cast<std::size_t>(e.merged.size());
  std::byte* all = reinterpret_cast<std::byte*>(write_pointer(e.sent));
  compression_->compress({reinterpret_cast<const float*>(read_pointer(e.merged)), size},
                         residuals_.of(key, 0, e.merged.size()),
                         {all + job_->rank() * bytes, static_cast<std::size_t>(bytes)});
  return job_->start_gather(e.number, e.pushes, e.sent);
}

void DistStore::decompress(Entry& e) const {
  if (!compression_->has_residual()) return e.sent.astype(e.merged.dtype()).copy_to(e.merged);
  const std::size_t bytes = e.sent.nbytes() / static_cast<std::size_t>(job_->count());
  const std::byte* all = reinterpret_cast<const std::byte*>(read_pointer(e.sent));
  std::vector<std::span<const std::byte>> parts;
  for (int rank = 0; rank < job_->count(); ++rank)
    parts.emplace_back(all + static_cast<std::size_t>(rank) * bytes, bytes);
  compression_->sum(parts, {reinterpret_cast<float*>(write_pointer(e.merged)),
                            static_cast<std::size_t>(e.merged.size())});
}

void DistStore::set_gradient_compression(const AttrDict& params) {
  for (auto& [key, e] : entries_) finish(key, e);
  compression_.emplace(params);
  job_->agree("set_gradient_compression", compression_->text());
  for (auto& [key, e] : entries_) e.sent = NDArray();
}

void DistStore::finish(const Key& key, Entry& e) {
  if (!e.pending) return;
  const std::shared_ptr<net::Pending> pending = std::move(e.pending);
  e.pending = nullptr;
  job_->wait(*pending, fmt::format("the sum of key {} (push {})", key_text(key), e.pushes - 1));
  if (compression_) decompress(e);
  if (update_)
    update_(key, e.merged, e.stored);
  else if (e.merged.dtype() == e.stored.dtype())
    e.merged.copy_to(e.stored);
  else
    e.stored = e.merged.copy();
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
