// The recorder that profiling.h uses: its state, and when the trace is written.
//
// Decided here: the recorder is never destroyed, because threads may outlive main. Unwritten events
// are written when the process exits normally, as MXNet does. A forked child starts with nothing
// recorded and nothing running. Memory for events is bounded; dropped events are counted. Under the
// lock nothing is logged and no foreign code is called.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "base/profiling.h"
#include "base/profiling_trace.h"

namespace symbind::profiling {

inline constexpr std::size_t kMostEvents = 2'000'000;

struct Config {
  std::string filename = "profile.json";
  unsigned parts = 0;
  bool continuous = false;
  double period = 1;  ///< seconds
};

struct Recorder {
  std::mutex guard;  ///< of what follows up to the file
  Config config;
  bool running = false, paused = false;
  bool times = false;  ///< kTimes is on
  std::vector<Event> events;
  std::uint64_t dropped = 0;
  std::set<long> named_threads;
  using Key =
      std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;
  std::map<Key, Subject> subjects;
  std::map<std::string, std::int64_t> live_bytes;
  std::uint64_t generation = 1;
  bool appending = false;  ///< the file holds what was recorded before
  bool unwritten = false;
  std::thread writer;
  std::condition_variable wake;

  std::mutex file_guard;  ///< taken before `guard`
  TraceFile file;
};
Recorder& recorder();

/// The spans that are open on a thread.
struct ThreadState {
  std::string custom;
  std::int64_t nested = 0;        ///< nanoseconds of operators inside the custom operator
  std::vector<const void*> open;  ///< user-defined events
};
ThreadState& thread_state();

/// The caller holds the guard: sets what is recorded; starts recording; stores an event.
void publish(Recorder& r);
void start(Recorder& r);
void push(Recorder& r, Event event);

/// These lock the guard: ends continuous dumps; writes the trace and clears it unless `keep`.
void stop_writer(Recorder& r);
void write_trace(Recorder& r, bool keep);

}  // namespace symbind::profiling
