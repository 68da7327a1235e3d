#pragma once
// Modules: name a network, pass an iterator, fit.
//
// BaseModule is the interface: the verbs that each kind of module implements, and fit, score and
// predict built on them. Module is one network on one or several devices.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <symbind/callback.h>
#include <symbind/checkpoint.h>
#include <symbind/detail/executor_group.h>
#include <symbind/detail/module_args.h>
#include <symbind/dry_run.h>
#include <symbind/initializer.h>
#include <symbind/io.h>
#include <symbind/metric.h>
#include <symbind/model.h>
#include <symbind/monitor.h>
#include <symbind/optimizer.h>
#include <symbind/run.h>
#include <symbind/update_policy.h>

namespace symbind {

using Shapes = std::vector<DataDesc>;

struct ModuleBindOptions {
  bool for_training = true;
  bool inputs_need_grad = false;
  bool force_rebind = false;
  const class Module* shared_module = nullptr;  ///< shares its parameters and memory (buckets)
  GradReqArg grad_req = "write";
};

struct InitParamsOptions {
  InitializerPtr initializer = Uniform(0.01);
  std::optional<NDArrayMap> arg_params = {};  ///< used instead of the initializer
  std::optional<NDArrayMap> aux_params = {};
  bool allow_missing = false;  ///< the initializer fills what is not given
  bool force_init = false;
  bool allow_extra = false;  ///< ignore given names that the network does not have
};

struct SetParamsOptions {
  bool allow_missing = false;
  bool force_init = true;
  bool allow_extra = false;
};

struct InitOptimizerOptions {
  StoreArg kvstore = "local";
  OptimizerArg optimizer = "sgd";
  OptimizerParams optimizer_params = default_optimizer_params();
  bool force_init = false;
};

struct ScoreOptions {
  int num_batch = -1;  ///< all unless given
  Callbacks<BatchEndCallback> batch_end_callback = {};
  Callbacks<BatchEndCallback> score_end_callback = {};
  bool reset = true;
  int epoch = 0;  ///< for the callbacks
};

struct FitOptions {
  DataIter* eval_data = nullptr;
  MetricArg eval_metric = "acc";
  Callbacks<EpochEndCallback> epoch_end_callback = {};
  Callbacks<BatchEndCallback> batch_end_callback = {};
  StoreArg kvstore = "local";
  OptimizerArg optimizer = "sgd";
  OptimizerParams optimizer_params = default_optimizer_params();
  Callbacks<BatchEndCallback> eval_end_callback = {};
  Callbacks<BatchEndCallback> eval_batch_end_callback = {};
  InitializerPtr initializer = Uniform(0.01);
  std::optional<NDArrayMap> arg_params = {};
  std::optional<NDArrayMap> aux_params = {};
  bool allow_missing = false;
  bool force_rebind = false;
  bool force_init = false;
  int begin_epoch = 0;
  int num_epoch = 0;  ///< must be given
  std::optional<MetricArg> validation_metric = {};
  Monitor* monitor = nullptr;
  std::optional<bool> nan_guard = {};  ///< stop at the first NaN; by default nan_guard_is_on()
  UpdatePolicyOptions updates = {};    ///< accumulation, clipping, an average of the weights
  bool dry_run = false;                ///< log what dry_run reports, and train nothing
  std::optional<CheckpointOptions> checkpoint = {};  ///< save in fit; see docs/checkpoints.md
  /// Resume from the newest checkpoint of this prefix, or from one by its manifest's path; start
  /// from scratch if there is none. The checkpoint overrides begin_epoch, parameters and optimizer.
  std::string resume = {};
  /// Records the training in runs/NAME, saves checkpoints there, and resumes a former run of that
  /// name; see docs/training.md.
  std::optional<RunOptions> run = {};
  /// Shows progress on stderr: a bar in a terminal, a line per epoch elsewhere unless epochs are
  /// logged. Unset: the setting SYMBIND_PROGRESS.
  std::optional<bool> progress = {};
  Callbacks<FitCallback> fit_begin_callback = {};  ///< before the first batch
  Callbacks<FitCallback> fit_end_callback = {};    ///< after the last epoch
  Callbacks<FitCallback> fit_error_callback = {};  ///< when an exception ends the training
};

/// The verbs every module has, and training built on them.
class BaseModule {
 public:
  virtual ~BaseModule() = default;

