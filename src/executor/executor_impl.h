#pragma once
// The state behind an Executor: a plan, the bound arrays, one arena per device, and the flat list
// of steps with fixed pointers that a run walks.

#include <symbind/executor.h>

#include "device/arena.h"
#include "device/runtime.h"
#include "executor/imperative.h"
#include "executor/profile.h"
#include "passes/plan.h"

namespace symbind {

struct PendingError;

/// Arenas by device; executors that share memory share the object.
using Arenas = std::map<std::pair<int, int>, std::shared_ptr<Arena>>;

/// Everything an executor is bound to.
struct Bound {
  Symbol symbol;
  Context context;
  ContextMap group2ctx;
  std::vector<std::string> arg_names, aux_names, output_names;
  std::vector<NDArray> args, grads, aux;
  std::vector<GradReq> grad_req;
};

/// An update that `step` runs behind backward.
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

/// A node that just ran: what its inputs are (fc_output, fc_weight), how its outputs are called,
/// and values that are copied out when asked for (undefined arrays where there is no value).
struct RanNode {
  std::string title;
  std::vector<std::string> inputs, outputs;
  std::function<NDArray(std::size_t)> input, output;
};
using NodeCallback = std::function<void(const RanNode&)>;

class Executor::Impl {
 public:
  Impl(Bound bound, std::shared_ptr<Arenas> arenas, const std::vector<NDArray>& outputs_to_reuse);
  /// Over a plan that others may run too. Arguments that are undefined, and the outputs, are open:
  /// `fill` gives them for one run.
  Impl(Bound bound, std::shared_ptr<Arenas> arenas, std::shared_ptr<const Plan> plan);

  void forward(bool is_train, const NDArrayMap& feed);
  void backward(const std::vector<NDArray>& head_grads);
  void backward(const NDArrayMap& head_grads);
  void copy_params_from(const NDArrayMap& args, const NDArrayMap& aux, bool allow_extra);
  void set_monitor(MonitorCallback callback, bool all);
  /// Called behind every node, as a monitor is; null removes it.
  void set_guard(NodeCallback callback);
  int add_update(const std::string& op, const std::vector<NDArray>& inputs, const NDArray& out,
                 const AttrDict& attrs);
  void set_update_value(int number, const std::string& attr, double value);
  /// Forgets all updates.
  void clear_updates();
  void step(const NDArrayMap& feed);
  /// Arrays for the open places: arguments by their number, outputs in order.
  void fill(const std::vector<std::pair<std::size_t, NDArray>>& args, std::vector<NDArray> outputs);
  /// Lets go of them.
  void empty();
  /// Runs steps [first, last) of the forward phase, not as in training. Throws what goes wrong.
  void predict(std::size_t first, std::size_t last);
  std::shared_ptr<Impl> reshape(const ShapeMap& shapes, const ReshapeOptions& options) const;
  std::string debug_str() const;

  const Bound& bound() const { return bound_; }
  const Plan& plan() const { return *plan_; }
  const std::vector<NDArray>& outputs() const { return outputs_; }
  const std::shared_ptr<Arenas>& arenas() const { return arenas_; }
  /// Every output is shown to somebody: nothing is fused, no memory is used twice.
  bool is_watched() const { return monitor_ != nullptr || guard_ != nullptr; }
  /// Times of the steps while the profiler ran; null where it never did.
  const Profile* profile() const { return profile_.get(); }
  const std::vector<Update>& updates() const { return updates_; }
  /// The recorded step; null before it was recorded and where nothing is.
  const Recording* recording() const { return recording_.get(); }

 private:
  /// One step with its pointers: what the hot loop touches.
  struct Runnable {
    const Prepared* run;
    Args args;
    bool is_random;
    DeviceRuntime* enter;  ///< a GPU that the thread must turn to first; null when it has
  };

  BindSpec bind_spec() const;
  void compile_and_wire(const std::vector<NDArray>& outputs_to_reuse);
  void take_arenas(const Plan& plan);
  void allocate_outputs(const Plan& plan, const std::vector<NDArray>& reuse);
  void wire_steps();
  TensorArg resolve(int tensor) const;
  /// Whether its array is given for each run anew.
  bool is_open(int tensor) const;
  void load_feed(const NDArrayMap& feed);
  void load_head_grads(const std::vector<NDArray>& head_grads);
  void run(Phase phase);
  void run_step(std::size_t step);
  /// False when a step failed; its error is kept on what was not written.
  bool run_range(std::size_t first, std::size_t last);
  /// The same work with the clock beside it. Made on first use: nothing of it is there otherwise.
  Profile& current_profile();
  void run_timed(std::size_t step);
  void run_timed(const Update& update, std::size_t number, const Args& args);
  bool blocked_by_error(Phase phase);
  /// The bound storages a step writes, its mutated inputs among them.
  std::vector<Storage*> written_by(const PlanStep& step) const;
  void fail_from(std::size_t step, const Error& error, std::size_t last);
  void interrupted_at(std::size_t step, const Error& stop);

  void compile_for_watchers(bool was_watched);
  NDArray value_of(int tensor) const;
  void show(std::size_t step);
  void show_inputs(const PlanStep& step);
  void show_gradients(const PlanStep& step);
  void show_tensor(const std::string& name, int tensor);
  void show_value(const std::string& name, const NDArray& value);
  void show_to_guard(const PlanStep& step);
  /// Brings the per-call values of steps and updates to the devices, if one changed.
  void refresh_device_values();
  void zero_unreached_gradients();
  void run_updates();
  /// Whether a step may be recorded: one GPU, nothing random, no code of users, no head
  /// gradient to be given.
  bool recordable() const;
  bool has_unread_error() const;
  void record_step();
  void replay_step();

  Bound bound_;
  std::shared_ptr<Arenas> arenas_;
  std::shared_ptr<const Plan> plan_;
  std::vector<NDArray> outputs_, head_grads_;
  std::vector<TensorArg> tensor_args_;  ///< inputs and outputs of all steps, one after the other
  std::vector<Runnable> runnables_;
  std::vector<std::pair<std::size_t, int>> open_;  ///< places in tensor_args_ that `fill` sets
  std::vector<std::size_t> filled_;                ///< arguments that were open
  std::vector<RunState> run_state_;                ///< by device slot
  std::vector<double> values_;                     ///< per-call attributes of all steps
  std::array<std::vector<Storage*>, 2> written_, read_;       ///< by phase: bound storages
  std::vector<std::unique_ptr<DeviceValues>> device_values_;  ///< by device slot
  std::vector<double> staged_values_;  ///< what the blocks hold: of all steps, then of all updates
  bool values_changed_ = true;
  std::vector<Update> updates_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<Recording> recording_;  ///< the fused step
  bool step_is_warm_ = false;             ///< it ran once as it is wired now
  bool record_steps_ = false;
  MonitorCallback monitor_;
  NodeCallback guard_;
  bool monitor_all_ = false;
  bool showing_ = false;                         ///< the monitor is being called
  std::shared_ptr<PendingError> forward_error_;  ///< why the last forward did not end
  bool wired_in_child_ = false;                  ///< kernels were prepared behind a fork
  bool ran_forward_train_ = false;
  bool warned_forward_ = false, warned_backward_ = false;
};

}  // namespace symbind
