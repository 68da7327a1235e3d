// The profiler's (symbind/profiler.h) interface for the rest of the library, and the data of its
// tables and its trace.
//
// Decided here: while nothing is recorded, the check costs one load and one branch, so the hot loop
// may contain it. Recording takes one lock: an event is a small struct that points to an interned
// description, and the statistics of its kind are updated with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace symbind::profiling {

/// What may be recorded, as bits.
enum Part : unsigned {
  kSymbolic = 1,
  kImperative = 2,
  kMemory = 4,
  kApi = 8,
  kOwn = 16,
  kTimes = 32  ///< executors time their steps; nothing is recorded
};

namespace detail {
inline constexpr unsigned kUndecided = 1u << 31;
extern std::atomic<unsigned> recorded;
/// Starts the profiler if MXNET_PROFILER_AUTOSTART is set.
unsigned decide();
}  // namespace detail

/// Turns kTimes on or off, whatever the profiler does.
void set_times(bool on);

/// Whether this part is being recorded.
inline bool on(unsigned part) {
  unsigned parts = detail::recorded.load(std::memory_order_relaxed);
  if (parts == 0) [[likely]]
    return false;
  if ((parts & detail::kUndecided) != 0) parts = detail::decide();
  return (parts & part) != 0;
}

struct Statistics {
  std::int64_t count = 0;
  double total = 0;  ///< nanoseconds of spans
  double min = std::numeric_limits<double>::infinity(), max = 0;
  double last = 0;
  double flops = 0, bytes = 0;  ///< summed
  void add(double value);
};

/// What events are about. Interned: one object per description for the process's lifetime.
struct Subject {
  std::string category;  ///< "operator", "Custom Operator", …
  std::string name;
  std::string node = {}, kernel = {}, device = {};  ///< of a node of a graph
  std::string shapes = {};
  mutable Statistics statistics = {};  ///< guarded by the recorder

  bool is_node() const { return !node.empty(); }
};
const Subject* intern(Subject subject);

/// Nanoseconds of a clock that never goes back.
std::int64_t now();

struct Cost {
  double flops = -1, bytes = -1;  ///< -1: not known
};

/// A span of this thread's time; spans of a thread nest. Dropped if `part` was switched off
/// meanwhile.
void record(unsigned part, const Subject* subject, std::int64_t start, std::int64_t end,
            Cost cost = {});
/// A span that need not nest.
void record_async(const Subject* subject, std::int64_t start, std::int64_t end);
void record_counter(unsigned part, const Subject* subject, double value);
void record_moment(const Subject* subject, char scope);

/// Memory of a device was allocated or freed ("cpu/0").
void memory_changed(const std::string& device, std::int64_t bytes) noexcept;

/// Records a call of the API from construction to destruction.
class ApiSpan {
 public:
  explicit ApiSpan(const char* name) {
    if (on(kApi)) [[unlikely]]
      begin(name);
  }
  ~ApiSpan() {
    if (name_ != nullptr) [[unlikely]]
      end();
  }
  ApiSpan(const ApiSpan&) = delete;
  ApiSpan& operator=(const ApiSpan&) = delete;

 private:
  void begin(const char* name);
  void end() noexcept;
  const char* name_ = nullptr;
  std::int64_t start_ = 0;
};

/// Active while user code of a custom operator runs on this thread: operators it calls are
/// attributed to it and subtracted from its own time.
class CustomScope {
 public:
  explicit CustomScope(const std::string& name) {
    if (on(kSymbolic | kImperative)) [[unlikely]]
      begin(name);
  }
  ~CustomScope() {
    if (active_) [[unlikely]]
      end();
  }
  CustomScope(const CustomScope&) = delete;
  CustomScope& operator=(const CustomScope&) = delete;

 private:
  void begin(const std::string& name);
  void end() noexcept;
  bool active_ = false;
  std::string name_, outer_;
  std::int64_t start_ = 0, outer_nested_ = 0;
};
/// The custom operator that this thread runs; empty if none.
const std::string& current_custom();

/// Increases whenever statistics are reset: owners of other times then clear them.
std::uint64_t generation();

/// Everything recorded so far, by description: a copy.
struct Snapshot {
  struct Row {
    const Subject* subject;
    Statistics statistics;
  };
  std::vector<Row> spans;  ///< operators, calls, user-defined spans
  std::vector<Row> memory, counters;
};
Snapshot snapshot(bool reset);

}  // namespace symbind::profiling
