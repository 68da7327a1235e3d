// The recorder behind profiling.h: its state, and who writes the trace when.
//
// Decided here: the recorder is never destroyed, threads may outlive main. What was not written
// when the process ends normally is written then, as MXNet does. A forked child starts with nothing
// recorded and nothing running. Memory for events is bounded; what does not fit is counted. Nothing
// is logged and nobody's code is called under the lock.
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

/// What a thread is in the middle of.
struct ThreadState {
  std::string custom;
  std::int64_t nested = 0;        ///< nanoseconds of operators inside the custom operator
  std::vector<const void*> open;  ///< the program's own events
};
ThreadState& thread_state();

/// These need the guard: says what is recorded from now on; starts recording; keeps an event.
void publish(Recorder& r);
void start(Recorder& r);
void push(Recorder& r, Event event);

/// These take it: ends continuous dumps; writes the trace, forgetting what it holds unless `keep`.
void stop_writer(Recorder& r);
void write_trace(Recorder& r, bool keep);

}  // namespace symbind::profiling
