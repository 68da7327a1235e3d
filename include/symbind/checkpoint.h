#pragma once
// Checkpoints from which a training resumes exactly.
//
// A checkpoint is a set of files: MXNet's own (`prefix-symbol.json`, `prefix-0003.params`,
// `prefix-0003.states`), `prefix-0003.extra` for further arrays, and `prefix-0003.manifest.json`,
// which says what belongs to it (sizes, SHA-256) and the progress of the training. Files are
// written under temporary names. Writing the manifest completes the set; then the files are
// renamed. Sets within an epoch are called `prefix-0003-b000250`: after 3 epochs and 250 batches.
// See docs/checkpoints.md.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <symbind/detail/state_value.h>
#include <symbind/metric.h>
#include <symbind/model.h>

namespace symbind {

/// When and where fit saves, and what it keeps.
struct CheckpointOptions {
  std::string prefix;
  int every_n_epochs = 1;   ///< 0: only after the last one
  int every_n_batches = 0;  ///< 0: none within an epoch
  /// How many of the newest sets are kept; 0: those of all epochs, and the newest two within an
  /// epoch.
  int keep_last = 0;
  std::string keep_best = {};  ///< the set with the best value of this metric is also kept
  std::string mode = "auto";   ///< what is better: "max", "min"; "auto" decides by its name
  bool background = true;      ///< a thread writes; fit continues once the parameters are copied
};

/// One network of a training, with its optimizer. A SequentialModule has several.
struct TrainingPart {
  std::string symbol_json = {};
  /// kNone: no optimizer. kBytes: a .states file. Otherwise the input of dump_states.
  StateValue states = {};
};

/// A training between two batches.
struct TrainingState {
  int epoch = 0;  ///< complete epochs
  int batch = 0;  ///< complete batches of the next epoch
  NDArrayMap args = {}, aux = {};
  ParamOrder order = {};  ///< of `.params`
  std::vector<TrainingPart> parts = {};
  /// Everything else: random numbers, iterator, optimizers, metric, devices, named parts.
  StateValue facts = StateValue::dict();
  std::optional<NameValue> score = {};  ///< what keep_best watches
  std::string source = {};              ///< the file it was read from
  bool exact = true;  ///< false: read from MXNet's files, which hold only the parameters
};

/// A set of files that has a manifest.
struct CheckpointInfo {
  std::string manifest;  ///< its path, which `resume` takes as well as a prefix
  int epoch = 0, batch = 0;
  std::int64_t sequence = 0;  ///< later sets have higher numbers
  std::optional<NameValue> score = {};
};

/// The sets of `prefix`, the newest last. Unreadable manifests are skipped.
std::vector<CheckpointInfo> list_checkpoints(const std::string& prefix);
/// Reads the newest set of a prefix, or the one of a manifest's path, every byte checked. Files
/// that are damaged, missing or from another set raise an Error kIo that lists them and names the
/// newest complete set. Without a manifest, MXNet's files of the last epoch are read; without
/// these, nullopt is returned.
std::optional<TrainingState> load_training(const std::string& prefix_or_manifest);

/// A part of a training that has state (averaged weights, summed gradients, a callback): every
/// checkpoint stores the result of `state`, and resume passes it to `set_state`.
struct Resumable {
  std::function<StateValue()> state;
  std::function<void(const StateValue&)> set_state;
};
using Resumables = std::map<std::string, Resumable>;

/// Saves trainings as its options say. One thread at a time.
class Checkpointer {
 public:
  /// Checks the options and the folder, and deletes the leftovers of an interrupted save. With
  /// `saves` false, another process saves this training and may be saving now: deletes nothing.
  explicit Checkpointer(CheckpointOptions options, bool saves = true);
  /// Waits for the writer. An error that was not raised is logged.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  const CheckpointOptions& options() const;
  /// Whether to save after `batches` batches of an epoch; after `epochs` epochs of `num_epoch`.
  bool due_in_epoch(int batches) const;
  bool due_at_border(int epochs, int num_epoch) const;
  /// Takes a state whose arrays nothing else writes to. With a background writer it returns at
  /// once, except that a set of a whole epoch waits for the previous one; sets within an epoch that
  /// come too fast are skipped. Throws the error of the previous save.
  void save(TrainingState state);
  /// Waits until everything is written; throws the writer's error.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The value of `wanted` among a metric's; kName with the nearest names if it is missing.
NameValue watched_value(const std::vector<NameValue>& values, const std::string& wanted,
                        const char* who);

}  // namespace symbind
