#pragma once
// The state of an Executor: a runner, the verbs over it, the fused step and the watchers. Only for
// this folder; others use runner.h, fused_step.h and watchers.h.

#include "executor/fused_step.h"
#include "executor/runner.h"
#include "executor/watchers.h"

namespace symbind {

class Executor::Impl {
 public:
  Impl(Bound bound, std::shared_ptr<Arenas> arenas, const std::vector<NDArray>& outputs_to_reuse);

  void forward(bool is_train, const NDArrayMap& feed);
  void backward(const std::vector<NDArray>& head_grads);
  void backward(const NDArrayMap& head_grads);
  void step(const NDArrayMap& feed);
  void copy_params_from(const NDArrayMap& args, const NDArrayMap& aux, bool allow_extra);
  void set_monitor(MonitorCallback callback, bool all);
  void set_guard(NodeCallback callback);
  void set_gradient_observer(GradientObserver* observer) {
    runner_.set_gradient_observer(observer);
  }
  std::shared_ptr<Impl> reshape(const ShapeMap& shapes, const ReshapeOptions& options) const;
  std::string debug_str() const;

  const Runner& runner() const { return runner_; }
  const Watchers& watchers() const { return watchers_; }
  FusedStep& fused() { return fused_; }
  const Bound& bound() const { return runner_.bound(); }
  const Plan& plan() const { return runner_.plan(); }
  const std::vector<NDArray>& outputs() const { return runner_.outputs(); }

 private:
  void compile(const std::vector<NDArray>& outputs_to_reuse);
  void load_feed(const NDArrayMap& feed);
  void load_head_grads(const std::vector<NDArray>& head_grads);
  void run(Phase phase);
  bool blocked_by_error(Phase phase);
  /// Replaces a watcher by `given` and compiles for it; on an error both are unchanged.
  template <class Callback>
  void replace(Callback& watcher, Callback given, const char* who);

  Runner runner_;
  Watchers watchers_;
  FusedStep fused_{runner_, watchers_};
  std::shared_ptr<PendingError> forward_error_;  ///< why the last forward failed
  bool ran_forward_train_ = false;
  bool warned_forward_ = false, warned_backward_ = false;
};

}  // namespace symbind
