// PrefetchingIter: reads ahead in threads, one per iterator.
//
// A worker owns its iterator: only the worker calls next and reset, also when the reader requests a
// reset. Exceptions of both reach the reader at its next call of next() and never end a worker.
// Worker and reader share two short queues under one lock: batches that are ready, and used
// batches, whose arrays the iterator may fill again.
//
// Decided here: after an error or the end of an epoch a worker is idle until reset. A reset before
// the reader took the last batch is a hard one: how far the worker had read must not affect later
// batches. The iterator's position before a batch is stored with the batch: it is the reader's
// state, however far the worker has read. In a forked child there are no workers: the object is not
// touched and no thread is joined.
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include <symbind/io.h>

#include "base/check.h"
#include "base/nearest.h"
#include "base/profiling.h"
#include "base/settings.h"
#include "io/iter_state.h"

namespace symbind {
namespace {

class Worker {
 public:
  Worker(std::shared_ptr<DataIter> iter, std::size_t depth)
      : iter_(std::move(iter)), depth_(depth), thread_([this] { run(); }) {}
  ~Worker() {
    {
      const std::lock_guard lock(guard_);
      stop_ = true;
    }
    wake_worker_.notify_one();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// The next batch in exchange for `used`; false at the end. Rethrows the iterator's exception.
  bool take(DataBatch& used) {
    std::unique_lock lock(guard_);
    wake_reader_.wait(lock, [&] { return !ready_.empty() || idle_; });
    if (ready_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return false;
    }
    std::swap(used, ready_.front().batch);
    free_.push_back(std::move(ready_.front().batch));
    ready_.pop_front();
    if (free_.size() > depth_) free_.pop_front();
    lock.unlock();
    wake_worker_.notify_one();
    return true;
  }
  void begin_reset(bool hard) {
    {
      const std::lock_guard lock(guard_);
      reset_ = true;
      hard_ = hard;
    }
    wake_worker_.notify_one();
  }
  /// The reader's position. Rethrows the iterator's exception.
  std::optional<StateValue> state() {
    std::unique_lock lock(guard_);
    wake_reader_.wait(lock, [&] { return !ready_.empty() || idle_; });
    if (!ready_.empty()) return ready_.front().before;
    if (error_) std::rethrow_exception(error_);
    return iter_->state();  // the worker is idle
  }
  /// Resumes from `state` after the worker has restored it. Rethrows the iterator's exception.
  void set_state(const StateValue& state) {
    std::unique_lock lock(guard_);
    new_state_ = &state;
    reset_ = true;
    wake_worker_.notify_one();
    wake_reader_.wait(lock, [&] { return !reset_; });
    new_state_ = nullptr;
    if (error_) std::rethrow_exception(error_);
  }
  void end_reset() {
    std::unique_lock lock(guard_);
    wake_reader_.wait(lock, [&] { return !reset_; });
  }

 private:
  void run() {
    std::unique_lock lock(guard_);
    while (true) {
      wake_worker_.wait(lock,
                        [&] { return stop_ || reset_ || (!idle_ && ready_.size() < depth_); });
      if (stop_) return;
      if (reset_)
        restart(lock);
      else
        read(lock);
      wake_reader_.notify_one();
    }
  }
  void restart(std::unique_lock<std::mutex>& lock) {
    const StateValue* state = new_state_;
    if (state == nullptr && !hard_ && !idle_ && ready_.empty()) read(lock);  // is this the end?
    const bool hard = hard_ || !idle_ || !ready_.empty();
    for (Ready& one : ready_) free_.push_back(std::move(one.batch));
    ready_.clear();
    lock.unlock();
    std::exception_ptr error;
    try {
      if (state != nullptr)
        iter_->set_state(*state);
      else if (hard)
        iter_->hard_reset();
      else
        iter_->reset();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    idle_ = error != nullptr;
    reset_ = false;
  }
  void read(std::unique_lock<std::mutex>& lock) {
    Ready one;
    if (!free_.empty()) {
      one.batch = std::move(free_.front());
      free_.pop_front();
    }
    lock.unlock();
    std::exception_ptr error;
    bool more = false;
    try {
      one.before = iter_->state();
      more = iter_->next(one.batch);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (more) ready_.push_back(std::move(one));
    error_ = error;
    idle_ = !more;
  }

  std::shared_ptr<DataIter> iter_;
  std::size_t depth_;
  std::mutex guard_;
  std::condition_variable wake_worker_, wake_reader_;
  struct Ready {
    DataBatch batch;
    std::optional<StateValue> before;  // the iterator's position
  };
  std::deque<Ready> ready_;
  std::deque<DataBatch> free_;
  const StateValue* new_state_ = nullptr;  // a reset to this
  std::exception_ptr error_;
  bool stop_ = false, reset_ = false, hard_ = false, idle_ = false;
  std::thread thread_;  // last: it uses all of the above
};

using Names = std::map<std::string, std::string>;

void append_renamed(std::vector<DataDesc>& to, const std::vector<DataDesc>& from,
                    const std::vector<Names>& names, std::size_t iter, const char* what) {
  for (DataDesc desc : from) {
    if (!names.empty()) {
      const auto found = names[iter].find(desc.name);
      std::vector<std::string> known;
      for (const auto& [name, other] : names[iter]) known.push_back(name);
      check(found != names[iter].end(), ErrorKind::kName,
            "PrefetchingIter: {}[{}] has no name for '{}'; {}", what, iter, desc.name,
            nearest_hint(desc.name, known));
      desc.name = found->second;
    }
    to.push_back(std::move(desc));
  }
}

}  // namespace

struct PrefetchingIter::State {
  std::vector<DataDesc> data, label;
  std::vector<std::size_t> data_counts, label_counts;  // arrays of each iterator
  std::vector<DataBatch> parts;
  std::vector<std::unique_ptr<Worker>> workers;
  ::pid_t process = ::getpid();

  void check_process() const;
  void reset(bool hard);
  void join(DataBatch& batch);
  void split(DataBatch& batch);
};

/// Moves the arrays of all parts into one batch.
void PrefetchingIter::State::join(DataBatch& batch) {
  batch.data.clear();
  batch.label.clear();
  for (DataBatch& part : parts) {
    std::move(part.data.begin(), part.data.end(), std::back_inserter(batch.data));
    std::move(part.label.begin(), part.label.end(), std::back_inserter(batch.label));
    part.data.clear();
    part.label.clear();
  }
  batch.pad = parts.front().pad;
  batch.index = parts.front().index;
  batch.bucket_key = parts.front().bucket_key;
  if (parts.size() == 1) {
    batch.provide_data = parts.front().provide_data;
    batch.provide_label = parts.front().provide_label;
  } else {
    batch.provide_data.clear();
    batch.provide_label.clear();
  }
}

/// Returns the arrays of a used batch to the parts they came from.
void PrefetchingIter::State::split(DataBatch& batch) {
  const auto deal = [](std::vector<NDArray>& arrays, const std::vector<std::size_t>& counts,
                       std::size_t part, std::size_t& at) {
    std::vector<NDArray> share;
    for (std::size_t i = 0; i < counts[part] && at < arrays.size(); ++i)
      share.push_back(std::move(arrays[at++]));
    return share;
  };
  std::size_t data_at = 0, label_at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].data = deal(batch.data, data_counts, i, data_at);
    parts[i].label = deal(batch.label, label_counts, i, label_at);
  }
  batch.data.clear();
  batch.label.clear();
}

PrefetchingIter::PrefetchingIter(std::vector<std::shared_ptr<DataIter>> iters,
                                 const PrefetchOptions& options)
    : state_(std::make_unique<State>()) {
  settings::refresh();
  State& s = *state_;
  check(!iters.empty(), "PrefetchingIter: no iterator given");
  check(options.depth > 0, "PrefetchingIter: depth is {}; it must be positive", options.depth);
  for (const auto* names : {&options.rename_data, &options.rename_label})
    check(names->empty() || names->size() == iters.size(),
          "PrefetchingIter: {} maps of new names for {} iterators", names->size(), iters.size());
  for (std::size_t i = 0; i < iters.size(); ++i) {
    check(iters[i] != nullptr, "PrefetchingIter: iterator {} is null", i);
    append_renamed(s.data, iters[i]->provide_data(), options.rename_data, i, "rename_data");
    append_renamed(s.label, iters[i]->provide_label(), options.rename_label, i, "rename_label");
    s.data_counts.push_back(iters[i]->provide_data().size());
    s.label_counts.push_back(iters[i]->provide_label().size());
  }
  s.parts.resize(iters.size());
  for (auto& iter : iters)
    s.workers.push_back(
        std::make_unique<Worker>(std::move(iter), static_cast<std::size_t>(options.depth)));
}

PrefetchingIter::~PrefetchingIter() {
  if (state_->process != ::getpid()) static_cast<void>(state_.release());
}

const std::vector<DataDesc>& PrefetchingIter::provide_data() const { return state_->data; }
const std::vector<DataDesc>& PrefetchingIter::provide_label() const { return state_->label; }

void PrefetchingIter::State::check_process() const {
  check(process == ::getpid(), ErrorKind::kState,
        "PrefetchingIter: this is a forked process, and threads do not survive a fork; make a new "
        "iterator here");
}

void PrefetchingIter::State::reset(bool hard) {
  check_process();
  for (const auto& worker : workers) worker->begin_reset(hard);
  for (const auto& worker : workers) worker->end_reset();
}

void PrefetchingIter::reset() { state_->reset(false); }
void PrefetchingIter::hard_reset() { state_->reset(true); }

bool PrefetchingIter::next(DataBatch& batch) {
  const profiling::ApiSpan span("PrefetchingIter.next");
  State& s = *state_;
  s.check_process();
  s.split(batch);
  std::size_t more = 0;
  for (std::size_t i = 0; i < s.workers.size(); ++i) more += s.workers[i]->take(s.parts[i]) ? 1 : 0;
  if (more == 0) {
    s.join(batch);  // what the caller had
    return false;
  }
  check(more == s.workers.size(), ErrorKind::kState,
        "PrefetchingIter: Number of entry mismatches between iterators: {} of {} are at their end",
        s.workers.size() - more, s.workers.size());
  for (std::size_t i = 1; i < s.parts.size(); ++i)
    check(s.parts[i].pad == s.parts[0].pad, ErrorKind::kState,
          "PrefetchingIter: Number of entry mismatches between iterators: iterator 0 pads {} rows, "
          "iterator {} pads {}",
          s.parts[0].pad, i, s.parts[i].pad);
  s.join(batch);
  return true;
}

std::optional<StateValue> PrefetchingIter::state() {
  State& s = *state_;
  s.check_process();
  StateValue state =
      iter_state("PrefetchingIter", {{"iterators", static_cast<std::int64_t>(s.workers.size())}});
  StateValue within = StateValue::sequence(StateValue::Kind::kList);
  for (const auto& worker : s.workers) {
    std::optional<StateValue> one = worker->state();
    if (!one) return std::nullopt;
    within.items.push_back(std::move(*one));
  }
  state.add("within", std::move(within));
  return state;
}

void PrefetchingIter::set_state(const StateValue& state) {
  State& s = *state_;
  s.check_process();
  check_iter_state(state, "PrefetchingIter",
                   {{"iterators", static_cast<std::int64_t>(s.workers.size())}});
  const StateValue& within = state.at("within", "PrefetchingIter");
  check(within.items.size() == s.workers.size(), ErrorKind::kIo,
        "PrefetchingIter: {} states for {} iterators", within.items.size(), s.workers.size());
  for (std::size_t i = 0; i < s.workers.size(); ++i) s.workers[i]->set_state(within.items[i]);
}

}  // namespace symbind
