#pragma once
// What fit does besides the verbs: going on from a checkpoint, and saving on the way.
//
// The next batch is fetched before callbacks run, so a checkpoint has two moments: where the
// iterator and the random numbers stood before the fetch, and everything else behind the callbacks.
// A resumed training goes back to the first, fetches, and then takes the second.

#include <symbind/module.h>
#include <symbind/resume.h>

#include "base/interrupt.h"

namespace symbind {

class TrainingSession {
 public:
  /// Loads what `options.resume` names and gives it to the module. The module must be bound, with
  /// parameters and optimizer.
  TrainingSession(BaseModule& module, DataIter& train, EvalMetric& metric,
                  const FitOptions& options);

  int begin_epoch() const { return begin_epoch_; }
  struct Start {
    int nbatch;
    bool more;
  };
  /// Begins an epoch: fetches its first batch, or the one behind the checkpoint.
  Start start_epoch(DataBatch& batch);
  /// Behind the update of batch number `batches`, before the next one is fetched.
  void behind_step(int batches);
  /// Behind the callbacks of a batch: saves what is due; throws Interrupted if that was asked for.
  void behind_batch(int epoch, int batches, bool more);
  /// Behind the last batch of an epoch: what follows may be interrupted.
  void behind_batches(int epoch, int batches);
  /// Behind the reset for the next epoch.
  void behind_epoch(int epochs, const std::vector<NameValue>& values);
  /// The training ends before its time, between the batches of two epochs or not.
  void stopped();
  /// Waits for the writer.
  void finish();

 private:
  struct FetchPoint {
    std::optional<StateValue> iterator;
    StateValue random;
    bool ended;  ///< the fetch was made, and found the end of the epoch
  };
  FetchPoint fetch_point(bool ended);
  TrainingState capture(int epoch, int batches, const FetchPoint& at);
  void restore(const TrainingState& state);
  void restore_part(Module& part, const TrainingPart& saved, const StateValue* facts,
                    const TrainingState& state);
  void give_iterator(const TrainingState& state);
  Resumables resumables() const;

  BaseModule& module_;
  DataIter& train_;
  EvalMetric& metric_;
  const FitOptions& options_;
  std::unique_ptr<Checkpointer> checkpointer_;
  int begin_epoch_;
  std::optional<TrainingState> resumed_;  ///< until its epoch begins
  std::vector<StateValue> kernels_;       ///< of each part, as bound
  std::vector<std::string> symbols_;      ///< of each part, as JSON
  std::optional<FetchPoint> fetch_;       ///< of a save that is due
  std::optional<TrainingState> end_;      ///< behind the last batch of the epoch
  std::optional<InterruptDeferral> deferral_;
  bool interrupted_ = false, border_due_ = false;
};

}  // namespace symbind
