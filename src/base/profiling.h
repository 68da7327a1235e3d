// What the rest of the library tells the profiler (symbind/profiler.h), and what its tables and its
// trace are made of.
//
// Decided here: while nothing is recorded, asking costs one load and one branch, so that the
// question may stand in the hot loop. Recording itself takes one lock: an event is a small struct
// over an interned description, and the statistics of its kind are kept along with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace symbind::profiling {

/// What may be recorded, as bits.
enum Part : unsigned { kSymbolic = 1, kImperative = 2, kMemory = 4, kApi = 8, kOwn = 16 };

namespace detail {
inline constexpr unsigned kUndecided = 1u << 31;
extern std::atomic<unsigned> recorded;
/// Looks whether MXNET_PROFILER_AUTOSTART asks for a start.
unsigned decide();
}  // namespace detail

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
  double total = 0;  ///< nanoseconds of stretches
  double min = std::numeric_limits<double>::infinity(), max = 0;
  double last = 0;
  double flops = 0, bytes = 0;  ///< summed
  void add(double value);
};

/// What events are about. Interned: one object per description for the life of the process.
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

/// A stretch of this thread's time; stretches of a thread nest. `part` may have been switched off
/// meanwhile: then it is forgotten.
void record(unsigned part, const Subject* subject, std::int64_t start, std::int64_t end,
            Cost cost = {});
/// A stretch that need not nest.
void record_async(const Subject* subject, std::int64_t start, std::int64_t end);
void record_counter(unsigned part, const Subject* subject, double value);
void record_moment(const Subject* subject, char scope);

/// Memory of a device was taken or given back ("cpu/0").
void memory_changed(const std::string& device, std::int64_t bytes) noexcept;

/// Records a call of the API while it lives.
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

/// While users' code of a custom operator runs on this thread: operators it calls count as its own,
/// and its own time is what is left besides them.
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
/// The custom operator this thread is inside of; empty outside.
const std::string& current_custom();

/// Grows whenever statistics are reset: whoever keeps times of his own forgets them then.
std::uint64_t generation();

/// Everything recorded so far, by description: a copy.
struct Snapshot {
  struct Row {
    const Subject* subject;
    Statistics statistics;
  };
  std::vector<Row> stretches;  ///< operators, calls, the program's own
  std::vector<Row> memory, counters;
};
Snapshot snapshot(bool reset);

}  // namespace symbind::profiling
