#include "base/profiling_recorder.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include <symbind/log.h>

#include "base/settings.h"

namespace symbind::profiling {
namespace detail {
std::atomic<unsigned> recorded{kUndecided};
}  // namespace detail

Recorder& recorder() {
  static Recorder& only = *new Recorder;
  return only;
}

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

void publish(Recorder& r) {
  const unsigned recorded = r.running && !r.paused ? r.config.parts | kOwn : 0;
  detail::recorded.store(recorded | (r.times ? kTimes : 0u), std::memory_order_relaxed);
}

void set_times(bool on) {
  profiling::on(kTimes);  // the setting decides first whether the profiler runs
  Recorder& r = recorder();
  const std::lock_guard lock(r.guard);
  r.times = on;
  publish(r);
}

void push(Recorder& r, Event event) {
  thread_local const long id = ::syscall(SYS_gettid);
  event.thread = id;
  r.unwritten = true;
  if (r.events.size() >= kMostEvents) {
    ++r.dropped;
    return;
  }
  if (r.named_threads.insert(id).second) {
    const std::string name = id == ::getpid() ? "main" : "thread " + std::to_string(id);
    const auto it = r.subjects
                        .try_emplace({"thread", name, "", "", "", ""},
                                     Subject{.category = "thread", .name = name})
                        .first;
    r.events.push_back({.subject = &it->second, .phase = 'M', .thread = id});
  }
  r.events.push_back(event);
}

void write_trace(Recorder& r, bool keep) {
  const std::lock_guard file_lock(r.file_guard);
  std::vector<Event> events;
  std::string path;
  std::uint64_t dropped = 0;
  bool append = false;
  {
    const std::lock_guard lock(r.guard);
    events = r.events;
    path = r.config.filename;
    dropped = r.dropped;
    append = r.appending;
  }
  if (dropped > 0)
    log_warning("the profiler keeps " + std::to_string(kMostEvents) +
                " events: " + std::to_string(dropped) +
                " later ones are missing in the trace; dump more often, or set continuous_dump");
  const std::string lines = trace_lines(events, ::getpid()), tail = trace_tail(dropped);
  if (!append || !r.file.append(path, lines, tail))
    r.file.write(path, trace_head(::getpid()), lines, tail);
  const std::lock_guard lock(r.guard);
  r.unwritten = r.events.size() > events.size();
  // Only what is in the file is cleared: a failed write loses nothing. After an append nothing
  // needs to be kept: the file has it.
  if (keep && !append) return;
  r.events.erase(r.events.begin(), r.events.begin() + static_cast<std::ptrdiff_t>(events.size()));
  r.appending = true;
}

void stop_writer(Recorder& r) {
  std::thread writer;
  {
    const std::lock_guard lock(r.guard);
    writer.swap(r.writer);
  }
  r.wake.notify_all();
  if (writer.joinable()) writer.join();
}

namespace {

void write_now_and_then(std::chrono::duration<double> period) {
  Recorder& r = recorder();
  std::unique_lock lock(r.guard);
  const std::thread::id me = std::this_thread::get_id();
  bool warned = false;
  while (r.writer.get_id() == me) {
    r.wake.wait_for(lock, period);
    if (r.writer.get_id() != me) return;
    if (!r.unwritten) continue;
    lock.unlock();
    try {
      write_trace(r, false);
    } catch (const std::exception& e) {
      if (!warned) log_warning(std::string("the profiler cannot write its trace: ") + e.what());
      warned = true;
    }
    lock.lock();
  }
}

void at_exit() {
  Recorder& r = recorder();
  stop_writer(r);
  try {
    bool unwritten = false;
    {
      const std::lock_guard lock(r.guard);
      r.running = false;
      publish(r);
      unwritten = r.unwritten;
    }
    if (unwritten) write_trace(r, true);
  } catch (const std::exception& e) {
    log_warning(std::string("the profiler cannot write its trace: ") + e.what());
  }
}

void before_fork() {
  recorder().file_guard.lock();
  recorder().guard.lock();
}
void in_parent() {
  recorder().guard.unlock();
  recorder().file_guard.unlock();
}
void in_child() {
  Recorder& r = recorder();
  // The parent's thread does not exist here: it must not be joined, woken or destroyed.
  new (&r.writer) std::thread;
  new (&r.wake) std::condition_variable;
  r.running = r.paused = r.unwritten = r.appending = false;
  r.events.clear();
  r.named_threads.clear();
  r.dropped = 0;
  publish(r);
  in_parent();
}

}  // namespace

void start(Recorder& r) {
  [[maybe_unused]] static const bool registered = [] {
    std::atexit(at_exit);
    ::pthread_atfork(before_fork, in_parent, in_child);
    return true;
  }();
  r.running = true;
  publish(r);
  if (r.config.continuous && !r.writer.joinable())
    r.writer = std::thread(write_now_and_then, std::chrono::duration<double>(r.config.period));
}

unsigned detail::decide() {
  [[maybe_unused]] static const bool asked = [] {
    unsigned undecided = kUndecided;
    if (!recorded.compare_exchange_strong(undecided, 0)) return true;
    try {
      if (!settings::flag("MXNET_PROFILER_AUTOSTART")) return true;
      const bool all = settings::number("MXNET_PROFILER_MODE") != 0;
      Recorder& r = recorder();
      const std::lock_guard lock(r.guard);
      r.config.parts = all ? kSymbolic | kImperative | kMemory | kApi : unsigned{kSymbolic};
      start(r);
    } catch (const std::exception& e) {
      log_warning(std::string("MXNET_PROFILER_AUTOSTART has no effect: ") + e.what());
    }
    return true;
  }();
  return recorded.load(std::memory_order_relaxed);
}

}  // namespace symbind::profiling
