// The executor's verbs over its runner.
//
// An error inside a step stops the run and is stored on every bound array the remaining steps would
// have written; the next wait on one of them raises it, once.

#include <algorithm>

#include <fmt/format.h>
#include <symbind/log.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/nearest.h"
#include "base/profiling.h"
#include "executor/executor_impl.h"
#include "ndarray/access.h"
#include "ndarray/recorder.h"
#include "ndarray/storage.h"

namespace symbind {

Executor::Impl::Impl(Bound bound, std::shared_ptr<Arenas> arenas,
                     const std::vector<NDArray>& outputs_to_reuse)
    : runner_(std::move(bound), std::move(arenas)) {
  compile(outputs_to_reuse);
}

void Executor::Impl::compile(const std::vector<NDArray>& outputs_to_reuse) {
  runner_.compile(watchers_.see_values(), outputs_to_reuse);
  watchers_.forget_times();
  fused_.rewired();
}

template <class Callback>
void Executor::Impl::replace(Callback& watcher, Callback given, const char* who) {
  watchers_.check_idle(who);
  const bool before = watchers_.see_values();
  watcher.swap(given);
  try {
    if (before != watchers_.see_values()) compile(outputs());
  } catch (...) {
    watcher.swap(given);
    throw;
  }
}

void Executor::Impl::set_monitor(MonitorCallback callback, bool all) {
  replace(watchers_.monitor, std::move(callback), "monitor");
  watchers_.monitor_all = all;
}

void Executor::Impl::set_guard(NodeCallback callback) {
  replace(watchers_.guard, std::move(callback), "guard");
}

// An array whose own operator failed is not read: its error is passed to what this phase writes. A
// failed forward leaves intermediates unwritten, which backward must not read either.
bool Executor::Impl::blocked_by_error(Phase phase) {
  std::shared_ptr<PendingError> error = forward_error_;
  for (Storage* storage : runner_.read(phase)) {
    if (error == nullptr && storage->has_error()) error = storage->error();
  }
  if (error == nullptr) return false;
  for (Storage* written : runner_.written(phase)) written->set_error(error);
  if (phase == Phase::kForward) forward_error_ = error;
  return true;
}

void Executor::Impl::run(Phase phase) {
  if (blocked_by_error(phase)) return;
  const auto [first, last] = runner_.steps_of(phase);
  try {
    if (const auto failure = runner_.run(first, last, watchers_)) {
      const auto pending = runner_.fail(failure->step, last, failure->error);
      if (phase == Phase::kForward) forward_error_ = pending;
    }
  } catch (const Error& stop) {
    // Interrupted, or a late write of an input failed. What was written so far stays readable. Only
    // a backward of this forward is not possible; forward_error_, already marked as read, says so.
    runner_.touch_written(phase);
    if (phase == Phase::kForward) {
      ran_forward_train_ = false;
      forward_error_ = std::make_shared<PendingError>(stop);
      forward_error_->read.store(true);
    }
    throw;
  }
  runner_.touch_written(phase);
}

void Executor::Impl::load_feed(const NDArrayMap& feed) {
  // Texts are made only for an error: a step allocates nothing.
  for (const auto& [name, array] : feed) {
    const auto it = std::ranges::find(bound().arg_names, name);
    if (it == bound().arg_names.end()) {
      fail(ErrorKind::kType, "Unknown argument {}; {}", name,
           nearest_hint(name, bound().arg_names));
    }
    const NDArray& target = bound().args[static_cast<std::size_t>(it - bound().arg_names.begin())];
    if (array.shape() != target.shape()) {
      fail(ErrorKind::kShape,
           "Shape not match! Argument {}, need: {}, received: {}; reshape() the executor to run "
           "another size",
           name, target.shape().str(), array.shape().str());
    }
  }
  for (const auto& [name, array] : feed) {
    const auto it = std::ranges::find(bound().arg_names, name);
    array.copy_to(bound().args[static_cast<std::size_t>(it - bound().arg_names.begin())]);
  }
}

void Executor::Impl::forward(bool is_train, const NDArrayMap& feed) {
  const profiling::ApiSpan span("Executor.forward");
  load_feed(feed);
  const bool must_change = is_train && !runner_.can_train();
  if (must_change) runner_.allow_training();
  if (must_change || !runner_.is_of_this_process()) compile(outputs());
  if (is_train && ran_forward_train_ && !warned_forward_) {
    warned_forward_ = true;
    log_warning(
        "Calling forward the second time after forward(is_train=True) without calling backward "
        "first. "
        "Is this intended?");
  }
  ran_forward_train_ = is_train;
  runner_.set_training(is_train);
  forward_error_.reset();
  run(Phase::kForward);
}

void Executor::Impl::load_head_grads(const std::vector<NDArray>& head_grads) {
  const std::vector<bool>& needed = plan().needs_head_gradient;
  check(head_grads.empty() || head_grads.size() == needed.size(),
        "{} head gradients for {} outputs ({})", head_grads.size(), needed.size(),
        fmt::join(bound().output_names, ", "));
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    if (i >= head_grads.size() || !head_grads[i].defined()) {
      fail(ErrorKind::kValue,
           "the last operator is not Loss function, head_gradient is required: output {} of {} "
           "needs one\n"
           "  fix:  give backward() a head gradient of shape {}, or end the network with MakeLoss",
           bound().output_names[i], bound().symbol.str(), outputs()[i].shape().str());
    }
    if (head_grads[i].shape() != runner_.head_grads()[i].shape()) {
      fail(ErrorKind::kShape, "the head gradient of {} has shape {}, the output has {}",
           bound().output_names[i], head_grads[i].shape().str(),
           runner_.head_grads()[i].shape().str());
    }
  }
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) head_grads[i].copy_to(runner_.head_grads()[i]);
  }
}

