// Prepares a runner: compiles the plan, allocates the arenas, and stores every step's pointers.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include <symbind/runtime.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "device/runtime.h"
#include "executor/runner.h"
#include "ndarray/access.h"
#include "ndarray/storage.h"
#include "passes/cost.h"

namespace symbind {
namespace {

std::vector<TensorDesc> describe(const std::vector<NDArray>& arrays) {
  std::vector<TensorDesc> descs;
  for (const NDArray& a : arrays) descs.push_back({.shape = a.shape(), .dtype = a.dtype()});
  return descs;
}

std::vector<Context> contexts_of(const std::vector<NDArray>& arrays) {
  std::vector<Context> contexts;
  for (const NDArray& a : arrays) contexts.push_back(a.context());
  return contexts;
}

// For the error when a net does not fit: the three largest intermediates.
std::string largest(const Plan& plan) {
  std::vector<const PlanTensor*> tensors;
  for (const PlanTensor& t : plan.tensors) {
    if (t.in_arena()) tensors.push_back(&t);
  }
  const auto count = std::min<std::size_t>(3, tensors.size());
  std::ranges::partial_sort(
      tensors, tensors.begin() + static_cast<std::ptrdiff_t>(count),
      [](const PlanTensor* a, const PlanTensor* b) { return a->bytes > b->bytes; });
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{}{} {} ({} bytes)", i ? ", " : "", tensors[i]->name,
                        tensors[i]->desc.shape.str(), tensors[i]->bytes);
  }
  return text;
}

}  // namespace

std::vector<std::unique_ptr<DeviceValues>> Runner::value_blocks(const Plan& plan) {
  std::size_t count = 0;
  for (const PlanStep& step : plan.steps) count += step.values.size();
  std::vector<std::unique_ptr<DeviceValues>> blocks(plan.contexts.size());
  for (std::size_t slot = 0; slot < blocks.size() && count > 0; ++slot)
    if (in_gpu_memory(plan.contexts[slot]))
      blocks[slot] = runtime(plan.contexts[slot]).make_values(count);
  return blocks;
}

BindSpec Runner::bind_spec(bool watched) const {
  BindSpec spec;
  spec.context = bound_.context;
  spec.group2ctx = bound_.group2ctx;
  spec.arg_names = bound_.arg_names;
  spec.aux_names = bound_.aux_names;
  spec.args = describe(bound_.args);
  spec.aux = describe(bound_.aux);
  spec.arg_contexts = contexts_of(bound_.args);
  spec.aux_contexts = contexts_of(bound_.aux);
  spec.grad_req = bound_.grad_req;
  spec.monitored = watched;
  spec.predicts = predicts_;
  spec.exact = bound_.exact;
  spec.compute_dtype = bound_.compute_dtype;
  return spec;
}

void Runner::compile(bool watched, const std::vector<NDArray>& outputs_to_reuse) {
  // Wiring takes the arrays' addresses, and must not meet the error of a late write.
  for (const auto* arrays : {&bound_.args, &bound_.grads, &bound_.aux})
    for (const NDArray& array : *arrays)
      if (array.defined()) array.storage()->settle();
  runtime(bound_.context).make_current();  // kernels query what this device supports
  const std::shared_ptr<const Plan> plan = symbind::compile(bound_.symbol, bind_spec(watched));
  take_arenas(*plan);
  allocate_outputs(*plan, outputs_to_reuse);
  device_values_ = value_blocks(*plan);
  plan_ = plan;  // nothing throws from here on: a runner has its old plan or all of the new one
  wire();
}

bool Runner::is_of_this_process() const { return is_forked_child() == wired_in_child_; }

void Runner::take_arenas(const Plan& plan) {
  check(plan.contexts.size() == 1 || std::ranges::none_of(plan.contexts, in_gpu_memory),
        ErrorKind::kNotImplemented,
        "a graph over several devices cannot use a GPU yet\n"
        "  fix:  bind all of it, with its arrays, on one device");
  for (const auto& [slot, bytes] : plan.arena_bytes) {
    const Context context = plan.contexts[static_cast<std::size_t>(slot)];
    std::shared_ptr<Arena>& arena = (*arenas_)[{static_cast<int>(context.type), context.id}];
    if (!arena) arena = runtime(context).make_arena();
    try {
      arena->grow_to(bytes);
    } catch (const Error& e) {
      throw e.with_context(
          fmt::format("for the intermediates of {} on {}: {} bytes; the largest are {}",
                      bound_.symbol.str(), context.str(), bytes, largest(plan)));
    }
  }
}

