// Shows every output as it is computed.
//
// A watched executor runs a separate plan over the same bound arrays: nothing is fused and no
// memory is reused, so each value still exists when it is shown. Values are shown in plain layout,
// whatever layout the kernels chose; opaque ones are not shown.
//
// Gradients are shown under MXNet's names, `fc_backward_output0` being the gradient of fc's first
// input, all of them in order: one that is not needed is not computed here and shown as zeros.

#include "executor/watchers.h"

#include <algorithm>

#include <symbind/runtime.h>

#include "base/check.h"
#include "kernels/reorder.h"
#include "ndarray/access.h"

namespace symbind {
namespace {

/// Of a node that differentiates another: which of its outputs is the gradient of which input
/// (-1: of none), or nothing if they are not in such an order.
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

/// MXNet's name for a node that sums gradients, whatever they belong to.
std::string shown_name(const PlanStep& step) {
  const std::string& name = step.node->name;
  const std::string_view mark = "_grad_sum";  // "_3" follows in a chain
  const std::size_t at = name.rfind(mark);
  const bool sums = step.phase == Phase::kBackward && !step.node->op->is_backward &&
                    step.node->forward_node && at != std::string::npos;
  return sums ? "sum_grad" + name.substr(at + mark.size()) : name;
}

/// A copy of a tensor's numbers, plain; an undefined array where it has none.
NDArray value_of(const Runner& runner, int tensor) {
  const PlanTensor& t = runner.plan().tensors[static_cast<std::size_t>(tensor)];
  const TensorArg from = runner.resolve(tensor);
  if (from.data == nullptr || t.home == Home::kScratch || t.is_opaque) return {};
  NDArray value(t.desc.shape, t.context, t.declared);
  const TensorArg to{write_pointer(value), value.storage().get()};
  const TensorDesc plain{.shape = t.desc.shape, .dtype = t.declared};
  const auto slot = static_cast<std::size_t>(runner.plan().slot_of(t.context));
  const Args args{.inputs = &from, .outputs = &to, .run = &runner.state(slot)};
  prepare_reorder(t.desc, plain,
                  in_gpu_memory(t.context) ? DeviceType::kGpu : DeviceType::kCpu)(args);
  return value;
}

std::string shapes_text(const Plan& plan, const PlanStep& step) {
  std::string text;
  const auto add = [&](const std::vector<int>& tensors) {
    for (const int t : tensors) {
      const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(t)];
      if (tensor.home == Home::kNowhere || tensor.home == Home::kScratch || tensor.is_opaque)
        continue;
      if (!text.empty() && !text.ends_with("-> ")) text += " ";
      text += tensor.desc.shape.str();
    }
  };
  add(step.in);
  text += " -> ";
  add(step.out);
  return text;
}

std::vector<StepTimes> described(const Plan& plan) {
  std::vector<StepTimes> all;
  for (const PlanStep& step : plan.steps) {
    profiling::Subject s{
        .category = "operator",
        .name = step.node ? step.node->op->name : step.kernel,
        .node = step.node ? step.node->name
                          : plan.tensors[static_cast<std::size_t>(step.out.front())].name,
        .kernel = step.kernel,
        .device = step.context.str(),
        .shapes = shapes_text(plan, step)};
    all.push_back({.subject = profiling::intern(std::move(s)), .cost = cost_of(plan, step)});
  }
  return all;
}

}  // namespace

void Watchers::check_idle(const char* who) const {
  check(!showing_, ErrorKind::kState, "a {} cannot be changed while it is being called", who);
}

void Watchers::run_timed(const Runner& runner, std::size_t step) {
  const Plan& plan = runner.plan();
  times_.run(
      step, plan.steps[step].context, [&] { return described(plan); }, [&] { runner.call(step); });
}

void Watchers::show_value(const std::string& name, const NDArray& value) {
  showing_ = true;
  struct Shown {
    bool& flag;
    ~Shown() { flag = false; }
  } const shown{showing_};
  monitor(name, value);
}

void Watchers::show_tensor(const Runner& runner, const std::string& name, int tensor) {
  const NDArray value = value_of(runner, tensor);
  if (value.defined()) show_value(name, value);
}

void Watchers::show_inputs(const Runner& runner, const PlanStep& step) {
  const Node& node = *step.node;
  const std::vector<std::string> names = node.input_names();
  const bool named =
      !node.op->is_backward && (node.op->names_inputs || !node.op->variadic_key.empty());
  for (std::size_t i = 0; i < step.in.size(); ++i) {
    const Node& source = *node.inputs[i].node;
    if (source.is_variable()) show_tensor(runner, source.name, step.in[i]);
    show_tensor(runner, shown_name(step) + "_" + (named ? names[i] : "input" + std::to_string(i)),
                step.in[i]);
  }
}

void Watchers::show_gradients(const Runner& runner, const PlanStep& step) {
  const NodePtr& forward = step.node->forward_node;
  const std::vector<int> places = gradient_places(*step.node);
  const auto made = std::ranges::find_if(
      runner.plan().steps, [&](const PlanStep& other) { return other.node == forward; });
  if (places.empty() || made == runner.plan().steps.end()) {
    for (std::size_t o = 0; o < step.out.size(); ++o)
      show_tensor(runner, step.node->output_name(static_cast<int>(o)), step.out[o]);
    return;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string name = forward->name + "_backward_output" +
                             (places.size() > 1 ? std::to_string(i) : std::string());
    NDArray value;
    if (places[i] >= 0) value = value_of(runner, step.out[static_cast<std::size_t>(places[i])]);
    if (!value.defined()) {
      const PlanTensor& like = runner.plan().tensors[static_cast<std::size_t>(made->in[i])];
      value = NDArray::zeros(like.desc.shape, like.context, like.declared);
    }
    show_value(name, value);
  }
}

void Watchers::show_to_guard(const Runner& runner, const PlanStep& step) {
  const auto value = [&runner](const std::vector<int>& tensors) {
    return [&runner, &tensors](std::size_t i) { return value_of(runner, tensors[i]); };
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
  guard(ran);
}

void Watchers::show(const Runner& runner, std::size_t number) {
  const PlanStep& step = runner.plan().steps[number];
  if (step.node == nullptr) return;
  if (guard) show_to_guard(runner, step);
  if (!monitor) return;
  if (monitor_all) show_inputs(runner, step);
  if (step.node->op->is_backward && step.node->forward_node) return show_gradients(runner, step);
  for (std::size_t o = 0; o < step.out.size(); ++o)
    show_tensor(runner, shown_name(step) + "_" + step.node->output_names().at(o), step.out[o]);
}

}  // namespace symbind
