#pragma once
// What may happen around an update: gradients averaged over several batches, gradients clipped by
// their global norm, and a running average of the weights.
//
// fit passes the gradients of every batch to the policy and updates when it says so. The policy
// uses groups of executors but no optimizer, so it works with every kind of module, optimizer and
// store.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <symbind/detail/executor_group.h>
#include <symbind/detail/workers.h>

namespace symbind {

struct UpdatePolicyOptions {
  /// Batches per update; their gradients are averaged. An epoch's last update uses the remaining
  /// batches.
  int accumulate = 1;
  /// The largest norm of all gradients together, rescale_grad applied; 0: no clipping.
  double clip_global_norm = 0;
  /// After every update: average = decay · average + (1 − decay) · weight; 0: no average.
  double ema_decay = 0;
  /// Whether fit evaluates with the average instead of the weights.
  bool eval_ema = false;
  bool operator==(const UpdatePolicyOptions&) const = default;
};

class UpdatePolicy {
 public:
  /// A group, what its optimizer multiplies gradients by, and the workers that sum them.
  struct Part {
    ExecutorGroup* group = nullptr;
    double rescale_grad = 1;
    Workers* workers = nullptr;
  };
  using Parts = std::vector<Part>;
  /// The parts of a module: those that ran last, or those that hold all weights.
  using PartsOf = std::function<Parts(bool all_weights)>;

  explicit UpdatePolicy(const UpdatePolicyOptions& options = {});
  const UpdatePolicyOptions& options() const { return options_; }
  /// Whether it is active: by its options, or because there is an average.
  bool is_used() const { return options_ != UpdatePolicyOptions{} || !average_.empty(); }
  /// Whether gradients are read; if not, a step may run fused.
  bool changes_gradients() const {
    return options_.accumulate > 1 || options_.clip_global_norm > 0;
  }

  /// Before a fit: takes its options; the average stays.
  void begin_fit(const UpdatePolicyOptions& options, const PartsOf& parts);
  /// After a batch's backward: calls `update` when it is due. This is the only place that decides
  /// it.
  void step(const PartsOf& parts, const std::function<void()>& update);
  /// At the end of an epoch: calls `update` if batches wait for one.
  void finish_epoch(const PartsOf& parts, const std::function<void()>& update);

  /// Before the first batch: starts the average at the weights, unless there is one.
  void begin(const Parts& parts);
  /// Takes the gradients of a batch. True: an update with the current gradients is due.
  bool take(const Parts& parts);
  /// At the end of an epoch: true if batches wait for an update, which is then due.
  bool take_rest(const Parts& parts);
  /// After an update: moves the average.
  void updated(const Parts& parts);

  /// Name → average, on the host.
  NDArrayMap average() const;
  /// Replaces it; empty removes it.
  void set_average(const NDArrayMap& arrays);
  /// Swaps the average in for the weights, or back.
  void show_average(const Parts& parts);
  void show_weights(const Parts& parts);
  /// One or the other.
  void swap_average(const Parts& parts);
  bool shows_average() const { return !hidden_weights_.empty(); }

  /// Everything it keeps between batches: "ema:<name>", "sum:<name>:<device>" and the two counts
  /// "batches" and "updates". set_state restores it.
  StateValue state() const;
  void set_state(const StateValue& state);
  /// Batches that wait for an update.
  std::int64_t waiting_batches() const { return batches_; }

 private:
  /// The gradients of the batches that wait, added up on each device. A parameter missing from the
  /// bucket of an update keeps waiting.
  struct Sum {
    DeviceArrays arrays;
    bool empty = true;
  };
  void add(const Parts& parts);
  void write_mean(const Parts& parts);
  void clip(const Parts& parts);

  UpdatePolicyOptions options_;
  std::int64_t batches_ = 0, updates_ = 0;
  std::map<std::string, Sum> sums_;  ///< by parameter
  struct Hidden {
    NDArray weight;
    DeviceArrays places;
  };
  NDArrayMap average_;
  std::map<std::string, Hidden> hidden_weights_;  ///< while the average replaces them
  bool reported_ = false;                         ///< a NaN or infinite norm was reported
};

/// Scales `arrays`, which may be on several devices, so that the norm of all their numbers is at
/// most `max_norm`, and returns the norm they had. If the norm is NaN or infinity, the arrays are
/// unchanged; `report` logs that as a warning.
double clip_global_norm(const std::vector<NDArray>& arrays, double max_norm, bool report = true);
/// The norm of all their numbers.
double global_norm(const std::vector<NDArray>& arrays);

}  // namespace symbind
