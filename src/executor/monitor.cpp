// Showing every output as it is made.
//
// A watched executor runs a plan of its own over the same bound arrays: nothing is fused and no
// memory is used twice, so that each value is still there when it is shown. Values are shown plain,
// whatever layout the kernels chose; opaque ones are no values.
//
// Gradients are shown under MXNet's names, `fc_backward_output0` being the gradient of fc's first
// input, all of them in order: one that nobody asked for is not computed here and shown as zeros.

#include <algorithm>

#include <symbind/runtime.h>

#include "base/check.h"
#include "executor/executor_impl.h"
#include "kernels/reorder.h"
#include "ndarray/access.h"

namespace symbind {
namespace {

/// Of a node that differentiates another: which of its outputs is the gradient of which input
/// (-1: of none), or nothing where they are not in such order.
std::vector<int> gradient_places(const Node& node) {
  const Node& forward = *node.forward_node;
  const std::vector<std::string> inputs = forward.input_names();
  std::vector<int> places;
  for (std::size_t i = 0; i < forward.inputs.size(); ++i)
    if (!forward.is_aux_input(static_cast<int>(i))) places.push_back(-1);
  const std::vector<std::string> outputs = node.output_names();
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto named = std::ranges::find(inputs, outputs[o]);
    if (named != inputs.end()) {
      const auto place = static_cast<std::size_t>(named - inputs.begin());
      if (place < places.size()) places[place] = static_cast<int>(o);
    } else if (outputs.size() == places.size() || (o == 0 && forward.op->is_loss)) {
      places[o] = static_cast<int>(o);
    } else {
      return {};
    }
  }
  return places;
}

/// What MXNet calls a node that sums gradients, whatever they are of.
std::string shown_name(const PlanStep& step) {
  const std::string& name = step.node->name;
  const std::string_view mark = "_grad_sum";  // "_3" follows in a chain
  const std::size_t at = name.rfind(mark);
  const bool sums = step.phase == Phase::kBackward && !step.node->op->is_backward &&
                    step.node->forward_node && at != std::string::npos;
  return sums ? "sum_grad" + name.substr(at + mark.size()) : name;
}

}  // namespace

void Executor::Impl::compile_for_watchers(bool was_watched) {
  if (was_watched != is_watched()) compile_and_wire(outputs_);
}

void Executor::Impl::set_monitor(MonitorCallback callback, bool all) {
  check(!showing_, ErrorKind::kState, "a monitor cannot be changed while it is being called");
  const bool was_watched = is_watched();
  monitor_.swap(callback);
  try {
    compile_for_watchers(was_watched);
  } catch (...) {
    monitor_.swap(callback);
    throw;
  }
  monitor_all_ = all;
}

void Executor::Impl::set_guard(NodeCallback callback) {
  check(!showing_, ErrorKind::kState, "a guard cannot be changed while it is being called");
  const bool was_watched = is_watched();
  guard_.swap(callback);
  try {
    compile_for_watchers(was_watched);
  } catch (...) {
    guard_.swap(callback);
    throw;
  }
}

NDArray Executor::Impl::value_of(int tensor) const {
  const PlanTensor& t = plan_->tensors[static_cast<std::size_t>(tensor)];
  const TensorArg from = resolve(tensor);
  if (from.data == nullptr || t.home == Home::kScratch || t.is_opaque) return {};
  NDArray value(t.desc.shape, t.context, t.desc.dtype);
  const TensorArg to{write_pointer(value), value.storage().get()};
  const TensorDesc plain{.shape = t.desc.shape, .dtype = t.desc.dtype};
  const Args args{.inputs = &from,
                  .outputs = &to,
                  .run = &run_state_[static_cast<std::size_t>(plan_->slot_of(t.context))]};
  prepare_reorder(t.desc, plain,
                  in_gpu_memory(t.context) ? DeviceType::kGpu : DeviceType::kCpu)(args);
  return value;
}

void Executor::Impl::show_value(const std::string& name, const NDArray& value) {
  showing_ = true;
  struct Shown {
    bool& flag;
    ~Shown() { flag = false; }
  } const shown{showing_};
  monitor_(name, value);
}

void Executor::Impl::show_tensor(const std::string& name, int tensor) {
  const NDArray value = value_of(tensor);
  if (value.defined()) show_value(name, value);
}

void Executor::Impl::show_inputs(const PlanStep& step) {
  const Node& node = *step.node;
  const std::vector<std::string> names = node.input_names();
  const bool named =
      !node.op->is_backward && (node.op->names_inputs || !node.op->variadic_key.empty());
  for (std::size_t i = 0; i < step.in.size(); ++i) {
    const Node& source = *node.inputs[i].node;
    if (source.is_variable()) show_tensor(source.name, step.in[i]);
    show_tensor(shown_name(step) + "_" + (named ? names[i] : "input" + std::to_string(i)),
                step.in[i]);
  }
}

void Executor::Impl::show_gradients(const PlanStep& step) {
  const NodePtr& forward = step.node->forward_node;
  const std::vector<int> places = gradient_places(*step.node);
  const auto made = std::ranges::find_if(
      plan_->steps, [&](const PlanStep& other) { return other.node == forward; });
  if (places.empty() || made == plan_->steps.end()) {
    for (std::size_t o = 0; o < step.out.size(); ++o)
      show_tensor(step.node->output_name(static_cast<int>(o)), step.out[o]);
    return;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string name = forward->name + "_backward_output" +
                             (places.size() > 1 ? std::to_string(i) : std::string());
    NDArray value;
    if (places[i] >= 0) value = value_of(step.out[static_cast<std::size_t>(places[i])]);
    if (!value.defined()) {
      const PlanTensor& like = plan_->tensors[static_cast<std::size_t>(made->in[i])];
      value = NDArray::zeros(like.desc.shape, like.context, like.desc.dtype);
    }
    show_value(name, value);
  }
}

void Executor::Impl::show_to_guard(const PlanStep& step) {
  const auto value = [this](const std::vector<int>& tensors) {
    return [this, &tensors](std::size_t i) { return value_of(tensors[i]); };
  };
  RanNode ran{.title = step.title,
              .inputs = {},
              .outputs = step.node->output_names(),
              .input = value(step.in),
              .output = value(step.out)};
  for (const NodeEntry& input : step.node->inputs)
    ran.inputs.push_back(input.node->output_name(input.index));
  showing_ = true;
  struct Shown {
    bool& flag;
    ~Shown() { flag = false; }
  } const shown{showing_};
  guard_(ran);
}

void Executor::Impl::show(std::size_t number) {
  const PlanStep& step = plan_->steps[number];
  if (step.node == nullptr) return;
  if (guard_) show_to_guard(step);
  if (!monitor_) return;
  if (monitor_all_) show_inputs(step);
  if (step.node->op->is_backward && step.node->forward_node) return show_gradients(step);
  for (std::size_t o = 0; o < step.out.size(); ++o)
    show_tensor(shown_name(step) + "_" + step.node->output_names().at(o), step.out[o]);
}

}  // namespace symbind
