#pragma once
// When a training saves, resumes and stops. fit calls it, in C++ and in Python alike.
//
// The next batch is fetched before callbacks run, so a checkpoint captures two moments: iterator
// and random numbers before the fetch, everything else after the callbacks. A resumed training
// restores the first, fetches, and then restores the second.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <symbind/checkpoint.h>
#include <symbind/detail/executor_group.h>
#include <symbind/detail/workers.h>
#include <symbind/model.h>
#include <symbind/optimizer.h>
#include <symbind/run.h>

namespace symbind {

/// One network of a training, with its optimizer.
class TrainedNetwork {
 public:
  virtual ~TrainedNetwork() = default;
  virtual ExecutorGroup& group() = 0;
  virtual Optimizer& optimizer() = 0;
  virtual bool update_on_store() = 0;
  virtual std::string symbol_json() = 0;
  /// As TrainingPart has them.
  virtual StateValue states() = 0;
  /// The bytes of a .states file as data; throws if they are invalid.
  virtual StateValue read_states(const std::string& bytes, const std::string& source) = 0;
  virtual void set_states(const std::string& bytes, const std::string& source) = 0;
  /// Gives a store that runs the updates the parameters of the module.
  virtual void give_to_store() = 0;
  /// Its further state: adds it to `facts`; throws unless facts fit; restores it.
  virtual void add_facts(StateValue& /*facts*/) {}
  virtual void check_facts(const StateValue& /*facts*/, const std::string& /*source*/) {}
  virtual void take_facts(const StateValue& /*facts*/) {}
};

/// What a session saves, restores and calls: the objects of one fit.
class Training {
 public:
  virtual ~Training() = default;
  virtual std::vector<std::unique_ptr<TrainedNetwork>> networks() = 0;
  virtual ModelParams params() = 0;
  /// Their order in files.
  virtual ParamOrder param_order() = 0;
  virtual void set_params(const NDArrayMap& args, const NDArrayMap& aux) = 0;
  /// Everything else that has state: averages, callbacks.
  virtual Resumables named() = 0;

  virtual void reset_metric() = 0;
  /// Over the epoch so far.
  virtual std::vector<NameValue> metric_values() = 0;
  virtual StateValue metric_facts() = 0;
  virtual bool set_metric_facts(const StateValue& facts) = 0;

  /// Fetches the next batch of the epoch; false at its end.
  virtual bool fetch() = 0;
  /// Prepares the module for the batch that was fetched.
  virtual void prepare() = 0;
  virtual void reset_data() = 0;
  virtual std::optional<StateValue> data_state() = 0;
  virtual void set_data_state(const StateValue& state) = 0;
  virtual std::optional<StateValue> eval_state() = 0;
  virtual void set_eval_state(const StateValue& state) = 0;
  virtual StateValue random() = 0;
  virtual void set_random(const StateValue& facts) = 0;

  /// From now on an interrupt is only noted; `interrupted` says whether one was.
  virtual void defer_interrupts() = 0;
  virtual void release_interrupts() = 0;
  virtual bool interrupted() = 0;

  virtual void info(const std::string& text) = 0;
  virtual void warn(const std::string& text) = 0;

  /// What a progress display must respect: nothing; lines of our log on stderr, which make room
  /// for a bar; or a log of the caller that may write to the same terminal.
  enum class Display { kFree, kOurLog, kForeignLog };
  virtual Display display() = 0;
  virtual std::int64_t batch_size() = 0;
  /// Where the iterator knows.
  virtual std::optional<std::int64_t> batches_per_epoch() = 0;
  /// Evaluates once more and counts rows by true and predicted class; nullopt if there are no data
  /// to evaluate.
  virtual std::optional<NDArray> confusion() = 0;
  /// The workers that train together; null for one process, or one that trains independently.
  virtual Workers* workers() = 0;
  /// The rank of this worker: worker 0 saves, records and shows progress.
  virtual int rank() = 0;
};

struct SessionOptions {
  std::optional<CheckpointOptions> checkpoint = {};
  std::string resume = {};
  int begin_epoch = 0, num_epoch = 0;
  /// Records the training in a folder; it also saves and resumes there unless told otherwise.
  std::optional<RunOptions> run = {};
  std::optional<bool> progress = {};  ///< SYMBIND_PROGRESS by default
};

class TrainingRecord;

class TrainingSession {
 public:
  /// Loads what `options.resume` names and gives it to the training, whose module must be bound,
  /// with parameters and optimizer.
  TrainingSession(Training& training, SessionOptions options);
  ~TrainingSession();

  int begin_epoch() const { return options_.begin_epoch; }
  struct Start {
    int nbatch;
    bool more;
  };
  /// Begins an epoch: fetches its first batch, or the one after the checkpoint.
  Start start_epoch(int epoch);
  /// After the update of batch number `batches`, before the next one is fetched.
  void after_update(int batches);
  /// After the callbacks of a batch: saves what is due; throws Interrupted if an interrupt was
  /// noted.
  void after_callbacks(int epoch, int batches, bool more);
  /// After the last batch of an epoch: what follows may be interrupted.
  void after_batches(int epoch, int batches);
  /// What all workers base their decisions on: the values of worker 0. Those given, in one process.
  std::vector<NameValue> decided(const std::vector<NameValue>& values);
  /// Why worker 0 stops after callbacks and evaluation; what is given, in one process.
  std::optional<std::string> decided_stop(const std::optional<std::string>& why);
  /// After the reset for the next epoch; `values` are those of the evaluation if there was one.
  void after_epoch(int epochs, const std::vector<NameValue>& values, bool evaluated);
  /// A callback ends the training, within an epoch or between two.
  void stopped(const std::string& why);
  /// The training is complete: waits for the writer.
  void finish();
  /// Ctrl-C ends it: saves the epoch that is complete but not evaluated, and waits for the writer.
  void interrupted();
  /// It ends with an error.
  void failed(const std::string& error);

 private:
  struct FetchPoint {
    std::optional<StateValue> iterator;
    StateValue random;
    bool ended;  ///< the fetch was made, and found the end of the epoch
  };
  FetchPoint fetch_point(bool ended);
  TrainingState capture(int epoch, int batches, const FetchPoint& at);
  void restore(const TrainingState& state);
  void restore_named(const TrainingState& state);
  void restore_optimizer(TrainedNetwork& network, const StateValue& kernels,
                         const TrainingPart& saved, const StateValue* facts,
                         const std::string& source);
  void restore_data(const TrainingState& state);
  bool keeps_best() const;
  /// Loads the checkpoint; false if there is none.
  bool resume();
  Start fetch_first();
  void save_epoch();

  /// Saves, unless another worker does.
  void save(TrainingState state);
  void find_places();

  Training& training_;
  Workers* workers_;
  SessionOptions options_;
  std::unique_ptr<TrainingRecord> record_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::optional<TrainingState> resumed_;  ///< until its epoch begins
  std::vector<StateValue> kernels_;       ///< of each network, as bound
  std::vector<std::string> symbols_;      ///< of each network, as JSON
  std::optional<FetchPoint> fetch_;       ///< of a save that is due
  std::optional<TrainingState> end_;      ///< after the last batch of the epoch
  bool interrupted_ = false, epoch_end_due_ = false;
  std::string why_;  ///< a callback ended the training
};

}  // namespace symbind
