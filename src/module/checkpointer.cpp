// Checkpointer: when to save, which thread writes, what is kept.
//
// Decided here: the writer is a thread that takes one state at a time; one more may wait. A set
// within an epoch never makes a step wait: a newer set replaces one that is still waiting. Sets of
// whole epochs are never skipped: fit waits for the writer between two epochs instead. An error is
// stored and thrown at the next save or at the end; no exception leaves the thread.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <symbind/log.h>

#include "base/better.h"
#include "base/check.h"
#include "base/nearest.h"
#include "module/manifest.h"

namespace symbind {

NameValue watched_value(const std::vector<NameValue>& values, const std::string& wanted,
                        const char* who) {
  std::vector<std::string> names;
  for (const NameValue& value : values) {
    if (wanted.empty() || value.first == wanted) return value;
    names.push_back(value.first);
  }
  fail(ErrorKind::kName, "{} watches '{}', which is not evaluated; {} evaluated: {}", who, wanted,
       nearest_hint(wanted, names), fmt::join(names, ", "));
}

struct Checkpointer::State {
  CheckpointOptions options;
  std::vector<CheckpointInfo> sets;  ///< the newest last; only the writer uses it while it works
  std::mutex guard;
  std::condition_variable wake_writer, wake_saver;
  std::optional<TrainingState> waiting;
  bool busy = false, stop = false;
  std::exception_ptr error;
  std::thread thread;
  ::pid_t process = ::getpid();

  void write(const TrainingState& state);
  void prune();
  bool is_best(const CheckpointInfo& info) const;
  void run();
  void throw_error(std::unique_lock<std::mutex>& lock);
};

namespace {

void check_options(const CheckpointOptions& o) {
  namespace fs = std::filesystem;
  check(!o.prefix.empty(), "a checkpoint needs a prefix, e.g. 'model'");
  check(o.every_n_epochs >= 0 && o.every_n_batches >= 0 && o.keep_last >= 0,
        "every_n_epochs, every_n_batches and keep_last must not be negative; they are {}, {}, {}",
        o.every_n_epochs, o.every_n_batches, o.keep_last);
  check(o.mode == "auto" || o.mode == "max" || o.mode == "min",
        "Checkpoint: there is no mode '{}'; modes: auto, max, min", o.mode);
  const fs::path folder = fs::path(o.prefix).parent_path();
  std::error_code error;
  check(folder.empty() || fs::is_directory(folder, error), ErrorKind::kIo,
        "checkpoints go to '{}', but there is no folder '{}'\n  fix:  make the folder first",
        o.prefix, folder.string());
}

}  // namespace

Checkpointer::Checkpointer(CheckpointOptions options, bool saves)
    : state_(std::make_unique<State>()) {
  check_options(options);
  state_->options = std::move(options);
  if (!saves) return;
  clear_leftovers(state_->options.prefix);
  state_->sets = list_checkpoints(state_->options.prefix);
}

Checkpointer::~Checkpointer() {
  if (state_->process != ::getpid()) {  // threads do not survive a fork
    static_cast<void>(state_.release());
    return;
  }
  try {
    finish();
  } catch (const std::exception& error) {
    log_error(error.what());
  }
  {
    const std::lock_guard lock(state_->guard);
    state_->stop = true;
  }
  state_->wake_writer.notify_one();
  if (state_->thread.joinable()) state_->thread.join();
}

const CheckpointOptions& Checkpointer::options() const { return state_->options; }

bool Checkpointer::due_in_epoch(int batches) const {
  const int every = state_->options.every_n_batches;
  return every > 0 && batches % every == 0;
}

bool Checkpointer::due_at_border(int epochs, int num_epoch) const {
  const int every = state_->options.every_n_epochs;
  return epochs == num_epoch || (every > 0 && epochs % every == 0);
}

bool Checkpointer::State::is_best(const CheckpointInfo& info) const {
  if (options.keep_best.empty() || !info.score || info.score->first != options.keep_best)
    return false;
  const bool grows = more_is_better(options.mode, options.keep_best);
  const auto better = [&](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(b) && !std::isnan(a);
    return grows ? a > b : a < b;
  };
  return std::ranges::none_of(sets, [&](const CheckpointInfo& other) {
    return other.score && other.score->first == options.keep_best &&
           better(other.score->second, info.score->second);
  });
}

void Checkpointer::State::prune() {
  constexpr int kWithinEpochs = 2;
  int seen = 0, within = 0;
  std::vector<CheckpointInfo> kept;
  for (auto it = sets.rbegin(); it != sets.rend(); ++it) {
    ++seen;
    within += it->batch > 0 ? 1 : 0;
    const bool stays = options.keep_last > 0 ? seen <= options.keep_last
                                             : it->batch == 0 || within <= kWithinEpochs;
    if (stays || is_best(*it))
      kept.push_back(*it);
    else
      remove_set(it->manifest);
  }
  sets.assign(kept.rbegin(), kept.rend());
}

void Checkpointer::State::write(const TrainingState& state) {
  try {
    std::int64_t sequence = 1;
    for (const CheckpointInfo& info : sets) sequence = std::max(sequence, info.sequence + 1);
    CheckpointInfo info = write_set(options.prefix, state, sequence);
    std::erase_if(sets, [&](const CheckpointInfo& old) { return old.manifest == info.manifest; });
    log_info(fmt::format("Saved checkpoint to \"{}\"", info.manifest));
    sets.push_back(std::move(info));
    prune();
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("checkpoint {}{} could not be written: {}\n  {}", options.prefix,
                            set_name(state.epoch, state.batch), error.what(),
                            sets.empty() ? "there is no complete one before it"
                                         : "the last complete one is " + sets.back().manifest));
  }
}

