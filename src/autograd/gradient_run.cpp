#include "autograd/gradient_run.h"

#include "base/check.h"
#include "base/interrupt.h"
#include "executor/imperative.h"
#include "ndarray/access.h"

namespace symbind::autograd {

Saved GradientRun::input(const NodeEntry& entry) const {
  const auto output = static_cast<std::size_t>(entry.index);
  if (const auto found = recorded_.find(entry.node.get()); found != recorded_.end()) {
    Saved saved = found->second.outputs.at(output);
    saved.array.set_tape({found->second.node, entry.index});
    return saved;
  }
  const NDArray& array = values_.at(entry.node.get()).at(output);
  return {.array = array,
          .desc = {.shape = array.shape(), .dtype = array.dtype()},
          .context = array.context()};
}

std::vector<NodePtr> steps_of(const NodeEntries& wanted, const Snapshots& recorded) {
  NodeEntries heads;
  for (const NodeEntry& e : wanted)
    if (e) heads.push_back(e);
  std::vector<NodePtr> steps;
  for (NodePtr& node : post_order(heads))
    if (!node->is_variable() && !recorded.contains(node.get())) steps.push_back(std::move(node));
  return steps;
}

std::vector<NDArray> GradientRun::run(const NodeEntries& wanted,
                                      const std::vector<NodePtr>& steps) {
  const auto count = [&](const NodeEntry& e) {
    if (e.node->is_variable() || recorded_.contains(e.node.get())) return;
    std::vector<int>& readers = readers_[e.node.get()];
    readers.resize(static_cast<std::size_t>(e.node->num_outputs()));
    ++readers[static_cast<std::size_t>(e.index)];
  };
  for (const NodeEntry& e : wanted)
    if (e) count(e);
  for (const NodePtr& node : steps)
    for (const NodeEntry& e : node->inputs) count(e);
  for (const NodePtr& node : steps) {
    interruption_point();
    run_node(*node);
  }
  std::vector<NDArray> results;
  for (const NodeEntry& e : wanted) results.push_back(e ? input(e).array : NDArray());
  return results;
}

void GradientRun::run_node(const Node& node) {
  const OpDef& op = *node.op;
  std::vector<Saved> in;
  for (const NodeEntry& e : node.inputs) in.push_back(input(e));
  if (copy_between_devices(node, in)) return drop_inputs(node);
  std::vector<NDArray> arrays;
  std::vector<TensorDesc> descs;
  KernelQuery query{.training = thread_mode().training};
  for (std::size_t i = 0; i < in.size(); ++i) {
    SYMBIND_ASSERT(in[i].array.defined() ||
                   op.reads_only_shape(node.parsed.get(), static_cast<int>(i)) || in[i].opaque);
    arrays.push_back(in[i].array);
    descs.push_back(in[i].desc);
    if (in[i].opaque && in[i].desc.bytes() > 0)
      query.name = recorded_.at(node.inputs[i].node.get()).kernel;
  }
  Context context = in.empty() ? current_context() : in.front().context;
  for (const int readers : readers_[&node]) query.outputs.push_back(readers > 0);
  const auto kernel = imperative_kernel(op, node.parsed, descs, context, query);
  std::vector<NDArray> out;
  for (std::size_t o = 0; o < kernel->out.size(); ++o)
    out.push_back(query.outputs[o] ? NDArray(kernel->out[o].shape, context, kernel->out[o].dtype)
                                   : NDArray());
  bool failed = false;
  for (const NDArray& a : arrays) {
    if (!a.defined() || !a.storage()->has_error()) continue;
    for (const NDArray& o : out)
      if (o.defined()) failed = pass_error(a, o) || failed;
  }
  Recorder* recorder = nullptr;
  if (!failed) {
    const Unrecorded within;
    recorder = within.recorder();
    // describe() binds to the instance; the instance is only read here.
    const ImperativeCall call{
        .attrs = node.parsed,
        .kernel = kernel,
        .values = per_call_values(op.describe(const_cast<void*>(node.parsed.get()))),
        .reads = {},
        .given = {}};
    run_kernel(call, arrays, out, context, thread_mode().training, out);
  }
  if (recorder != nullptr) {
    GradientReads reads = gradient_reads(op, node.parsed);
    recorder->ran({.op = &op,
                   .attrs = &node.attrs,
                   .parsed = node.parsed,
                   .in = arrays,
                   .out = out,
                   .hidden = {},
                   .kernel = kernel->name,
                   .opaque = kernel->opaque,
                   .reads_in = std::move(reads.in),
                   .reads_out = std::move(reads.out)});
  }
  values_[&node] = std::move(out);
  drop_inputs(node);
}

// The operator does not name the target: copy back to the source's device.
bool GradientRun::copy_between_devices(const Node& node, const std::vector<Saved>& in) {
  if (!node.op->crosses_devices) return false;
  const Context home = input(recorded_.at(node.forward_node.get()).inputs.front()).context;
  values_[&node] = {in.front().array.as_in_context(home)};
  return true;
}

void GradientRun::drop_inputs(const Node& node) {
  for (const NodeEntry& e : node.inputs) {
    const auto readers = readers_.find(e.node.get());
    if (readers == readers_.end()) continue;
    const auto output = static_cast<std::size_t>(e.index);
    if (--readers->second[output] == 0) values_.at(e.node.get())[output] = NDArray();
  }
}

}  // namespace symbind::autograd