void Runner::allocate_outputs(const Plan& plan, const std::vector<NDArray>& reuse) {
  std::vector<NDArray> outputs, head_grads(plan.outputs.size());
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const TensorDesc t = plan.output(i);
    const Context context = plan.tensors[static_cast<std::size_t>(plan.outputs[i])].context;
    const bool fits = i < reuse.size() && reuse[i].context() == context &&
                      reuse[i].dtype() == t.dtype && reuse[i].storage()->bytes() >= t.bytes();
    outputs.push_back(fits ? NDArray(reuse[i].storage(), t.shape, t.dtype)
                           : NDArray::zeros(t.shape, context, t.dtype));
    if (plan.needs_head_gradient[i]) head_grads[i] = NDArray::zeros(t.shape, context, t.dtype);
  }
  outputs_ = std::move(outputs);
  head_grads_ = std::move(head_grads);
}

TensorArg Runner::resolve(int tensor) const {
  const PlanTensor& t = plan_->tensors[static_cast<std::size_t>(tensor)];
  const auto bound = [](const NDArray& array) -> TensorArg {
    if (!array.defined()) return {};  // open
    return {static_cast<std::byte*>(array.storage()->data()) + array.byte_offset(),
            array.storage().get()};
  };
  const auto index = static_cast<std::size_t>(t.index);
  switch (t.home) {
    case Home::kNowhere: return {};
    case Home::kArgument: return bound(bound_.args[index]);
    case Home::kAux: return bound(bound_.aux[index]);
    case Home::kGradient: return bound(bound_.grads[index]);
    case Home::kHeadGradient: return bound(head_grads_[index]);
    case Home::kOutput: return bound(outputs_[index]);
    case Home::kScratch:
    case Home::kArena: {
      const auto& arena = arenas_->at({static_cast<int>(t.context.type), t.context.id});
      return {static_cast<std::byte*>(arena->base()) + t.offset, nullptr};
    }
  }
  return {};
}

bool Runner::is_open(int tensor) const {
  const PlanTensor& t = plan_->tensors[static_cast<std::size_t>(tensor)];
  const auto index = static_cast<std::size_t>(t.index);
  return (t.home == Home::kArgument && !bound_.args[index].defined()) ||
         (t.home == Home::kOutput && !outputs_[index].defined());
}

bool Runner::is_sliced(int tensor) const {
  const PlanTensor& t = plan_->tensors[static_cast<std::size_t>(tensor)];
  return plan_->slices.count > 1 &&
         (t.home == Home::kOutput ||
          (t.home == Home::kArgument && plan_->slices.args[static_cast<std::size_t>(t.index)]));
}

std::vector<Storage*> Runner::written_by(const PlanStep& step) const {
  std::vector<Storage*> written;
  const auto add = [&](int tensor) {
    if (Storage* storage = resolve(tensor).storage) written.push_back(storage);
  };
  std::ranges::for_each(step.out, add);
  if (step.node == nullptr) return written;
  for (std::size_t i = 0; i < step.in.size(); ++i)
    if (step.node->op->mutates(step.node->parsed.get(), static_cast<int>(i))) add(step.in[i]);
  return written;
}

namespace {

// A slow kernel computes one operation and reads one byte per nanosecond.
std::int64_t longest_time(const Cost& cost) {
  if (cost.flops < 0) return kLongWork;  // a custom operator, for one
  return static_cast<std::int64_t>(std::min(cost.flops + cost.bytes, 1e15));
}

}  // namespace

