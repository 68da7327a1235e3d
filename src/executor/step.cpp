// The fused step: forward, backward and the updates behind them.

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "base/parallel.h"
#include "base/profiling.h"
#include "device/runtime.h"
#include "executor/current_error.h"
#include "executor/executor_impl.h"
#include "executor/imperative.h"
#include "ndarray/access.h"
#include "ndarray/storage.h"

namespace symbind {

int Executor::Impl::add_update(const std::string& name, const std::vector<NDArray>& inputs,
                               const NDArray& out, const AttrDict& attrs) {
  const OpDef& op = OpRegistry::global().get(name);
  const auto parsed = parse_node_attrs(op, name, attrs, inputs.size());
  check_inputs(op, parsed.get(), inputs);
  std::vector<TensorDesc> in;
  for (const NDArray& a : inputs) in.push_back({.shape = a.shape(), .dtype = a.dtype()});
  check(std::ranges::find(plan_->contexts, out.context()) != plan_->contexts.end(),
        "{}: the arrays are on {}, where this executor does not run", name, out.context().str());
  Update u{
      .kernel = imperative_kernel(op, parsed, in, out.context()), .inputs = inputs, .out = out};
  u.slot = static_cast<std::size_t>(plan_->slot_of(out.context()));
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
  profile_.reset();
  recording_.reset();
  step_is_warm_ = false;
  values_changed_ = true;
  return static_cast<int>(updates_.size()) - 1;
}

void Executor::Impl::clear_updates() {
  updates_.clear();
  profile_.reset();
  recording_.reset();
  step_is_warm_ = false;
  values_changed_ = true;
}

void Executor::Impl::set_update_value(int number, const std::string& attr, double value) {
  check(number >= 0 && static_cast<std::size_t>(number) < updates_.size(), ErrorKind::kIndex,
        "there is no update {}", number);
  Update& u = updates_[static_cast<std::size_t>(number)];
  const auto it = std::ranges::find(u.value_names, attr);
  if (it == u.value_names.end()) {  // the hint costs more than a step's other work
    fail(ErrorKind::kName, "{} has no per-call attribute '{}'; {}", u.kernel->op->name, attr,
         nearest_hint(attr, u.value_names));
  }
  double& held = u.values[static_cast<std::size_t>(it - u.value_names.begin())];
  values_changed_ |= held != value;
  held = value;
}

void Executor::Impl::run_updates() {
  const profiling::ApiSpan span("Executor.update");
  const VendorThreads threads;
  for (std::size_t number = 0; number < updates_.size(); ++number) {
    const Update& u = updates_[number];
    if (std::ranges::any_of(u.inputs, [](const NDArray& a) { return a.storage()->has_error(); })) {
      for (const NDArray& a : u.inputs) pass_error(a, u.out);
      continue;
    }
    const Args args{.inputs = u.in_args.data(),
                    .outputs = u.out_args.data(),
                    .workspace = u.workspace ? u.workspace->data() : nullptr,
                    .values = u.values.data(),
                    .device_values = u.device_values,
                    .run = &run_state_[u.slot]};
    try {
      runtime(u.out.context()).make_current();
      if (profiling::on(profiling::kSymbolic)) [[unlikely]]
        run_timed(u, number, args);
      else
        u.kernel->run(args);
    } catch (...) {
      u.out.storage()->set_error(current_error("in " + u.kernel->op->name));
      continue;
    }
    u.out.storage()->touch();
    for (const std::size_t i : u.kernel->mutated) u.inputs[i].storage()->touch();
  }
}

void Executor::Impl::step(const NDArrayMap& feed) {
  // What is replayed as one launch has no times of its nodes.
  const bool timed = profiling::on(profiling::kSymbolic);
  if (record_steps_ && step_is_warm_ && !timed && !has_unread_error()) {
    load_feed(feed);
    return replay_step();
  }
  forward(true, feed);
  backward(std::vector<NDArray>{});
  run_updates();
  step_is_warm_ = true;
}

}  // namespace symbind