  bool binded() const { return binded_; }
  bool for_training() const { return for_training_; }
  bool inputs_need_grad() const { return inputs_need_grad_; }
  bool params_initialized() const { return params_initialized_; }
  bool optimizer_initialized() const { return optimizer_initialized_; }

  virtual const Symbol& symbol() const = 0;
  virtual std::vector<std::string> data_names() const = 0;
  virtual std::vector<std::string> output_names() const = 0;
  virtual const Shapes& data_shapes() const = 0;
  virtual Shapes label_shapes() const = 0;
  virtual std::vector<std::pair<std::string, Shape>> output_shapes() const = 0;

  virtual void bind(const Shapes& data_shapes, const std::optional<Shapes>& label_shapes = {},
                    const ModuleBindOptions& options = {}) = 0;
  virtual void init_params(const InitParamsOptions& options = {}) = 0;
  virtual void set_params(const NDArrayMap& args, const NDArrayMap& aux,
                          const SetParamsOptions& options = {});
  /// The current parameters; the module keeps owning the arrays.
  virtual ModelParams get_params() = 0;
  virtual void init_optimizer(const InitOptimizerOptions& options = {}) = 0;
  /// Prepares for the next batch (buckets switch here).
  virtual void prepare(const DataBatch&) {}
  virtual void forward(const DataBatch& batch, std::optional<bool> is_train = {}) = 0;
  virtual void backward(const std::vector<NDArray>& out_grads = {}) = 0;
  virtual void forward_backward(const DataBatch& batch);
  virtual void update() = 0;
  virtual std::vector<NDArray> get_outputs() const = 0;
  virtual std::vector<NDArray> get_input_grads() const = 0;
  virtual void update_metric(EvalMetric& metric, const std::vector<NDArray>& labels) const = 0;
  virtual void install_monitor(Monitor& monitor) = 0;
  /// forward_backward, update and update_metric as one, with the same results.
  virtual void step(const DataBatch& batch, EvalMetric& metric);
  /// The modules with executors: itself or its parts; those that ran last, or those that hold all
  /// weights.
  enum class Which { kRanLast, kAllWeights };
  virtual std::vector<class Module*> modules(Which) { return {}; }

  /// The average of the weights that fit keeps with ema_decay, by name; empty without one.
  NDArrayMap get_ema_params() const { return policy_.average(); }
  void set_ema_params(const NDArrayMap& average) { policy_.set_average(average); }
  /// Swaps the average in for the weights, for evaluation or a checkpoint; the next call swaps
  /// back.
  void swap_ema_params();
  /// What happens around updates.
  UpdatePolicy& update_policy() { return policy_; }

  /// Writes the parameters in param_order().
  void save_params(const std::string& path);
  void load_params(const std::string& path);
  /// The parameters in the order of the networks' arguments, which MXNet's files have.
  ParamOrder param_order();

  /// From now on checkpoints of fit save the state of `part`, and resume restores it.
  void keep_in_checkpoints(const std::string& name, Resumable part);
  const Resumables& kept_in_checkpoints() const { return kept_; }

  /// Trains for num_epoch - begin_epoch passes over `train`. Binds and initialises if that has not
  /// been done.
  void fit(DataIter& train, FitOptions options);
  /// Tries a step and an evaluation on a copy, with the first batch of each: checks shapes, labels
  /// and metric, and reports memory and time. Parameters, optimizer, random numbers and iterators
  /// are unchanged; the metrics are reset.
  DryRunReport dry_run(DataIter& train, const FitOptions& options);
  /// The same network or networks, neither bound nor initialised.
  virtual std::shared_ptr<BaseModule> blank_copy() const;
  /// Name and value of the metric over `eval`.
  std::vector<NameValue> score(DataIter& eval, const MetricArg& metric,
                               const ScoreOptions& options = {});
  /// The outputs over all batches, joined, padding rows dropped.
  std::vector<NDArray> predict(DataIter& eval, int num_batch = -1, bool reset = true);
  /// The outputs of each batch.
  std::vector<std::vector<NDArray>> predict_batches(DataIter& eval, int num_batch = -1,
                                                    bool reset = true);
  /// The outputs for one array of data.
  std::vector<NDArray> predict(const NDArray& data);

 protected:
  void check_bound() const;        ///< throws kState unless bound
  void check_initialized() const;  ///< … and unless parameters are initialised
  bool binded_ = false, for_training_ = false, inputs_need_grad_ = false;
  bool params_initialized_ = false, optimizer_initialized_ = false;
  UpdatePolicy policy_;
  std::unique_ptr<NanGuard> guard_;  ///< of the last fit with one: buckets point to it

