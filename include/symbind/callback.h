#pragma once
// Callbacks: what fit and score call after a batch or an epoch.
//
// The ready-made ones write MXNet's log lines, to the byte, through symbind/log.h. A callback ends
// the training by throwing StopTraining, which fit treats as a normal end.

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <symbind/detail/state_value.h>
#include <symbind/metric.h>
#include <symbind/symbol.h>

namespace symbind {

/// The progress of the training, for callbacks.
struct BatchEndParam {
  int epoch = 0;
  int nbatch = 0;                     ///< of this epoch, from 0
  EvalMetric* eval_metric = nullptr;  ///< may be null
};

using BatchEndCallback = std::function<void(const BatchEndParam&)>;
using EpochEndCallback = std::function<void(int epoch, const Symbol& symbol, const NDArrayMap& args,
                                            const NDArrayMap& aux)>;

/// A fit as a whole, for callbacks at its begin and end.
struct FitParam {
  class BaseModule* module = nullptr;
  int begin_epoch = 0, num_epoch = 0;  ///< begin_epoch: after resuming
  EvalMetric* eval_metric = nullptr;
  const std::exception* error = nullptr;  ///< what ends the training, or null
};
using FitCallback = std::function<void(const FitParam&)>;

/// Thrown by a callback: the training ends here, as if it were complete.
struct StopTraining : std::exception {
  explicit StopTraining(std::string why = "a callback stopped the training")
      : reason(std::move(why)) {}
  const char* what() const noexcept override { return reason.c_str(); }
  std::string reason;
};

/// Logs samples per second and the metric every `frequent` batches, then resets its local sums
/// (auto_reset).
BatchEndCallback Speedometer(int batch_size, int frequent = 50, bool auto_reset = true);
/// Logs the metric every `period` batches.
BatchEndCallback log_train_metric(int period, bool auto_reset = false);
/// Logs the metric as "Epoch[n] Validation-name=value".
BatchEndCallback LogValidationMetricsCallback();

/// Writes the metric to event files in `logging_dir`, where TensorBoard finds them, the epoch as
/// the step; `prefix` opens the names.
BatchEndCallback LogMetricsCallback(const std::string& logging_dir, const std::string& prefix = {});

struct FileLogOptions {
  std::string phase = "train";  ///< what the lines say they are about
  int period = 1;               ///< batches between two lines
};
/// Appends the metric to a CSV file or one of JSON lines; see log_files.h.
BatchEndCallback log_to_csv(const std::string& path, const FileLogOptions& options = {});
BatchEndCallback log_to_jsonl(const std::string& path, const FileLogOptions& options = {});

struct ProgressBarOptions {
  int total = 0;    ///< batches of an epoch
  int length = 80;  ///< of the bar, in characters
  /// True: redraws the bar on the terminal (stderr) with the time left. False: writes MXNet's log
  /// line. Unset: true if stderr is a terminal.
  std::optional<bool> terminal = {};
};
/// Shows the progress of the epoch.
BatchEndCallback ProgressBar(const ProgressBarOptions& options);

/// Saves `prefix-symbol.json` and `prefix-%04d.params` every `period` epochs.
EpochEndCallback do_checkpoint(const std::string& prefix, int period = 1);

struct EarlyStoppingOptions {
  std::string metric = {};    ///< the value watched; empty: the metric's first
  int patience = 1;           ///< evaluations without improvement before it acts
  std::string mode = "auto";  ///< "max", "min"; "auto" decides by its name
  double min_delta = 0;       ///< what counts as an improvement
};
/// For eval_end_callback: throws StopTraining when the metric stopped improving. Copies share their
/// state, and checkpoints of fit save it.
class EarlyStopping {
 public:
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});
  void operator()(const BatchEndParam& param) const;
  /// Takes one evaluation; returns the reason to stop, if there is one.
  std::optional<std::string> observe(int epoch, const std::vector<NameValue>& values) const;

  struct Seen : EarlyStoppingOptions {
    double best = std::numeric_limits<double>::quiet_NaN();
    int waited = 0;  ///< evaluations since the best
  };
  Seen& seen() const { return *seen_; }
  /// `best` and `waited`, for checkpoints.
  StateValue state() const;
  void set_state(const StateValue& state) const;

 private:
  std::shared_ptr<Seen> seen_;
};

}  // namespace symbind
