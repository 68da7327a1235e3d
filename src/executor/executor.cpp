// The executor's run loop and the verbs around it. Everything was decided when the plan was made:
// a run walks an array of prepared kernels with fixed pointers.
//
// An error inside a step stops the run and is kept on every bound array the remaining steps would
// have written; the next wait on one of them raises it, once.

#include <algorithm>

#include <fmt/format.h>
#include <symbind/log.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/nearest.h"
#include "base/parallel.h"
#include "base/profiling.h"
#include "device/runtime.h"
#include "executor/current_error.h"
#include "executor/executor_impl.h"
#include "executor/random_state.h"
#include "ndarray/access.h"
#include "ndarray/recorder.h"
#include "ndarray/storage.h"

namespace symbind {

void Executor::Impl::run_step(std::size_t i) {
  const Runnable& step = runnables_[i];
  interruption_point();
  if (step.enter != nullptr) step.enter->make_current();
  if (step.is_random) {
    RunState& state = run_state_[static_cast<std::size_t>(plan_->slot_of(plan_->steps[i].context))];
    std::tie(state.random_seed, state.random_draw) = next_random_draw(plan_->steps[i].context);
  }
  if (profiling::on(profiling::kSymbolic)) [[unlikely]]
    run_timed(i);
  else
    (*step.run)(step.args);
}

bool Executor::Impl::run_range(std::size_t first, std::size_t last) {
  const VendorThreads threads;
  for (std::size_t i = first; i < last; ++i) {
    try {
      run_step(i);
      if (is_watched()) show(i);
    } catch (const Interrupted& stop) {
      interrupted_at(i, stop);
      throw;
    } catch (...) {
      fail_from(i, current_error("in " + plan_->steps[i].title), last);
      return false;
    }
  }
  return true;
}

void Executor::Impl::fail_from(std::size_t step, const Error& error, std::size_t last) {
  const auto pending = std::make_shared<PendingError>(error);
  for (std::size_t i = step; i < last; ++i) {
    for (Storage* storage : written_by(plan_->steps[i])) storage->set_error(pending);
  }
  if (step < plan_->num_forward) forward_error_ = pending;
}

// What was written so far stays readable; only a backward of the forward that was cut short is not
// possible, which forward_error_ says when it counts as read.
void Executor::Impl::interrupted_at(std::size_t step, const Error& stop) {
  const bool in_forward = step < plan_->num_forward;
  for (Storage* storage :
       written_[static_cast<std::size_t>(in_forward ? Phase::kForward : Phase::kBackward)])
    storage->touch();
  if (!in_forward) return;
  ran_forward_train_ = false;
  forward_error_ = std::make_shared<PendingError>(stop);
  forward_error_->read.store(true);
}

// An array whose own operator failed is not read: its error passes on to what this phase writes. A
// forward that failed leaves intermediates unwritten, which backward must not read either.
bool Executor::Impl::blocked_by_error(Phase phase) {
  std::shared_ptr<PendingError> error = forward_error_;
  for (Storage* storage : read_[static_cast<std::size_t>(phase)]) {
    if (error == nullptr && storage->has_error()) error = storage->error();
  }
  if (error == nullptr) return false;
  for (Storage* written : written_[static_cast<std::size_t>(phase)]) written->set_error(error);
  if (phase == Phase::kForward) forward_error_ = error;
  return true;
}

void Executor::Impl::run(Phase phase) {
  if (blocked_by_error(phase)) return;
  refresh_device_values();
  const bool forward = phase == Phase::kForward;
  run_range(forward ? 0 : plan_->num_forward, forward ? plan_->num_forward : runnables_.size());
  for (Storage* storage : written_[static_cast<std::size_t>(phase)]) storage->touch();
}

void Executor::Impl::load_feed(const NDArrayMap& feed) {
  // Texts are made only for an error: a step allocates nothing.
  for (const auto& [name, array] : feed) {
    const auto it = std::ranges::find(bound_.arg_names, name);
    if (it == bound_.arg_names.end()) {
      fail(ErrorKind::kType, "Unknown argument {}; {}", name, nearest_hint(name, bound_.arg_names));
    }
    const NDArray& target = bound_.args[static_cast<std::size_t>(it - bound_.arg_names.begin())];
    if (array.shape() != target.shape()) {
      fail(ErrorKind::kShape,
           "Shape not match! Argument {}, need: {}, received: {}; reshape() the executor to run "
           "another size",
           name, target.shape().str(), array.shape().str());
    }
  }
  for (const auto& [name, array] : feed) {
    const auto it = std::ranges::find(bound_.arg_names, name);
    array.copy_to(bound_.args[static_cast<std::size_t>(it - bound_.arg_names.begin())]);
  }
}

void Executor::Impl::forward(bool is_train, const NDArrayMap& feed) {
  const profiling::ApiSpan span("Executor.forward");
  load_feed(feed);
  if (is_forked_child() != wired_in_child_) compile_and_wire(outputs_);
  if (is_train && ran_forward_train_ && !warned_forward_) {
    warned_forward_ = true;
    log_warning(
        "Calling forward the second time after forward(is_train=True) without calling backward "
        "first. "
        "Is this intended?");
  }
  ran_forward_train_ = is_train;
  for (RunState& state : run_state_) state.is_train = is_train;
  forward_error_.reset();
  run(Phase::kForward);
}

void Executor::Impl::load_head_grads(const std::vector<NDArray>& head_grads) {
  const std::vector<bool>& needed = plan_->needs_head_gradient;
  check(head_grads.empty() || head_grads.size() == needed.size(),
        "{} head gradients for {} outputs ({})", head_grads.size(), needed.size(),
        fmt::join(bound_.output_names, ", "));
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    if (i >= head_grads.size() || !head_grads[i].defined()) {
      fail(ErrorKind::kValue,
           "the last operator is not Loss function, head_gradient is required: output {} of {} "
           "needs one\n"
           "  fix:  give backward() a head gradient of shape {}, or end the network with MakeLoss",
           bound_.output_names[i], bound_.symbol.str(), outputs_[i].shape().str());
    }
    if (head_grads[i].shape() != head_grads_[i].shape()) {
      fail(ErrorKind::kShape, "the head gradient of {} has shape {}, the output has {}",
           bound_.output_names[i], head_grads[i].shape().str(), head_grads_[i].shape().str());
    }
  }
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) head_grads[i].copy_to(head_grads_[i]);
  }
}

