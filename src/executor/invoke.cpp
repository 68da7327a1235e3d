// Running one operator now. Mistakes in the call throw here; an error inside the kernel is kept on
// the outputs and raised by the next wait, as in a graph.

#include <algorithm>

#include <fmt/format.h>
#include <symbind/executor.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/profiling.h"
#include "device/runtime.h"
#include "executor/current_error.h"
#include "executor/imperative.h"
#include "executor/profile.h"
#include "executor/random_state.h"
#include "ndarray/access.h"
#include "ndarray/storage.h"

namespace symbind {
namespace {

TensorArg arg_of(const NDArray& array) {
  return {static_cast<std::byte*>(array.storage()->data()) + array.byte_offset(),
          array.storage().get()};
}

bool overlap(const NDArray& a, const NDArray& b) {
  return a.storage() == b.storage() && a.byte_offset() < b.byte_offset() + b.nbytes() &&
         b.byte_offset() < a.byte_offset() + a.nbytes();
}

// An output may take an input's memory only where the operator said so.
bool must_not_alias(const OpDef& op, const std::vector<NDArray>& inputs, const NDArray& out,
                    int index) {
  const std::vector<std::pair<int, int>> pairs = op.inplace_pairs(index + 1);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!overlap(inputs[i], out)) continue;
    const bool allowed =
        out.aliases(inputs[i]) && out.byte_offset() == inputs[i].byte_offset() &&
        std::ranges::find(pairs, std::pair{static_cast<int>(i), index}) != pairs.end();
    if (!allowed) return true;
  }
  return false;
}

Context context_of(const std::vector<NDArray>& inputs, const std::vector<NDArray>& out,
                   const AttrDict& attrs) {
  if (!inputs.empty()) return inputs.front().context();
  if (!out.empty()) return out.front().context();
  const auto it = attrs.find("ctx");
  if (it == attrs.end() || it->second.empty() || it->second == "None") return current_context();
  for (const Context& c : {cpu(), gpu(), cpu_pinned(), cpu_shared()}) {
    const std::string name = c.str().substr(0, c.str().find('('));
    if (it->second.starts_with(name + "("))
      return {c.type, std::atoi(it->second.c_str() + name.size() + 1)};
  }
  fail(ErrorKind::kValue, "ctx='{}' is no context; write cpu(0) or gpu(0)", it->second);
}

}  // namespace

void check_inputs(const OpDef& op, const void* attrs, const std::vector<NDArray>& inputs) {
  const std::vector<std::string> names = op.input_names(attrs);
  check(inputs.size() == names.size(), ErrorKind::kType, "{} takes {} inputs ({}), {} were given",
        op.name, names.size(), fmt::join(names, ", "), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check(inputs[i].defined(), "{}: input '{}' is no array", op.name, names[i]);
    check(inputs[i].context() == inputs[0].context() || op.name == "_CrossDeviceCopy",
          "{}: input '{}' is on {}, '{}' on {}", op.name, names[i], inputs[i].context().str(),
          names[0], inputs[0].context().str());
  }
}

std::vector<NDArray> invoke(std::string_view name, const std::vector<NDArray>& inputs,
                            const AttrDict& attrs, const std::vector<NDArray>& out, bool is_train) {
  return invoke(OpRegistry::global().get(name), inputs, attrs, out, is_train);
}