Runner::Runnable Runner::wire_step(std::size_t number) {
  const PlanStep& step = plan_->steps[number];
  const auto add_arg = [this](int tensor) {
    if (is_open(tensor)) open_.emplace_back(tensor_args_.size(), tensor);
    if (is_sliced(tensor)) sliced_.emplace_back(tensor_args_.size(), tensor);
    tensor_args_.push_back(resolve(tensor));
  };
  Runnable r{.run = &step.run,
             .args = {},
             .draws = nullptr,
             .enter = nullptr,
             .nanoseconds = longest_time(cost_of(*plan_, step))};
  const bool entered = number != 0 && number != plan_->num_forward &&
                       plan_->steps[number - 1].context == step.context;
  if (in_gpu_memory(step.context) && !entered) r.enter = &runtime(step.context);
  r.args.inputs = tensor_args_.data() + tensor_args_.size();
  std::ranges::for_each(step.in, add_arg);
  r.args.outputs = tensor_args_.data() + tensor_args_.size();
  std::ranges::for_each(step.out, add_arg);
  r.args.values = values_.data() + values_.size();
  values_.insert(values_.end(), step.values.begin(), step.values.end());
  RunState& state = run_state_[static_cast<std::size_t>(plan_->slot_of(step.context))];
  r.args.run = &state;
  if (step.is_random) r.draws = &state;
  if (step.workspace_bytes > 0) {
    const auto& arena = arenas_->at({static_cast<int>(step.context.type), step.context.id});
    r.args.workspace = static_cast<std::byte*>(arena->base()) + step.workspace_offset;
  }
  return r;
}

void Runner::wire() {
  std::size_t num_args = 0, num_values = 0;
  for (const PlanStep& step : plan_->steps) {
    num_args += step.in.size() + step.out.size();
    num_values += step.values.size();
  }
  tensor_args_.clear();
  tensor_args_.reserve(num_args);
  open_.clear();
  sliced_.clear();
  slice_ = 0;
  values_.clear();
  values_.reserve(num_values);
  run_state_.assign(plan_->contexts.size(), {});
  for (std::size_t slot = 0; slot < plan_->contexts.size(); ++slot)
    run_state_[slot].stream = runtime(plan_->contexts[slot]).stream();
  runnables_.clear();
  runnables_.reserve(plan_->steps.size());
  for (auto& list : written_) list.clear();
  for (auto& list : read_) list.clear();
  std::unordered_map<const std::vector<Storage*>*, std::unordered_set<Storage*>> noted;
  const auto note = [&](std::vector<Storage*>& list, Storage* storage) {
    if (storage != nullptr && noted[&list].insert(storage).second) list.push_back(storage);
  };
  for (const PlanStep& step : plan_->steps) {
    const Runnable& r = runnables_.emplace_back(wire_step(runnables_.size()));
    for (std::size_t i = 0; i < step.in.size(); ++i)
      note(read_[index(step.phase)], r.args.inputs[i].storage);
    for (Storage* storage : written_by(step)) note(written_[index(step.phase)], storage);
  }
  // An array that forward itself writes first is not an input: an old error on it must not stop
  // forward.
  std::unordered_set<const Storage*> results;
  for (const NDArray& o : outputs_) results.insert(o.storage().get());
  std::erase_if(read_[index(Phase::kForward)], [&](Storage* s) { return results.contains(s); });
  list_accesses();
  bring_values_to_devices();
  wired_in_child_ = is_forked_child();
}

void Runner::list_accesses() {
  first_reads_.clear();
  last_writes_.clear();
  std::unordered_set<const Storage*> seen;
  std::unordered_map<std::size_t, std::size_t> last;  // by argument
  for (std::size_t i = 0; i < plan_->steps.size(); ++i) {
    if (i == plan_->num_forward) seen.clear();
    const PlanStep& step = plan_->steps[i];
    for (const int tensor : step.in) {
      Storage* storage = is_open(tensor) ? nullptr : resolve(tensor).storage;
      if (storage != nullptr && seen.insert(storage).second) first_reads_.emplace_back(i, storage);
    }
    for (const int tensor : step.out) {
      const PlanTensor& t = plan_->tensors[static_cast<std::size_t>(tensor)];
      if (t.home == Home::kGradient) last[static_cast<std::size_t>(t.index)] = i;
    }
  }
  for (const auto& [argument, step] : last) last_writes_.emplace_back(step, argument);
  std::ranges::sort(last_writes_);
}

void Runner::bring_values_to_devices() {
  for (std::size_t slot = 0; slot < device_values_.size(); ++slot) {
    DeviceValues* block = device_values_[slot].get();
    if (block == nullptr) continue;
    block->write(values_.data());
    for (Runnable& r : runnables_)
      if (r.args.run == &run_state_[slot])
        r.args.device_values = block->data() + (r.args.values - values_.data());
  }
}

}  // namespace symbind