void Executor::Impl::backward(const std::vector<NDArray>& head_grads) {
  const profiling::ApiSpan span("Executor.backward");
  if (plan().num_forward == plan().steps.size() && plan().zero_gradients.empty()) return;
  check(runner_.is_of_this_process(), ErrorKind::kState,
        "backward cannot follow a forward that ran in the parent process, before the fork\n"
        "  fix:  run forward again");
  if (forward_error_ != nullptr && forward_error_->read.load()) {
    fail(ErrorKind::kState, "backward needs a forward that succeeded; the last one failed:\n{}",
         forward_error_->error.what());
  }
  load_head_grads(head_grads);
  if (!ran_forward_train_ && !warned_backward_) {
    warned_backward_ = true;
    log_warning(
        "Calling backward without calling forward(is_train=True) first. Behavior is undefined.");
  }
  ran_forward_train_ = false;
  runner_.set_training(true);
  run(Phase::kBackward);
  runner_.zero_unreached_gradients();
}

void Executor::Impl::step(const NDArrayMap& feed) {
  load_feed(feed);
  forward_error_.reset();
  if (fused_.can_replay() && fused_.replay()) {
    ran_forward_train_ = false;
    return;
  }
  forward(true, {});
  backward(std::vector<NDArray>{});
  fused_.run_updates();
  fused_.ran();
}

std::string Executor::Impl::debug_str() const {
  std::size_t bytes = plan().total_arena_bytes();
  for (const NDArray& o : outputs()) bytes += o.nbytes();
  return fmt::format("{}Total {} MB allocated\nTotal 11 TempSpace resource requested\n",
                     bound().symbol.debug_str(), bytes >> 20);
}

void Executor::Impl::backward(const NDArrayMap& by_name) {
  const std::vector<std::string>& names = bound().output_names;
  std::vector<NDArray> ordered(names.size());
  for (const auto& [name, array] : by_name) {
    const auto it = std::ranges::find(names, name);
    if (it == names.end())
      fail(ErrorKind::kName, "there is no output '{}'; {}", name, nearest_hint(name, names));
    ordered[static_cast<std::size_t>(it - names.begin())] = array;
  }
  backward(ordered);
}

void Executor::Impl::copy_params_from(const NDArrayMap& args, const NDArrayMap& aux,
                                      bool allow_extra) {
  // Everything is checked before anything is copied.
  std::vector<std::pair<const NDArray*, const NDArray*>> copies;
  const auto match_all = [&](const NDArrayMap& from, const std::vector<std::string>& names,
                             const std::vector<NDArray>& to, const char* what) {
    for (const auto& [name, array] : from) {
      const auto it = std::ranges::find(names, name);
      if (it == names.end()) {
        check(allow_extra,
              "Find name \"{}\" that is not in the {}; {}\n  fix:  omit it, or pass "
              "allow_extra=True (to an executor in Python: allow_extra_params=True)",
              name, what, nearest_hint(name, names));
        continue;
      }
      const NDArray& target = to[static_cast<std::size_t>(it - names.begin())];
      check(array.shape() == target.shape(), ErrorKind::kShape,
            "{} '{}' has shape {}, the executor's has {}", what, name, array.shape().str(),
            target.shape().str());
      copies.emplace_back(&array, &target);
    }
  };
  match_all(args, bound().arg_names, bound().args, "arguments");
  match_all(aux, bound().aux_names, bound().aux, "auxiliary states");
  for (const auto& [from, to] : copies) from->copy_to(*to);
}

