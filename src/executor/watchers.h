#pragma once
// Watchers of a run: a monitor and a guard see every value, the profiler collects times.

#include <functional>
#include <string>
#include <vector>

#include "executor/profile.h"
#include "executor/runner.h"

namespace symbind {

/// A node that just ran: names of its inputs (fc_output, fc_weight) and outputs, and values that
/// are copied on request (undefined arrays where there is no value).
struct RanNode {
  std::string title;
  std::vector<std::string> inputs, outputs;
  std::function<NDArray(std::size_t)> input, output;
};
using NodeCallback = std::function<void(const RanNode&)>;

class Watchers {
 public:
  MonitorCallback monitor;   ///< shown every output
  bool monitor_all = false;  ///< and every input
  NodeCallback guard;        ///< called after every node

  bool see_values() const { return monitor != nullptr || guard != nullptr; }
  /// Throws while one of them is being called: then it cannot be replaced.
  void check_idle(const char* who) const;

  /// Shows what a step wrote.
  void show(const Runner& runner, std::size_t step);
  /// Runs and times a step's kernel.
  void run_timed(const Runner& runner, std::size_t step);
  const KernelTimes& times() const { return times_; }
  void forget_times() { times_.forget(); }

 private:
  void show_inputs(const Runner& runner, const PlanStep& step);
  void show_gradients(const Runner& runner, const PlanStep& step);
  void show_tensor(const Runner& runner, const std::string& name, int tensor);
  void show_value(const std::string& name, const NDArray& value);
  void show_to_guard(const Runner& runner, const PlanStep& step);

  KernelTimes times_;
  bool showing_ = false;
};

/// Those of a bound executor; kState if it is empty.
const Watchers& watchers_of(const Executor& executor);
/// Calls `guard` after every node from now on, as a monitor is called; null removes it.
void set_guard(const Executor& executor, NodeCallback guard);

}  // namespace symbind
