#pragma once
// Checkpoints a training goes on from as if it had never stopped.
//
// A checkpoint is a set of files: MXNet's own (`prefix-symbol.json`, `prefix-0003.params`,
// `prefix-0003.states`), `prefix-0003.extra` for further arrays, and `prefix-0003.manifest.json`,
// which says what belongs to it (sizes, SHA-256) and where the training stood. Files are written
// under temporary names; the manifest is the moment from which the set counts, and only then do
// they take their names. Sets within an epoch are called `prefix-0003-b000250`: behind 3 epochs and
// 250 batches. docs/checkpoints.md tells the whole.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <symbind/detail/state_value.h>
#include <symbind/metric.h>
#include <symbind/model.h>

namespace symbind {

/// When and where fit saves, and what stays.
struct CheckpointOptions {
  std::string prefix;
  int every_n_epochs = 1;   ///< 0: only behind the last one
  int every_n_batches = 0;  ///< 0: none within an epoch
  /// The newest sets that stay; 0: those of all epochs, and the newest two within an epoch.
  int keep_last = 0;
  std::string keep_best = {};  ///< the set of the best value of this metric stays as well
  std::string mode = "auto";   ///< what is better: "max", "min"; "auto" goes by the metric's name
  bool background = true;      ///< a thread writes; fit goes on once the parameters are copied
};

/// One network of a training, with its optimizer. A SequentialModule has several.
struct TrainingPart {
  std::string symbol_json = {};
  /// kNone: no optimizer. kBytes: a .states file. Else what dump_states makes one of.
  StateValue states = {};
};

/// A training between two batches.
struct TrainingState {
  int epoch = 0;  ///< complete epochs
  int batch = 0;  ///< complete batches of the one that follows
  NDArrayMap args = {}, aux = {};
  ParamOrder order = {};  ///< of `.params`
  std::vector<TrainingPart> parts = {};
  /// Everything else: random numbers, iterator, optimizers, metric, devices, named parts.
  StateValue facts = StateValue::dict();
  std::optional<NameValue> score = {};  ///< what keep_best watches
  std::string source = {};              ///< the file it was read from
  bool exact = true;  ///< false: read from MXNet's files, which say no more than the parameters
};

/// A set of files that has a manifest.
struct CheckpointInfo {
  std::string manifest;  ///< its path, which `resume` takes as well as a prefix
  int epoch = 0, batch = 0;
  std::int64_t sequence = 0;  ///< later sets have higher numbers
  std::optional<NameValue> score = {};
};

/// The sets of `prefix`, the newest last. Manifests that cannot be read are left out.
std::vector<CheckpointInfo> list_checkpoints(const std::string& prefix);
/// Reads the newest set of a prefix, or the one of a manifest's path, every byte checked. What is
/// damaged, missing or of another set is an Error kIo that lists it and names the newest complete
/// set. Without a manifest MXNet's files of the last epoch are read; nothing at all: nullopt.
std::optional<TrainingState> load_training(const std::string& prefix_or_manifest);

/// A part of a training with a state of its own (averaged weights, summed gradients, a callback):
/// what `state` gives is in every checkpoint, and `set_state` gets it back on resume.
struct Resumable {
  std::function<StateValue()> state;
  std::function<void(const StateValue&)> set_state;
};
using Resumables = std::map<std::string, Resumable>;

/// Saves trainings as its options say. One thread at a time.
class Checkpointer {
 public:
  /// Checks the options and the folder, and clears away what a killed save left behind.
  explicit Checkpointer(CheckpointOptions options);
  /// Waits for the writer. An error nobody asked for is logged.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  const CheckpointOptions& options() const;
  /// Whether to save behind `batches` batches of an epoch; behind `epochs` epochs of `num_epoch`.
  bool due_in_epoch(int batches) const;
  bool due_at_border(int epochs, int num_epoch) const;
  /// Takes a state whose arrays nobody else writes to. With a writer in the background it returns
  /// at once, but that a set of a whole epoch waits for the one before it; sets within an epoch
  /// that come too fast are passed over. Throws what went wrong with the one before.
  void save(TrainingState state);
  /// Waits until everything is written; throws what went wrong.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The value of `wanted` among a metric's; kName with the nearest names if it is not there.
NameValue watched_value(const std::vector<NameValue>& values, const std::string& wanted,
                        const char* who);

}  // namespace symbind