void Executor::Impl::backward(const std::vector<NDArray>& head_grads) {
  const profiling::ApiSpan span("Executor.backward");
  if (plan_->num_forward == plan_->steps.size() && plan_->zero_gradients.empty()) return;
  check(is_forked_child() == wired_in_child_, ErrorKind::kState,
        "backward cannot follow a forward of the process this one was forked from\n"
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
  for (RunState& state : run_state_) state.is_train = true;
  run(Phase::kBackward);
  zero_unreached_gradients();
}

void Executor::Impl::zero_unreached_gradients() {
  for (const int arg : plan_->zero_gradients) bound_.grads[static_cast<std::size_t>(arg)].set(0.0);
}

void Executor::Impl::backward(const NDArrayMap& by_name) {
  const std::vector<std::string>& names = bound_.output_names;
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
              "Find name \"{}\" that is not in the {}; {}\n  fix:  leave it out, or pass "
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
  match_all(args, bound_.arg_names, bound_.args, "arguments");
  match_all(aux, bound_.aux_names, bound_.aux, "auxiliary states");
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
  return bound_state(impl_).add_update(op, inputs, out, attrs);
}
void Executor::set_update_value(int number, const std::string& attr, double value) {
  bound_state(impl_).set_update_value(number, attr, value);
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

}  // namespace symbind