void Checkpointer::State::run() {
  std::unique_lock lock(guard);
  while (true) {
    wake_writer.wait(lock, [&] { return stop || waiting; });
    if (!waiting) return;
    TrainingState state = std::move(*waiting);
    waiting.reset();
    busy = true;
    wake_saver.notify_all();
    lock.unlock();
    std::exception_ptr failed;
    try {
      write(state);
    } catch (...) {
      failed = std::current_exception();
    }
    state = {};
    lock.lock();
    busy = false;
    if (failed && !error) error = failed;
    wake_saver.notify_all();
  }
}

void Checkpointer::State::throw_error(std::unique_lock<std::mutex>& lock) {
  if (!error) return;
  const std::exception_ptr failed = std::exchange(error, nullptr);
  lock.unlock();
  std::rethrow_exception(failed);
}

void Checkpointer::save(TrainingState state) {
  State& s = *state_;
  check(s.process == ::getpid(), ErrorKind::kState,
        "this Checkpointer was made in the parent process, before the fork");
  if (!s.options.background) return s.write(state);
  std::unique_lock lock(s.guard);
  s.throw_error(lock);
  if (s.waiting && state.batch > 0)
    log_info(fmt::format("the writer of checkpoints is late: {}{} is skipped", s.options.prefix,
                         s.waiting->batch == 0 ? set_name(state.epoch, state.batch)
                                               : set_name(s.waiting->epoch, s.waiting->batch)));
  if (s.waiting && state.batch > 0 && s.waiting->batch == 0) return;
  if (state.batch == 0) {
    s.wake_saver.wait(lock, [&] { return !s.waiting; });
    s.throw_error(lock);
  }
  s.waiting = std::move(state);
  if (!s.thread.joinable()) s.thread = std::thread([&s] { s.run(); });
  s.wake_writer.notify_one();
}

void Checkpointer::finish() {
  State& s = *state_;
  std::unique_lock lock(s.guard);
  s.wake_saver.wait(lock, [&] { return !s.waiting && !s.busy; });
  s.throw_error(lock);
}

}  // namespace symbind