// The public class is a handle.

namespace {

Executor::Impl& bound_state(const std::shared_ptr<Executor::Impl>& impl) {
  check(impl != nullptr, ErrorKind::kState,
        "the executor is empty (made by Executor())\n  fix:  make one by Symbol::bind");
  return *impl;
}

}  // namespace

const std::vector<NDArray>& Executor::forward(bool is_train, const NDArrayMap& feed) {
  const Unrecorded within;
  bound_state(impl_).forward(is_train, feed);
  return bound_state(impl_).outputs();
}
void Executor::backward(const std::vector<NDArray>& head_grads) {
  const Unrecorded within;
  bound_state(impl_).backward(head_grads);
}
void Executor::backward(const NDArrayMap& head_grads) {
  const Unrecorded within;
  bound_state(impl_).backward(head_grads);
}
const std::vector<NDArray>& Executor::outputs() const { return bound_state(impl_).outputs(); }
const std::vector<NDArray>& Executor::arg_arrays() const { return bound_state(impl_).bound().args; }
const std::vector<NDArray>& Executor::grad_arrays() const {
  return bound_state(impl_).bound().grads;
}
const std::vector<NDArray>& Executor::aux_arrays() const { return bound_state(impl_).bound().aux; }

namespace {

NDArrayMap by_name(const std::vector<std::string>& names, const std::vector<NDArray>& arrays) {
  NDArrayMap map;
  for (std::size_t i = 0; i < names.size(); ++i) {
    check(map.emplace(names[i], arrays[i]).second,
          "two arrays are named '{}'; read them by position", names[i]);
  }
  return map;
}

}  // namespace

NDArrayMap Executor::arg_dict() const {
  return by_name(bound_state(impl_).bound().arg_names, arg_arrays());
}
NDArrayMap Executor::grad_dict() const {
  return by_name(bound_state(impl_).bound().arg_names, grad_arrays());
}
NDArrayMap Executor::aux_dict() const {
  return by_name(bound_state(impl_).bound().aux_names, aux_arrays());
}
NDArrayMap Executor::output_dict() const { return by_name(symbol().list_outputs(), outputs()); }
void Executor::copy_params_from(const NDArrayMap& args, const NDArrayMap& aux, bool allow_extra) {
  const Unrecorded within;
  bound_state(impl_).copy_params_from(args, aux, allow_extra);
}
Executor Executor::reshape(const ShapeMap& shapes, const ReshapeOptions& options) const {
  return Executor(bound_state(impl_).reshape(shapes, options));
}
void Executor::set_monitor_callback(MonitorCallback callback, bool all) {
  bound_state(impl_).set_monitor(std::move(callback), all);
}
int Executor::add_update(const std::string& op, const std::vector<NDArray>& inputs,
                         const NDArray& out, const AttrDict& attrs) {
  return bound_state(impl_).fused().add(op, inputs, out, attrs);
}
void Executor::set_update_value(int number, const std::string& attr, double value) {
  FusedStep& fused = bound_state(impl_).fused();
  fused.set(number, fused.place_of(number, attr), value);
}
void Executor::step(const NDArrayMap& feed) {
  const Unrecorded within;
  bound_state(impl_).step(feed);
}
const Symbol& Executor::symbol() const { return bound_state(impl_).bound().symbol; }
Symbol Executor::optimized_symbol() const { return bound_state(impl_).plan().optimized; }
PlanStats Executor::stats() const {
  const Plan& plan = bound_state(impl_).plan();
  return {plan.total_arena_bytes(), plan.max_live_bytes, static_cast<int>(plan.steps.size()),
          plan.reorders};
}
std::string Executor::plan_text() const { return bound_state(impl_).plan().text(); }
std::string Executor::debug_str() const { return bound_state(impl_).debug_str(); }

const Runner& runner_of(const Executor& executor) { return bound_state(executor.impl()).runner(); }
const Watchers& watchers_of(const Executor& executor) {
  return bound_state(executor.impl()).watchers();
}
void set_guard(const Executor& executor, NodeCallback guard) {
  bound_state(executor.impl()).set_guard(std::move(guard));
}
void set_gradient_observer(const Executor& executor, GradientObserver* observer) {
  bound_state(executor.impl()).set_gradient_observer(observer);
}
FusedStep& fused_step_of(const Executor& executor) { return bound_state(executor.impl()).fused(); }

}  // namespace symbind
