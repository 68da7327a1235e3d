#pragma once
// The profiler: what ran, when, on which thread, how long, how much memory; as tables and as a
// trace that Perfetto (ui.perfetto.dev) and chrome://tracing open.
//
// Off, it costs one load and one branch per operator. docs/explain.md shows how to read the
// results.

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace symbind::profiler {

/// MXNet's options by MXNet's names; omitted ones have their defaults. filename (profile.json),
/// profile_symbolic, profile_imperative, profile_memory, profile_api, profile_all: what is recorded
/// (by default only user-defined entries); continuous_dump and dump_period (1 second):
/// the trace is written while the program runs; aggregate_stats: accepted, statistics are always
/// kept; profile_process: worker.
void set_config(const std::map<std::string, std::string>& options);
/// Starts or stops recording; ends a pause. Unwritten data are written at process exit.
void set_running(bool running);
bool is_running();
/// Whether imperative operator calls are being recorded.
bool records_imperative();
/// Nothing is recorded between pause and resume.
void pause();
void resume();
/// Writes the trace to the file of set_config. `finished` also stops and clears the records; the
/// statistics stay.
void dump(bool finished = true);

struct DumpsOptions {
  bool reset = false;             ///< forget the statistics afterwards
  std::string format = "table";   ///< table or json
  std::string sort_by = "total";  ///< total, avg, min, max or count
  bool ascending = false;
};
/// Statistics of what was recorded: by operator as in MXNet, and by node with FLOPs, bytes and
/// their share of this machine's peak.
std::string dumps(const DumpsOptions& options = {});

/// A user-defined span of time. A kEvent belongs to the thread that runs it; kTask and
/// kFrame may begin and end on different threads.
class Stretch {
 public:
  enum class Kind : std::uint8_t { kTask, kFrame, kEvent };
  Stretch(Kind kind, std::string domain, std::string name);
  ~Stretch();
  Stretch(const Stretch&) = delete;
  Stretch& operator=(const Stretch&) = delete;
  void start();
  /// Does nothing unless it was started.
  void stop();

 private:
  Kind kind_;
  std::string domain_, name_;
  std::int64_t started_ = -1;
};

/// A number that changes over time; threads may share it.
class Counter {
 public:
  Counter(std::string domain, std::string name);
  void set(std::int64_t value);
  void add(std::int64_t delta);
  std::int64_t value() const { return value_.load(); }

 private:
  void record(std::int64_t value) const;
  std::string domain_, name_;
  std::atomic<std::int64_t> value_{0};
};

/// Marks this moment for `scope`: global, process, thread, task or marker.
void mark(const std::string& domain, const std::string& name, const std::string& scope = "process");

}  // namespace symbind::profiler
