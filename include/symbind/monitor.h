#pragma once
// Inspecting the values in executors: Monitor prints statistics, NanGuard stops at the first NaN or
// infinity.
//
// A watched executor runs unfused and keeps every value, so it is slower: for debugging.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <symbind/executor.h>

namespace symbind {

/// One statistic: when, of what, and its text (each array's text ends with a tab).
struct MonitorRecord {
  int step = 0;
  std::string name;
  std::string text;
  bool operator==(const MonitorRecord&) const = default;
};

/// Computes statistics of an array.
using StatFunction = std::function<std::vector<NDArray>(const NDArray&)>;

struct MonitorOptions {
  StatFunction stat_func = {};  ///< norm(x) / sqrt(size) unless given
  std::string pattern = ".*";   ///< a regular expression that the names' beginning must match
  bool sort = false;            ///< by name
  bool monitor_all = false;     ///< inputs of operators too
};

/// Statistics of outputs, arguments and auxiliary states, every `interval` batches.
class Monitor {
 public:
  explicit Monitor(int interval, MonitorOptions options = {});
  virtual ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// Watches an executor; several may be watched.
  virtual void install(Executor& executor);
  /// Before a batch: starts collecting if one is due.
  virtual void tic();
  /// After a batch: returns what was collected, or nothing if collecting was off.
  virtual std::vector<MonitorRecord> toc();
  /// toc, each record as MXNet's log line.
  void toc_print();

 protected:
  struct State;
  std::shared_ptr<State> state_;
};

/// Throws (kValue) in the step that makes the first NaN or infinity: names the step, the node, its
/// output's number and the ranges of the node's inputs. It can be passed wherever a Monitor is
/// accepted; fit makes one with nan_guard or the setting SYMBIND_NAN_GUARD.
class NanGuard : public Monitor {
 public:
  /// `also` is another monitor of the same executors, if any.
  explicit NanGuard(Monitor* also = nullptr);
  void install(Executor& executor) override;
  void tic() override;
  std::vector<MonitorRecord> toc() override;
  /// Stops watching its executors; they run at full speed again.
  void release();

 private:
  struct Watch;
  std::shared_ptr<Watch> watch_;  ///< null after release
  Monitor* also_;
};
/// The setting SYMBIND_NAN_GUARD.
bool nan_guard_is_on();

}  // namespace symbind