 private:
  UpdatePolicy::PartsOf update_parts();
  void begin_updates(const UpdatePolicyOptions& options);
  void tell_schedulers(const std::vector<NameValue>& values);
  Resumables kept_;
};

struct ModuleOptions {
  std::vector<std::string> data_names = {"data"};
  std::vector<std::string> label_names = {"softmax_label"};
  std::vector<Context> context = {cpu()};
  std::vector<double> work_load_list = {};  ///< equal shares unless given
  std::vector<std::string> fixed_param_names = {};
  std::vector<std::string> state_names = {};  ///< inputs that keep their value between batches
  std::vector<ContextMap> group2ctxs = {};    ///< ctx_group → device, for each context
  AttrDict compression_params = {};           ///< {{"type", "2bit"}}; see KVStore
  std::optional<bool> exact = {};             ///< as of SimpleBindOptions
  std::string compute_dtype = {};             ///< as of SimpleBindOptions
};

/// A network on one or several devices.
class Module : public BaseModule {
 public:
  explicit Module(const Symbol& symbol, const ModuleOptions& options = {});
  ~Module() override;

  /// A module of a saved checkpoint; optimizer states are taken by init_optimizer.
  static std::unique_ptr<Module> load(const std::string& prefix, int epoch,
                                      bool load_optimizer_states = false,
                                      const ModuleOptions& options = {});
  /// Writes `prefix-symbol.json`, `prefix-%04d.params` and on request `prefix-%04d.states`.
  void save_checkpoint(const std::string& prefix, int epoch, bool save_optimizer_states = false);

  const Symbol& symbol() const override;
  std::vector<std::string> data_names() const override;
  std::vector<std::string> output_names() const override;
  const Shapes& data_shapes() const override;
  Shapes label_shapes() const override;
  std::vector<std::pair<std::string, Shape>> output_shapes() const override;
  const std::vector<std::string>& label_names() const;
  const std::vector<std::string>& param_names() const;
  const std::vector<std::string>& aux_names() const;

  void bind(const Shapes& data_shapes, const std::optional<Shapes>& label_shapes = {},
            const ModuleBindOptions& options = {}) override;
  /// Other shapes over the same parameters; forward calls it automatically.
  void reshape(const Shapes& data_shapes, const std::optional<Shapes>& label_shapes = {});
  void init_params(const InitParamsOptions& options = {}) override;
  void set_params(const NDArrayMap& args, const NDArrayMap& aux,
                  const SetParamsOptions& options = {}) override;
  ModelParams get_params() override;
  void init_optimizer(const InitOptimizerOptions& options = {}) override;
  /// Shares another module's optimizer, store and states.
  void borrow_optimizer(const Module& other);
  void forward(const DataBatch& batch, std::optional<bool> is_train = {}) override;
  void backward(const std::vector<NDArray>& out_grads = {}) override;
  void update() override;
  void step(const DataBatch& batch, EvalMetric& metric) override;
  std::vector<Module*> modules(Which) override { return {this}; }
  std::shared_ptr<BaseModule> blank_copy() const override;
  const ModuleOptions& options() const;
  std::vector<NDArray> get_outputs() const override;
  std::vector<NDArray> get_input_grads() const override;
  std::vector<DeviceArrays> get_states() const;
  void set_states(const std::vector<DeviceArrays>& states);
  void set_states(double value);
  void update_metric(EvalMetric& metric, const std::vector<NDArray>& labels) const override;
  void install_monitor(Monitor& monitor) override;
  void save_optimizer_states(const std::string& path) const;
  void load_optimizer_states(const std::string& path);

  /// Its executors; null before bind.
  ExecutorGroup* group() const;
  const std::shared_ptr<Optimizer>& optimizer() const;
  const std::shared_ptr<KVStore>& kvstore() const;
  /// Whether the store runs the updates.
  bool update_on_kvstore() const;
  /// The states of the optimizer, wherever the updates run; null before init_optimizer.
  const std::shared_ptr<Updater>& updater() const;
  /// Whether the devices hold newer parameters than get_params last returned.
  bool params_dirty() const;
  /// Marks them as newer: for code that writes to the executors' arrays.
  void set_params_dirty();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// For epoch_end_callback: `save_checkpoint` of the module every `period` epochs.
EpochEndCallback module_checkpoint(Module& module, const std::string& prefix, int period = 1,
                                   bool save_optimizer_states = false);

}  // namespace symbind
