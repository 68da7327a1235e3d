#pragma once
// Runs a plan over bound arrays: allocates arenas, stores every step's pointers once, and runs the
// steps. An executor (executor_impl.h), the fused step (fused_step.h) and predictions use it.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <symbind/executor.h>

#include "device/arena.h"
#include "device/runtime.h"
#include "executor/gradient_observer.h"
#include "passes/plan.h"

namespace symbind {

struct PendingError;
class Watchers;

/// Arenas by device; runners that share memory share the object.
using Arenas = std::map<std::pair<int, int>, std::shared_ptr<Arena>>;

/// Everything a network is bound to.
struct Bound {
  Symbol symbol;
  Context context;
  ContextMap group2ctx;
  std::vector<std::string> arg_names, aux_names, output_names;
  std::vector<NDArray> args, grads, aux;
  std::vector<GradReq> grad_req;
  bool exact = false;
  DType compute_dtype = DType::kFloat32;
};

class Runner {
 public:
  /// Call `compile` before running.
  Runner(Bound bound, std::shared_ptr<Arenas> arenas);
  /// Runs a plan that other runners may share. Undefined arguments and the outputs are open: `fill`
  /// sets them for one run.
  Runner(Bound bound, std::shared_ptr<Arenas> arenas, std::shared_ptr<const Plan> plan);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Compiles for the bound arrays. `watched`: a monitor sees every output, so nothing is fused and
  /// no memory is reused. Outputs take the memory of `outputs_to_reuse` where it fits. On an error
  /// nothing changes.
  void compile(bool watched, const std::vector<NDArray>& outputs_to_reuse);

  /// Whether the plan can run with is_train. If not, call `compile` after `allow_training`.
  bool can_train() const { return !plan_->predicts; }
  /// From now on plans are made for training, too.
  void allow_training() { predicts_ = false; }

  /// A step that failed, and why.
  struct Failure {
    std::size_t step;
    Error error;
  };
  /// Runs steps [first, last) and stops at the first that fails. Arrays are not marked as written.
  /// Of a plan in slices, the steps of the second slice follow those of the first.
  std::optional<Failure> run(std::size_t first, std::size_t last, Watchers& watchers);
  /// The same for the forward phase, in inference mode. Throws a step's error.
  void predict(std::size_t first, std::size_t last, Watchers& watchers);
  /// One step's kernel alone.
  void call(std::size_t step) const { (*runnables_[step].run)(runnables_[step].args); }

  /// Sets arrays for the open places: arguments by their number, outputs in order.
  void fill(const std::vector<std::pair<std::size_t, NDArray>>& args, std::vector<NDArray> outputs);
  /// Releases them.
  void empty();

  /// Who learns of final gradients; null: no one.
  void set_gradient_observer(GradientObserver* observer) { observer_ = observer; }
  void set_training(bool is_train);
  /// The state that kernels of a device run in, by its slot in the plan.
  RunState& state(std::size_t slot) { return run_state_[slot]; }
  const RunState& state(std::size_t slot) const { return run_state_[slot]; }
  /// Whether the kernels were prepared in this process.
  bool is_of_this_process() const;

  const Plan& plan() const { return *plan_; }
  const Bound& bound() const { return bound_; }
  const std::vector<NDArray>& outputs() const { return outputs_; }
  const std::vector<NDArray>& head_grads() const { return head_grads_; }
  const std::shared_ptr<Arenas>& arenas() const { return arenas_; }
  std::pair<std::size_t, std::size_t> steps_of(Phase phase) const;
  /// Where a tensor's memory is now.
  TensorArg resolve(int tensor) const;

  /// Bound storages that a phase writes, and those it reads.
  const std::vector<Storage*>& written(Phase phase) const { return written_[index(phase)]; }
  const std::vector<Storage*>& read(Phase phase) const { return read_[index(phase)]; }
  void touch_written(Phase phase) const;
  /// Stores an error on everything the steps [first, last) would have written.
  std::shared_ptr<PendingError> fail(std::size_t first, std::size_t last, const Error& error) const;
  /// Writes 0 to the gradients of arguments that no output depends on.
  void zero_unreached_gradients();
  /// Finishes late writes of everything that is read.
  void settle_reads() const;
  /// The arguments that have gradients, in the order in which backward finishes them.
  std::vector<std::size_t> gradient_order() const;

 private:
  /// One step with its pointers: what the hot loop reads.
  struct Runnable {
    const Prepared* run;
    Args args;
    RunState* draws;               ///< of a random step: gets its seed and draw
    DeviceRuntime* enter;          ///< a GPU to make current first; null if it already is
    std::int64_t nanoseconds = 0;  ///< how long it may take, see interruption_point
  };
  static std::size_t index(Phase phase) { return static_cast<std::size_t>(phase); }

  void run_step(std::size_t step, Watchers& watchers);
  /// Steps of one slice.
  std::optional<Failure> run_steps(std::size_t first, std::size_t last, Watchers& watchers);
  /// The sliced tensors become those of this slice.
  void move_to_slice(std::size_t slice);
  BindSpec bind_spec(bool watched) const;
  void take_arenas(const Plan& plan);
  void allocate_outputs(const Plan& plan, const std::vector<NDArray>& reuse);
  void wire();
  Runnable wire_step(std::size_t number);
  void list_accesses();
  /// Allocates memory for the per-call values of all steps on every GPU.
  static std::vector<std::unique_ptr<DeviceValues>> value_blocks(const Plan& plan);
  void bring_values_to_devices();
  /// Whether `fill` sets the tensor's array for each run.
  bool is_open(int tensor) const;
  bool is_sliced(int tensor) const;
  /// The bound storages a step writes, its mutated inputs among them.
  std::vector<Storage*> written_by(const PlanStep& step) const;

  Bound bound_;
  std::shared_ptr<Arenas> arenas_;
  std::shared_ptr<const Plan> plan_;
  std::vector<NDArray> outputs_, head_grads_;
  std::vector<TensorArg> tensor_args_;  ///< inputs and outputs of all steps, one after the other
  std::vector<Runnable> runnables_;
  std::vector<std::pair<std::size_t, int>> open_;    ///< places in tensor_args_ that `fill` sets
  std::vector<std::size_t> filled_;                  ///< arguments that were open
  std::vector<std::pair<std::size_t, int>> sliced_;  ///< places that a slice moves
  std::size_t slice_ = 0;                            ///< where they are
  std::vector<RunState> run_state_;                  ///< by device slot
  std::vector<double> values_;                       ///< per-call attributes of all steps
  std::vector<std::unique_ptr<DeviceValues>> device_values_;  ///< by device slot
  std::array<std::vector<Storage*>, 2> written_, read_;       ///< by phase: bound storages
  /// The first step of a phase that reads an array, which may be written late; in order.
  std::vector<std::pair<std::size_t, Storage*>> first_reads_;
  /// The last step that writes the gradient of an argument; in order.
  std::vector<std::pair<std::size_t, std::size_t>> last_writes_;
  GradientObserver* observer_ = nullptr;
  bool predicts_;                ///< no gradient is bound, and no forward had is_train
  bool wired_in_child_ = false;  ///< kernels were prepared after a fork
};

/// The runner of a bound executor; kState if it is empty.
const Runner& runner_of(const Executor& executor);

}  // namespace symbind