std::vector<NDArray> invoke(const OpDef& op, const std::vector<NDArray>& inputs,
                            const AttrDict& attrs, const std::vector<NDArray>& out, bool is_train) {
  const Context context = context_of(inputs, out, attrs);
  const bool shape_from_out = inputs.empty() && !out.empty();
  const auto call = imperative_call(op, inputs, attrs, context,
                                    shape_from_out ? out.front().shape() : Shape::unknown());
  const ImperativeKernel* kernel = call->kernel.get();

  const auto visible = static_cast<std::size_t>(kernel->num_visible);
  check(out.empty() || out.size() == visible, "{} has {} outputs, {} arrays were given for them",
        op.name, visible, out.size());
  std::vector<NDArray> results = out;
  results.reserve(visible);
  std::vector<NDArray>
      targets;  // where the kernel writes: results, or stand-ins for forbidden aliases
  targets.reserve(visible);
  for (std::size_t o = 0; o < visible; ++o) {
    const TensorDesc& desc = kernel->out[o];
    if (out.empty()) {  // fresh memory aliases nothing
      targets.push_back(NDArray(desc.shape, context, desc.dtype));
      results.push_back(targets.back());
      continue;
    }
    check_defined(results[o], "out");
    check(results[o].shape() == desc.shape, ErrorKind::kShape,
          "{}: out has shape {}, the result has {}", op.name, results[o].shape().str(),
          desc.shape.str());
    const bool stand_in = results[o].dtype() != desc.dtype || results[o].context() != context ||
                          must_not_alias(op, inputs, results[o], static_cast<int>(o));
    targets.push_back(stand_in ? NDArray(desc.shape, context, desc.dtype) : results[o]);
  }
  for (const NDArray& a : inputs) {
    if (!a.storage()->has_error()) continue;
    for (const NDArray& r : results) pass_error(a, r);
    return results;
  }

  std::vector<TensorArg> in_args, out_args(kernel->out.size());
  in_args.reserve(inputs.size());
  for (const NDArray& a : inputs) in_args.push_back(arg_of(a));
  for (std::size_t o = 0; o < visible; ++o) out_args[o] = arg_of(targets[o]);
  std::shared_ptr<Storage> workspace;
  if (kernel->workspace_bytes > 0) workspace = Storage::allocate(context, kernel->workspace_bytes);
  RunState state{.is_train = is_train, .stream = runtime(context).stream()};
  if (op.is_random) std::tie(state.random_seed, state.random_draw) = next_random_draw(context);
  const Args args{.inputs = in_args.data(),
                  .outputs = out_args.data(),
                  .workspace = workspace ? workspace->data() : nullptr,
                  .values = call->values.data(),
                  .device_values = values_on_device(context, call->values),
                  .run = &state};
  try {
    const VendorThreads threads;
    if (profiling::on(profiling::kImperative)) [[unlikely]]
      run_timed(*call, inputs, context, args);
    else
      kernel->run(args);
  } catch (const Interrupted&) {
    for (const NDArray& t : targets) t.storage()->touch();
    throw;
  } catch (...) {
    const auto pending = std::make_shared<PendingError>(current_error("in " + op.name));
    for (const NDArray& r : results) r.storage()->set_error(pending);
    for (const std::size_t i : kernel->mutated) inputs[i].storage()->set_error(pending);
    return results;
  }
  for (const NDArray& t : targets) t.storage()->touch();
  for (const std::size_t i : kernel->mutated) inputs[i].storage()->touch();
  if (out.empty()) return results;
  for (std::size_t o = 0; o < visible; ++o) {
    if (!targets[o].aliases(results[o])) targets[o].copy_to(results[o]);
  }
  return results;
}

namespace {

NDArray scalar_op(std::string_view op, const NDArray& a, double b) {
  return invoke(op, {a}, {{"scalar", fmt::format("{}", b)}}).front();
}

}  // namespace

#define SYMBIND_ARRAY_OPERATOR(sign, op, scalar, reverse)                                          \
  NDArray operator sign(const NDArray& a, const NDArray& b) { return invoke(op, {a, b}).front(); } \
  NDArray operator sign(const NDArray& a, double b) { return scalar_op(scalar, a, b); }            \
  NDArray operator sign(double a, const NDArray& b) { return scalar_op(reverse, b, a); }           \
  NDArray& NDArray::operator sign##=(const NDArray& other) {                                       \
    invoke(op, {*this, other}, {}, {*this});                                                       \
    return *this;                                                                                  \
  }                                                                                                \
  NDArray& NDArray::operator sign##=(double other) {                                               \
    invoke(scalar, {*this}, {{"scalar", fmt::format("{}", other)}}, {*this});                      \
    return *this;                                                                                  \
  }
SYMBIND_ARRAY_OPERATOR(+, "broadcast_add", "_plus_scalar", "_plus_scalar")
SYMBIND_ARRAY_OPERATOR(-, "broadcast_sub", "_minus_scalar", "_rminus_scalar")
SYMBIND_ARRAY_OPERATOR(*, "broadcast_mul", "_mul_scalar", "_mul_scalar")
SYMBIND_ARRAY_OPERATOR(/, "broadcast_div", "_div_scalar", "_rdiv_scalar")
#undef SYMBIND_ARRAY_OPERATOR
NDArray operator-(const NDArray& a) { return scalar_op("_mul_scalar", a, -1.0); }

}  // namespace symbind
