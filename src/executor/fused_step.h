#pragma once
// Updates that run after backward, and the whole step of forward, backward and updates as one
// recording where the device can record.
//
// The first step runs as the verbs do, so that vendor libraries finish their one-time work; the
// second is recorded, and later steps replay it. Values that change between steps are in a block on
// the device, so only a new update, a monitor or another plan requires a new recording.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "executor/imperative.h"
#include "executor/profile.h"
#include "executor/runner.h"

namespace symbind {

class FusedStep {
 public:
  FusedStep(Runner& runner, Watchers& watchers) : runner_(runner), watchers_(watchers) {}

  /// Adds an update: operator, arrays, attributes. Returns its number.
  int add(const std::string& op, const std::vector<NDArray>& inputs, const NDArray& out,
          const AttrDict& attrs);
  void clear();
  std::size_t size() const { return updates_.size(); }
  /// Increases with every change of the updates, so that their owner can detect changes.
  std::uint64_t version() const { return version_; }
  /// The index of a per-call attribute in the values of an update; kName if it has none.
  std::size_t place_of(int number, std::string_view attr) const;
  void set(int number, std::size_t place, double value) {
    double& held = updates_[static_cast<std::size_t>(number)].values[place];
    values_changed_ |= held != value;
    held = value;
  }

  /// Runs the updates alone; with a list, those of these numbers.
  void run_updates();
  void run_updates(std::span<const int> numbers);
  /// Whether forward, backward and updates can be replayed with their current wiring.
  bool can_replay() const;
  /// Runs the whole step as one launch. False if it cannot be recorded; then nothing ran.
  bool replay();
  /// Notes that a step ran as the verbs do.
  void ran() { is_warm_ = true; }
  /// Notes that the plan or an update changed.
  void rewired();

  /// The recorded step; null before it is recorded and if it cannot be.
  const Recording* recording() const { return recording_.get(); }
  const KernelTimes& times() const { return times_; }

 private:
  struct Update {
    std::shared_ptr<const ImperativeKernel> kernel;
    std::vector<NDArray> inputs;
    NDArray out;
    std::vector<std::string> value_names = {};  ///< of the per-call attributes
    std::vector<double> values = {};
    std::vector<TensorArg> in_args = {}, out_args = {};
    std::shared_ptr<Storage> workspace = {};
    std::size_t slot = 0;                   ///< of its device in the plan
    const double* device_values = nullptr;  ///< `values` on the device, where there is one
  };

  const Update& at(int number) const;
  void run(const Update& update, std::size_t number);
  void run_or_keep_error(std::size_t number);
  void bring_values_to_device();
  std::vector<StepTimes> described() const;
  bool has_unread_error() const;
  void record();

  Runner& runner_;
  Watchers& watchers_;
  std::vector<Update> updates_;
  std::uint64_t version_ = 0;
  std::unique_ptr<DeviceValues> device_values_;  ///< of all updates; only a GPU has them
  std::vector<double> staged_values_;            ///< what the block holds
  bool values_changed_ = true;
  KernelTimes times_;
  std::unique_ptr<Recording> recording_;
  bool is_warm_ = false;        ///< a step ran once with the current wiring
  bool is_recordable_ = false;  ///< until the device refuses
};

/// The fused step of a bound executor; kState if it is empty.
FusedStep& fused_step_of(const Executor& executor);

}  // namespace symbind
