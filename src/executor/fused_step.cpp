#include "executor/fused_step.h"

#include <algorithm>

#include <fmt/format.h>
#include <symbind/log.h>
#include <symbind/runtime.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/nearest.h"
#include "base/parallel.h"
#include "base/profiling.h"
#include "executor/run_guarded.h"
#include "executor/watchers.h"
#include "ndarray/access.h"
#include "ndarray/storage.h"

namespace symbind {
namespace {

// One GPU, nothing random, no user code, no head gradient to pass in.
bool could_be_recorded(const Plan& plan) {
  const auto varies = [](const PlanStep& s) {
    return s.is_random || (s.node && s.node->op->runs_user_code);
  };
  return plan.contexts.size() == 1 && in_gpu_memory(plan.contexts.front()) &&
         std::ranges::none_of(plan.steps, varies) &&
         std::ranges::none_of(plan.needs_head_gradient, [](bool needed) { return needed; });
}

}  // namespace

int FusedStep::add(const std::string& name, const std::vector<NDArray>& inputs, const NDArray& out,
                   const AttrDict& attrs) {
  const OpDef& op = OpRegistry::global().get(name);
  const auto parsed = parse_node_attrs(op, name, attrs, inputs.size());
  check_inputs(op, parsed.get(), inputs);
  std::vector<TensorDesc> in;
  for (const NDArray& a : inputs) in.push_back({.shape = a.shape(), .dtype = a.dtype()});
  const Plan& plan = runner_.plan();
  check(std::ranges::find(plan.contexts, out.context()) != plan.contexts.end(),
        "{}: the arrays are on {}, where this executor does not run", name, out.context().str());
  Update u{
      .kernel = imperative_kernel(op, parsed, in, out.context()), .inputs = inputs, .out = out};
  u.slot = static_cast<std::size_t>(plan.slot_of(out.context()));
  check(u.kernel->num_visible == 1, "{}: an update has one output, this operator has {}", name,
        u.kernel->num_visible);
  const TensorDesc& result = u.kernel->out.front();
  check(result.shape == out.shape() && result.dtype == out.dtype(), ErrorKind::kShape,
        "{}: out is {} {}, the result is {} {}", name, out.shape().str(), dtype_name(out.dtype()),
        result.shape.str(), dtype_name(result.dtype));
  const std::vector<AttrField> fields = op.describe(const_cast<void*>(parsed.get()));
  for (const AttrField& f : fields) {
    u.value_names.insert(u.value_names.end(), per_call_values({f}).size(), f.name);
  }
  u.values = per_call_values(fields);
  const auto arg = [](const NDArray& a) -> TensorArg {
    return {static_cast<std::byte*>(a.storage()->data()) + a.byte_offset(), a.storage().get()};
  };
  for (const NDArray& a : inputs) u.in_args.push_back(arg(a));
  u.out_args.resize(u.kernel->out.size());
  u.out_args.front() = arg(out);
  if (u.kernel->workspace_bytes > 0) {
    u.workspace = Storage::allocate(out.context(), u.kernel->workspace_bytes);
    u.kernel->give_scratch(u.out_args, u.workspace->data());
  }
  updates_.push_back(std::move(u));
  ++version_;
  rewired();
  return static_cast<int>(updates_.size()) - 1;
}

void FusedStep::clear() {
  updates_.clear();
  ++version_;
  rewired();
}

void FusedStep::rewired() {
  times_.forget();
  recording_.reset();
  device_values_.reset();
  is_warm_ = false;
  is_recordable_ = could_be_recorded(runner_.plan());
  values_changed_ = true;
}

const FusedStep::Update& FusedStep::at(int number) const {
  check(number >= 0 && static_cast<std::size_t>(number) < updates_.size(), ErrorKind::kIndex,
        "there is no update {}", number);
  return updates_[static_cast<std::size_t>(number)];
}

std::size_t FusedStep::place_of(int number, std::string_view attr) const {
  const Update& u = at(number);
  const auto it = std::ranges::find(u.value_names, attr);
  if (it == u.value_names.end()) {
    fail(ErrorKind::kName, "{} has no per-call attribute '{}'; {}", u.kernel->op->name, attr,
         nearest_hint(std::string(attr), u.value_names));
  }
  return static_cast<std::size_t>(it - u.value_names.begin());
}

// Work in flight still reads the old values; a recorded step reads the block's contents when it is
// replayed.
void FusedStep::bring_values_to_device() {
  if (!values_changed_) return;
  values_changed_ = false;
  const Context context = runner_.plan().contexts.front();  // a plan with a GPU has no other device
  if (!in_gpu_memory(context)) return;
  staged_values_.clear();
  for (const Update& u : updates_)
    staged_values_.insert(staged_values_.end(), u.values.begin(), u.values.end());
  if (staged_values_.empty()) return;
  if (device_values_ == nullptr) {
    device_values_ = runtime(context).make_values(staged_values_.size());
    const double* at = device_values_->data();
    for (Update& u : updates_) {
      u.device_values = at;
      at += u.values.size();
    }
  }
  device_values_->write(staged_values_.data());
}

void FusedStep::run(const Update& u, std::size_t number) {
  const Args args{.inputs = u.in_args.data(),
                  .outputs = u.out_args.data(),
                  .workspace = u.workspace ? u.workspace->data() : nullptr,
                  .values = u.values.data(),
                  .device_values = u.device_values,
                  .run = &runner_.state(u.slot)};
  runtime(u.out.context()).make_current();
  if (profiling::on(profiling::kSymbolic | profiling::kTimes)) [[unlikely]]
    times_.run(
        number, u.out.context(), [&] { return described(); }, [&] { u.kernel->run(args); });
  else
    u.kernel->run(args);
}

void FusedStep::run_updates() {
  const profiling::ApiSpan span("Executor.update");
  bring_values_to_device();
  const InterruptDeferral whole;  // all weights must change: each was counted
  const VendorThreads threads;
  for (std::size_t number = 0; number < updates_.size(); ++number) run_or_keep_error(number);
}

void FusedStep::run_updates(std::span<const int> numbers) {
  const profiling::ApiSpan span("Executor.update");
  bring_values_to_device();
  const InterruptDeferral whole;
  const VendorThreads threads;
  for (const int number : numbers) run_or_keep_error(static_cast<std::size_t>(number));
}

void FusedStep::run_or_keep_error(std::size_t number) {
  const Update& u = updates_[number];
  if (std::ranges::any_of(u.inputs, [](const NDArray& a) { return a.storage()->has_error(); })) {
    for (const NDArray& a : u.inputs) pass_error(a, u.out);
    return;
  }
  if (const auto error = run_guarded(u.kernel->op->name, kLongWork, [&] { run(u, number); }))
    return u.out.storage()->set_error(*error);
  u.out.storage()->touch();
  for (const std::size_t i : u.kernel->mutated) u.inputs[i].storage()->touch();
}

std::vector<StepTimes> FusedStep::described() const {
  std::vector<StepTimes> all;
  const Bound& bound = runner_.bound();
  for (const Update& u : updates_) {
    // Which weight: the bound argument the update writes.
    std::string node = u.kernel->op->name;
    for (std::size_t i = 0; i < bound.args.size(); ++i)
      if (bound.args[i].storage() == u.out.storage()) node = bound.arg_names[i] + "_update";
    profiling::Subject s{.category = "operator",
                         .name = u.kernel->op->name,
                         .node = node,
                         .kernel = u.kernel->name,
                         .device = u.out.context().str(),
                         .shapes = u.out.shape().str()};
    const auto parsed = u.kernel->op->make_attrs();
    all.push_back({.subject = profiling::intern(std::move(s)),
                   .cost = cost_of(*u.kernel->op, parsed.get(), symbind::described(u.inputs),
                                   symbind::described({&u.out, 1}))});
  }
  return all;
}

// ---- As one recording ---------------------------------------------------------------------------

// A step replayed as one launch has no times of its nodes and shows no values.
bool FusedStep::can_replay() const {
  return is_warm_ && is_recordable_ && !watchers_.see_values() &&
         !profiling::on(profiling::kSymbolic | profiling::kTimes) && !has_unread_error();
}

bool FusedStep::has_unread_error() const {
  const auto failed = [](const Storage* s) { return s->has_error(); };
  return std::ranges::any_of(runner_.read(Phase::kForward), failed) ||
         std::ranges::any_of(runner_.read(Phase::kBackward), failed) ||
         std::ranges::any_of(updates_, [](const Update& u) {
           return std::ranges::any_of(u.inputs,
                                      [](const NDArray& a) { return a.storage()->has_error(); });
         });
}

void FusedStep::record() {
  RunState& state = runner_.state(0);
  const RunState before = state;
  const std::size_t steps = runner_.plan().steps.size();
  bool complete = false;
  recording_ = runtime(runner_.plan().contexts.front()).record([&](void* stream) {
    state = {.is_train = true, .stream = stream};
    try {
      if (const auto failure = runner_.run(0, steps, watchers_)) {
        runner_.fail(failure->step, steps, failure->error);
      } else {
        run_updates();
        complete = true;
      }
    } catch (...) {
      state = before;
      throw;
    }
    state = before;
  });
  if (!complete) recording_.reset();
}

bool FusedStep::replay() {
  bring_values_to_device();
  runner_.settle_reads();
  if (recording_ == nullptr) {
    try {
      record();
    } catch (const Error& e) {
      log_warning(fmt::format("the step of {} cannot be recorded and runs operator by operator: {}",
                              runner_.bound().symbol.str(), e.what()));
      is_recordable_ = false;
      return false;
    }
    if (recording_ == nullptr) return true;  // an operator failed; its error is stored
  }
  // No step writes these, so they may be set before the updates that read them.
  runner_.zero_unreached_gradients();
  try {
    recording_->replay();
  } catch (const Error& e) {
    runner_.fail(0, runner_.plan().steps.size(), e.with_context("in the recorded step"));
    return true;
  }
  runner_.touch_written(Phase::kForward);
  runner_.touch_written(Phase::kBackward);
  for (const Update& u : updates_) {
    u.out.storage()->touch();
    for (const std::size_t i : u.kernel->mutated) u.inputs[i].storage()->touch();
  }
  return true;
}

}  // namespace symbind
