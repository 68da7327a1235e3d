// Decided here: a push is sent and returns; an error of the server appears at the next call of the
// same key. Questions of one worker are answered in their order, so a pull has what the worker
// pushed before.

#include "kvstore/async_store.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/profiling.h"
#include "base/settings.h"
#include "kvstore/reduce.h"
#include "kvstore/wire.h"
#include "ndarray/access.h"
#include "ndarray/recorder.h"

namespace symbind {

using Verb = net::ValueCall::Verb;

namespace {

constexpr const char* kBound = "MXNET_KVSTORE_BIGARRAY_BOUND";

std::span<std::byte> part_bytes(const NDArray& array, std::int64_t begin, std::int64_t end) {
  const std::size_t each = size_of(array.dtype());
  return {
      reinterpret_cast<std::byte*>(write_pointer(array)) + static_cast<std::size_t>(begin) * each,
      static_cast<std::size_t>(end - begin) * each};
}

}  // namespace

AsyncStore::AsyncStore(std::shared_ptr<DistJob> job) : job_(std::move(job)) {
  check(servers() > 0, ErrorKind::kState,
        "kvstore 'dist_async' keeps its values on servers, and this job has none\n  fix:  start "
        "some, e.g. python -m symbind.launch -n {} -s 1 COMMAND",
        num_workers());
}

AsyncStore::~AsyncStore() = default;

AsyncStore::Entry& AsyncStore::entry(const Key& key, const char* verb) {
  const auto it = entries_.find(key);
  check(it != entries_.end(), ErrorKind::kName,
        "kvstore: {} of key {} which has not been initialised\n  fix:  call init first", verb,
        key_text(key));
  return it->second;
}

net::ValueCall AsyncStore::call(Verb verb) const {
  net::ValueCall call;
  call.verb = verb;
  call.worker = rank();
  call.rejoined = job_->rejoined();
  return call;
}

net::ValueCall AsyncStore::part_call(Verb verb, const Key& key, const Entry& e,
                                     const Part& part) const {
  net::ValueCall one = call(verb);
  one.key = key_to_wire(key);
  one.dtype = static_cast<int>(e.dtype);
  if (e.parts.size() == 1)
    one.shape.assign(e.shape.begin(), e.shape.end());
  else
    one.shape = {part.end - part.begin};
  return one;
}

AsyncStore::Questions AsyncStore::start(Verb verb, const Key& key, const Entry& e,
                                        const NDArray& array) {
  Questions all;
  const auto owner = array.defined() ? std::make_shared<NDArray>(array) : nullptr;
  for (const Part& part : e.parts) {
    net::ValueCall one = part_call(verb, key, e, part);
    std::span<std::byte> into;
    if (owner && verb == Verb::kPull)
      into = part_bytes(*owner, part.begin, part.end);
    else if (owner)
      one.bytes = part_bytes(*owner, part.begin, part.end);
    if (verb != Verb::kPull) one.owner = owner;
    all.push_back(job_->ask(part.server, std::move(one), into, owner));
  }
  return all;
}

void AsyncStore::finish(const Questions& questions, const std::string& what) {
  for (const auto& question : questions) job_->wait_answer(*question, what);
}

void AsyncStore::init(const Key& key, const NDArray& value) {
  const Unrecorded within;
  check(value.defined(), "kvstore: init of key {} without a value", key_text(key));
  check(!entries_.contains(key), ErrorKind::kName,
        "kvstore: key {} was initialised before; a key is initialised once", key_text(key));
  Entry e{.shape = value.shape(),
          .dtype = value.dtype(),
          .parts = parts_of(key, value.size(), servers(),
                            whole_ ? value.size() : settings::number(kBound, 1)),
          .sent = {},
          .pushing = {}};
  const bool first = rank() == 0;
  finish(first ? start(Verb::kInit, key, e, value.as_in_context(cpu()).copy())
               : start(Verb::kExpect, key, e),
         first ? "" : fmt::format("init of key {} by worker 0", key_text(key)));
  entries_.emplace(key, std::move(e));
}

void AsyncStore::push(const Key& key, const std::vector<NDArray>& values, int) {
  const Unrecorded within;
  const profiling::ApiSpan span("KVStore.push");
  Entry& e = entry(key, "push");
  check(!values.empty(), "kvstore: push of key {} without an array", key_text(key));
  check(values.front().shape() == e.shape && values.front().dtype() == e.dtype, ErrorKind::kShape,
        "kvstore: key {} is {} {}, the pushed array {} {}", key_text(key), dtype_name(e.dtype),
        e.shape.str(), dtype_name(values.front().dtype()), values.front().shape().str());
  finish_push(e);
  if (!e.sent.defined()) e.sent = NDArray(e.shape, cpu(), e.dtype);
  sum_in_order(values, e.sent);
  e.pushing = start_push(key, e);
  if (&e == &entries_.begin()->second) job_->count_update();
}

AsyncStore::Questions AsyncStore::start_push(const Key& key, Entry& e) {
  if (!compression_) return start(Verb::kPush, key, e, e.sent);
  GradientCompression::check_dtype(key, e.dtype);
  std::span<float> residual;
  if (compression_->has_residual()) residual = residuals_.of(key, 0, e.sent.size());
  Questions all;
  for (const Part& part : e.parts) {
    const auto from = static_cast<std::size_t>(part.begin),
               count = static_cast<std::size_t>(part.end - part.begin);
    auto bytes = std::make_shared<std::vector<std::byte>>(
        static_cast<std::size_t>(compression_->compressed_bytes(part.end - part.begin)));
    compression_->compress({reinterpret_cast<const float*>(read_pointer(e.sent)) + from, count},
                           residual.empty() ? residual : residual.subspan(from, count), *bytes);
    net::ValueCall one = part_call(Verb::kPush, key, e, part);
    one.text = compression_->text();
    one.bytes = *bytes;
    one.owner = bytes;
    all.push_back(job_->ask(part.server, std::move(one), {}, nullptr));
  }
  return all;
}

void AsyncStore::finish_push(Entry& e) { finish(std::exchange(e.pushing, {}), ""); }

void AsyncStore::pull(const Key& key, const std::vector<NDArray>& out, int) {
  const Unrecorded within;
  const profiling::ApiSpan span("KVStore.pull");
  Entry& e = entry(key, "pull");
  for (const NDArray& target : out)
    check(target.shape() == e.shape, ErrorKind::kShape,
          "kvstore: key {} has the shape {}, the array to pull into {}", key_text(key),
          e.shape.str(), target.shape().str());
  if (out.empty()) return;
  const NDArray here(e.shape, cpu(), e.dtype);
  const Questions pulling = start(Verb::kPull, key, e, here);
  finish_push(e);
  finish(pulling, "");
  for (const NDArray& target : out) here.copy_to(target);
}

void AsyncStore::assign(const Key& key, const NDArray& value) {
  const Unrecorded within;
  Entry& e = entry(key, "assign");
  finish_push(e);
  if (rank() == 0) finish(start(Verb::kAssign, key, e, value.as_in_context(cpu()).copy()), "");
  if (!job_->rejoined()) job_->barrier("the values of worker 0");
}

void AsyncStore::set_updater(StoreUpdate) {
  fail(ErrorKind::kNotImplemented,
       "kvstore 'dist_async' runs its updates on servers, which a function of this process cannot\n"
       "  fix:  call set_optimizer");
}

void AsyncStore::set_optimizer(const SentOptimizer& optimizer) {
  whole_ = optimizer.whole;
  for (const auto& [key, e] : entries_)
    check(!whole_ || e.parts.size() == 1, ErrorKind::kState,
          "kvstore: key {} is divided over {} servers, and this optimizer needs whole arrays\n  "
          "fix:  "
          "call set_optimizer before init, or set {} to more than {}",
          key_text(key), e.parts.size(), kBound, e.shape.size());
  Questions all;
  for (int s = 0; s < servers(); ++s) {
    net::ValueCall one = call(rank() == 0 ? Verb::kSetOptimizer : Verb::kAwaitOptimizer);
    if (rank() == 0) {
      one.key = optimizer.custom;
      one.text = optimizer.text;
    }
    all.push_back(job_->ask(s, std::move(one), {}, nullptr));
  }
  finish(all, rank() == 0 ? "" : "set_optimizer of worker 0");
}

std::string AsyncStore::states(int server) {
  const auto question = job_->ask(server, call(Verb::kStates), {}, nullptr);
  return job_->wait_answer(*question, "");
}

void AsyncStore::set_states(const std::vector<std::string>& by_server) {
  Questions all;
  for (int s = 0; rank() == 0 && s < servers(); ++s) {
    net::ValueCall one = call(Verb::kSetStates);
    one.text = by_server.at(static_cast<std::size_t>(s));
    all.push_back(job_->ask(s, std::move(one), {}, nullptr));
  }
  finish(all, "");
  if (!job_->rejoined()) job_->barrier("the states of worker 0");
}

}  // namespace symbind
