// Showing every output as it is made.
//
// A monitored executor runs a plan of its own over the same bound arrays: nothing is fused and no
// memory is used twice, so that each value is still there when it is shown. Values are shown plain,
// whatever layout the kernels chose; opaque ones are no values.

#include "base/check.h"
#include "executor/executor_impl.h"
#include "kernels/reorder.h"
#include "ndarray/access.h"

namespace symbind {

void Executor::Impl::set_monitor(MonitorCallback callback, bool all) {
  check(!showing_, ErrorKind::kState, "a monitor cannot be changed while it is being called");
  monitor_.swap(callback);
  if ((callback != nullptr) != (monitor_ != nullptr)) {
    try {
      compile_and_wire(outputs_);
    } catch (...) {
      monitor_.swap(callback);
      throw;
    }
  }
  monitor_all_ = all;
}

void Executor::Impl::show_tensor(const std::string& name, int tensor) {
  const PlanTensor& t = plan_->tensors[static_cast<std::size_t>(tensor)];
  const TensorArg from = resolve(tensor);
  if (from.data == nullptr || t.is_opaque) return;
  const NDArray value(t.desc.shape, t.context, t.desc.dtype);
  const TensorArg to{write_pointer(value), value.storage().get()};
  const TensorDesc plain{.shape = t.desc.shape, .dtype = t.desc.dtype};
  const Args args{.inputs = &from,
                  .outputs = &to,
                  .run = &run_state_[static_cast<std::size_t>(plan_->slot_of(t.context))]};
  prepare_reorder(t.desc, plain, t.context.is_gpu() ? DeviceType::kGpu : DeviceType::kCpu)(args);
  showing_ = true;
  struct Shown {
    bool& flag;
    ~Shown() { flag = false; }
  } const shown{showing_};
  monitor_(name, value);
}

void Executor::Impl::show(std::size_t number) {
  const PlanStep& step = plan_->steps[number];
  if (step.node == nullptr) return;
  const Node& node = *step.node;
  if (monitor_all_) {
    const std::vector<std::string> names = node.input_names();
    const bool named = node.op->names_inputs || !node.op->variadic_key.empty();
    for (std::size_t i = 0; i < step.in.size(); ++i) {
      const Node& source = *node.inputs[i].node;
      if (source.is_variable()) show_tensor(source.name, step.in[i]);
      show_tensor(node.name + "_" + (named ? names[i] : "input" + std::to_string(i)), step.in[i]);
    }
  }
  for (std::size_t o = 0; o < step.out.size(); ++o)
    show_tensor(node.output_name(static_cast<int>(o)), step.out[o]);
}

}  // namespace symbind
