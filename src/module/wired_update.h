#pragma once
// Updates of weights that are wired into an executor: each is one operator.

#include <memory>
#include <string>
#include <vector>

#include <symbind/executor.h>
#include <symbind/optimizer.h>

#include "executor/fused_step.h"

namespace symbind {

class WiredUpdate {
 public:
  struct Item {
    Key key;
    NDArray weight, grad;
  };
  /// Wires the updates of `items`, in this order; false if the optimizer needs more than one
  /// operator per weight, or a weight is on a device where the executor does not run.
  bool wire(Updater& updater, const Executor& executor, const std::vector<Item>& items);
  /// Whether the wiring matches this executor, the optimizer, its states and its operator.
  bool is_current(const Updater& updater, const Executor& executor) const;

  /// Counts the updates and sets their numbers: rates, decays. Names are looked up once.
  void set_values();
  /// Runs all updates, or those of these items.
  void run() { step_->run_updates(); }
  void run(std::span<const int> items) { step_->run_updates(items); }
  /// Forward, backward and updates as one.
  void run_step() { Executor(executor_).step(); }
  /// The arrays that the update of an item changes: the weight and its states.
  std::vector<NDArray> changed_by(std::size_t item) const;

 private:
  struct Place {
    std::string attr;
    std::size_t place;  ///< among the values of the update
  };
  struct Entry {
    Key key;
    NDArray weight;
    const OptimizerState* state;
    std::vector<Place> places;  ///< in the order update_values gives them
  };
  void set_values(int number);

  std::shared_ptr<Executor::Impl> executor_;
  FusedStep* step_ = nullptr;  ///< of that executor
  std::uint64_t step_version_ = 0;
  std::shared_ptr<Optimizer> optimizer_;
  std::uint64_t states_version_ = 0;
  std::string op_;  ///< the first entry's; others differ only in their arrays
  std::vector<Entry> entries_;
};

}  // namespace symbind
