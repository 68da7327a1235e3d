// What a push does: the arrays of all devices are added up in device order into one buffer per key,
// and the sum either replaces the stored value or goes through the update function. With gradient
// compression the sum is that of the devices' decoded arrays, of a single device too, as in MXNet.
// On CPUs this saves no time: it trains with the numbers that GPUs or machines would exchange.

#include "kvstore/local_store.h"

#include <symbind/runtime.h>

#include "base/check.h"
#include "base/profiling.h"
#include "kvstore/reduce.h"
#include "ndarray/access.h"
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
    NDArray stored = e.stored;
    if (stored.shape() != values.front().shape() || stored.dtype() != values.front().dtype())
      stored = NDArray(values.front().shape(), e.stored.context(), values.front().dtype());
    sum(key, values, stored);
    e.stored = stored;
    return;
  }
  if (!compression_ && values.size() == 1 && values.front().context() == e.stored.context())
    return update_(key, values.front(), e.stored);
  if (!e.merged.defined() || e.merged.shape() != values.front().shape() ||
      e.merged.dtype() != values.front().dtype())
    e.merged = NDArray(values.front().shape(), e.stored.context(), values.front().dtype());
  sum(key, values, e.merged);
  update_(key, e.merged, e.stored);
}

void LocalStore::set_gradient_compression(const AttrDict& params) {
  if (type_.find("device") == std::string::npos) return KVStore::set_gradient_compression(params);
  compression_.emplace(params);
}

void LocalStore::sum(const Key& key, const std::vector<NDArray>& values, NDArray& target) {
  if (!compression_) return sum_in_order(values, target);
  GradientCompression::check_dtype(key, target.dtype());
  if (!check_sum(values, target)) return;
  const auto size = static_cast<std::size_t>(target.size());
  const auto bytes = static_cast<std::size_t>(compression_->compressed_bytes(target.size()));
  sent_.resize(bytes * values.size());
  std::vector<std::span<const std::byte>> sent;
  for (std::size_t d = 0; d < values.size(); ++d) {
    const NDArray here =
        in_gpu_memory(values[d].context()) ? values[d].as_in_context(cpu()) : values[d];
    std::span<float> residual;
    if (compression_->has_residual()) residual = residuals_.of(key, d, target.size());
    const std::span<std::byte> out = std::span(sent_).subspan(d * bytes, bytes);
    compression_->compress({reinterpret_cast<const float*>(read_pointer(here)), size}, residual,
                           out);
    sent.emplace_back(out);
  }
  const NDArray here = in_gpu_memory(target.context()) ? NDArray(target.shape(), cpu()) : target;
  compression_->sum(sent, {reinterpret_cast<float*>(write_pointer(here)), size});
  if (in_gpu_memory(target.context())) here.copy_to(target);
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
