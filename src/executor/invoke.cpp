// Running one operator now. Mistakes in the call throw here; an error inside the kernel is stored
// on the outputs and raised by the next wait, as in a graph.

#include <algorithm>
#include <array>
#include <charconv>
#include <memory_resource>

#include <fmt/format.h>
#include <symbind/executor.h>

#include "base/check.h"
#include "base/parallel.h"
#include "base/profiling.h"
#include "device/runtime.h"
#include "executor/imperative.h"
#include "executor/profile.h"
#include "executor/random_state.h"
#include "executor/run_guarded.h"
#include "ndarray/access.h"
#include "ndarray/recorder.h"
#include "ndarray/storage.h"

namespace symbind {
namespace {

/// Memory for the lists of one call: on the stack where they fit.
template <std::size_t bytes>
class CallMemory {
 public:
  std::pmr::memory_resource* get() { return &resource_; }

 private:
  alignas(std::max_align_t) std::array<std::byte, bytes> buffer_;
  std::pmr::monotonic_buffer_resource resource_{buffer_.data(), buffer_.size()};
};

TensorArg arg_of(const NDArray& array) {
  if (!array.defined()) return {};
  return {static_cast<std::byte*>(array.storage()->data()) + array.byte_offset(),
          array.storage().get()};
}

bool overlap(const NDArray& a, const NDArray& b) {
  return a.storage() == b.storage() && a.byte_offset() < b.byte_offset() + b.nbytes() &&
         b.byte_offset() < a.byte_offset() + a.nbytes();
}

/// Whether the operator declares that an output may take the memory of an input.
bool is_inplace(const OpDef& op, int input, int output) {
  const int first = op.group * output;  // of the output's group
  return std::ranges::any_of(op.inplace, [&](const std::pair<int, int>& pair) {
    return pair.first + first == input && (op.group > 0 || pair.second == output);
  });
}

// An output may take an input's memory only if the operator declares it.
bool must_not_alias(const OpDef& op, std::span<const NDArray> inputs, const NDArray& out,
                    int index) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!overlap(inputs[i], out)) continue;
    const bool allowed = out.aliases(inputs[i]) && out.byte_offset() == inputs[i].byte_offset() &&
                         is_inplace(op, static_cast<int>(i), index);
    if (!allowed) return true;
  }
  return false;
}

Context context_of(std::span<const NDArray> inputs, std::span<const NDArray> out,
                   const CallOptions& options) {
  if (!inputs.empty()) return inputs.front().context();
  if (!out.empty()) return out.front().context();
  const AttrDict attrs = options.dict(options.options);
  const auto it = attrs.find("ctx");
  if (it == attrs.end() || it->second.empty() || it->second == "None") return current_context();
  for (const Context& c : {cpu(), gpu(), cpu_pinned(), cpu_shared()}) {
    const std::string name = c.str().substr(0, c.str().find('('));
    if (!it->second.starts_with(name + "(")) continue;
    int id = -1;
    const char* digits = it->second.data() + name.size() + 1;
    const auto [end, error] = std::from_chars(digits, it->second.data() + it->second.size(), id);
    if (error == std::errc() && id >= 0 && std::string_view(end) == ")") return {c.type, id};
  }
  fail(ErrorKind::kValue, "ctx='{}' is not a context; write cpu(0) or gpu(0)", it->second);
}

}  // namespace

void check_inputs(const OpDef& op, const void* attrs, std::span<const NDArray> inputs) {
  const std::vector<std::string> names = op.input_names(attrs);
  check(inputs.size() == names.size(), ErrorKind::kType, "{} takes {} inputs ({}), {} were given",
        op.name, names.size(), fmt::join(names, ", "), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check(inputs[i].defined(), "{}: input '{}' is not an array", op.name, names[i]);
    if (inputs[i].context() != inputs[0].context() && !op.crosses_devices)
      fail(ErrorKind::kValue, "{}: input '{}' is on {}, '{}' on {}", op.name, names[i],
           inputs[i].context().str(), names[0], inputs[0].context().str());
  }
}

std::vector<NDArray> invoke(std::string_view name, const std::vector<NDArray>& inputs,
                            const AttrDict& attrs, const std::vector<NDArray>& out,
                            std::optional<bool> is_train) {
  return invoke(OpRegistry::global().get(name), inputs, attrs, out, is_train);
}

bool run_kernel(const ImperativeCall& call, std::span<const NDArray> in,
                std::span<const NDArray> out, Context context, bool is_train,
                std::span<const NDArray> fail_on) {
  const ImperativeKernel& kernel = *call.kernel;
  CallMemory<32 * sizeof(TensorArg)> memory;
  std::pmr::vector<TensorArg> in_args(memory.get()), out_args(memory.get());
  in_args.reserve(in.size());
  for (const NDArray& a : in) in_args.push_back(arg_of(a));
  out_args.reserve(kernel.out.size());
  for (const NDArray& a : out) out_args.push_back(arg_of(a));
  out_args.resize(kernel.out.size());
  std::shared_ptr<Storage> workspace;
  if (kernel.workspace_bytes > 0) {
    workspace = Storage::allocate(context, kernel.workspace_bytes);
    kernel.give_scratch(out_args, workspace->data());
  }
  RunState state{.is_train = is_train, .stream = runtime(context).stream()};
  if (kernel.op->is_random)
    std::tie(state.random_seed, state.random_draw) = next_random_draw(context);
  const Args args{.inputs = in_args.data(),
                  .outputs = out_args.data(),
                  .workspace = workspace ? workspace->data() : nullptr,
                  .values = call.values.data(),
                  .device_values = values_on_device(context, call.values),
                  .run = &state};
  const auto touch = [&](const NDArray& a) {
    if (a.defined()) a.storage()->touch();
  };
  const VendorThreads threads;
  std::optional<Error> error;
  try {
    error = run_guarded(kernel.op->name, kLongWork, [&] {
      if (profiling::on(profiling::kImperative)) [[unlikely]]
        run_timed(call, in, context, args);
      else
        kernel.run(args);
    });
  } catch (const Interrupted&) {
    for (const NDArray& a : out) touch(a);
    throw;
  }
  if (error) {
    const auto pending = std::make_shared<PendingError>(std::move(*error));
    for (const NDArray& a : fail_on)
      if (a.defined()) a.storage()->set_error(pending);
    for (const std::size_t i : kernel.mutated) in[i].storage()->set_error(pending);
    return false;
  }
  for (const NDArray& a : out) touch(a);
  for (const std::size_t i : kernel.mutated) touch(in[i]);
  return true;
}

namespace {

/// The arrays of one call: what the user gets, and where the kernel writes.
struct Results {
  explicit Results(std::pmr::memory_resource* memory) : results(memory), targets(memory) {}
  std::pmr::vector<NDArray> results;
  std::pmr::vector<NDArray>
      targets;  ///< results, or others for forbidden aliases; then hidden ones
};

void make_results(const ImperativeCall& call, std::span<const NDArray> inputs,
                  std::span<const NDArray> out, Context context, Results& made) {
  const ImperativeKernel& kernel = *call.kernel;
  const OpDef& op = *kernel.op;
  const auto visible = static_cast<std::size_t>(kernel.num_visible);
  check(out.empty() || out.size() == visible, "{} has {} outputs, {} arrays were given for them",
        op.name, visible, out.size());
  made.results.reserve(visible);
  made.targets.reserve(std::max(visible, call.reads.out.size()));
  for (std::size_t o = 0; o < visible; ++o) {
    const TensorDesc& desc = kernel.out[o];
    if (out.empty()) {  // new memory aliases nothing
      made.targets.push_back(NDArray(desc.shape, context, desc.dtype));
      made.results.push_back(made.targets.back());
      continue;
    }
    const NDArray& result = made.results.emplace_back(out[o]);
    check_defined(result, "out");
    if (result.shape() != desc.shape)
      fail(ErrorKind::kShape, "{}: out has shape {}, the result has {}", op.name,
           result.shape().str(), desc.shape.str());
    const bool apart = result.dtype() != desc.dtype || result.context() != context ||
                       must_not_alias(op, inputs, result, static_cast<int>(o));
    made.targets.push_back(apart ? NDArray(desc.shape, context, desc.dtype) : result);
  }
  for (std::size_t o = visible; o < call.reads.out.size(); ++o)
    made.targets.push_back(
        call.reads.out[o] ? NDArray(kernel.out[o].shape, context, kernel.out[o].dtype) : NDArray());
}

/// The recorder for this call: null if none of its inputs is recorded. Refuses to overwrite
/// recorded arrays or the operator's inputs.
Recorder* recorder_of(Recorder* recorder, std::span<const NDArray> inputs,
                      std::span<const NDArray> out) {
  if (recorder == nullptr) return nullptr;
  const bool recorded =
      std::ranges::any_of(inputs, [&](const NDArray& a) { return recorder->is_recorded(a); });
  for (const NDArray& o : out) {
    const auto reads = [&](const NDArray& a) {
      return a.defined() && o.defined() && overlap(a, o);
    };
    if (recorder->is_recorded(o) || (recorded && std::ranges::any_of(inputs, reads)))
      recorder->refuse_write(o);
  }
  return recorded ? recorder : nullptr;
}

void record_call(Recorder& recorder, const ImperativeCall& call, std::span<const NDArray> inputs,
                 const Results& r) {
  const auto visible = static_cast<std::ptrdiff_t>(r.results.size());
  recorder.ran({.op = call.kernel->op,
                .attrs = &call.given,
                .parsed = call.attrs,
                .in = inputs,
                .out = r.results,
                .hidden = {r.targets.begin() + visible, r.targets.end()},
                .kernel = call.kernel->name,
                .opaque = call.kernel->opaque,
                .reads_in = call.reads.in,
                .reads_out = call.reads.out,
                .state = call.kernel->op->runs_user_code ? call.kernel : nullptr});
}

/// Runs the call; its results are in `r`.
void run_call(const OpDef& op, std::span<const NDArray> inputs, const CallOptions& options,
              std::span<const NDArray> out, std::optional<bool> is_train, Results& r) {
  const Unrecorded within;
  Recorder* const recorder = recorder_of(within.recorder(), inputs, out);
  const Context context = context_of(inputs, out, options);
  const bool shape_from_out = inputs.empty() && !out.empty();
  const auto call =
      imperative_call(op, inputs, options, context,
                      shape_from_out ? out.front().shape() : Shape::unknown(), recorder != nullptr);
  make_results(*call, inputs, out, context, r);
  const auto failed =
      std::ranges::find_if(inputs, [](const NDArray& a) { return a.storage()->has_error(); });
  if (failed != inputs.end()) {
    for (const NDArray& each : r.results) pass_error(*failed, each);
  } else {
    const bool train = is_train.value_or(thread_mode().training);
    const bool ran = run_kernel(*call, inputs, r.targets, context, train, r.results);
    for (std::size_t o = 0; ran && o < out.size(); ++o)
      if (!r.targets[o].aliases(r.results[o])) r.targets[o].copy_to(r.results[o]);
  }
  if (recorder != nullptr) record_call(*recorder, *call, inputs, r);
}

std::span<const NDArray> without_undefined_end(std::span<const NDArray> arrays) {
  while (!arrays.empty() && !arrays.back().defined()) arrays = arrays.first(arrays.size() - 1);
  return arrays;
}

}  // namespace

std::vector<NDArray> invoke(const OpDef& op, const std::vector<NDArray>& inputs,
                            const AttrDict& attrs, const std::vector<NDArray>& out,
                            std::optional<bool> is_train) {
  return invoke(op, inputs, CallOptions::of(attrs), out, is_train);
}

std::vector<NDArray> invoke(const OpDef& op, const std::vector<NDArray>& inputs,
                            const CallOptions& options, const std::vector<NDArray>& out,
                            std::optional<bool> is_train) {
  CallMemory<8 * sizeof(NDArray)> memory;
  Results r(memory.get());
  run_call(op, inputs, options, out, is_train, r);
  return {std::make_move_iterator(r.results.begin()), std::make_move_iterator(r.results.end())};
}

ArrayOp::ArrayOp(const char* name) : op_(&OpRegistry::global().get(name)) {}

NDArray ArrayOp::run_one(std::span<const NDArray> inputs, const CallOptions& options,
                         const NDArray& out) const {
  CallMemory<8 * sizeof(NDArray)> memory;
  Results r(memory.get());
  run_call(*op_, without_undefined_end(inputs), options, {&out, out.defined() ? 1U : 0U}, {}, r);
  return std::move(r.results.front());
}

std::vector<NDArray> ArrayOp::run_all(std::span<const NDArray> inputs, const CallOptions& options,
                                      std::span<const NDArray> out) const {
  CallMemory<8 * sizeof(NDArray)> memory;
  Results r(memory.get());
  run_call(*op_, without_undefined_end(inputs), options, out, {}, r);
  return {std::make_move_iterator(r.results.begin()), std::make_move_iterator(r.results.end())};
}

namespace {

/// The number of an operator between an array and a number.
struct Scalar {
  std::optional<double> scalar;
  AttrDict attr = {};
  template <class F>
  void each(F&& f) const {
    f("scalar", scalar);
  }
};

/// `same` is the operator for arrays of one shape, which may write over its input.
NDArray with_array(const ArrayOp& same, const ArrayOp& op, const NDArray& a, const NDArray& b,
                   const NDArray& out = {}) {
  return (a.shape() == b.shape() ? same : op).one({a, b}, NoOptions{}, out);
}
NDArray with_number(const ArrayOp& op, const NDArray& a, double b, const NDArray& out = {}) {
  return op.one({a}, Scalar{b}, out);
}

}  // namespace

// The operator of an operator symbol, looked up at its first use.
#define SYMBIND_OP(name)           \
  []() -> const ArrayOp& {         \
    static const ArrayOp op(name); \
    return op;                     \
  }()
#define SYMBIND_ARRAY_OPERATOR(sign, same, op, scalar, reverse) \
  NDArray operator sign(const NDArray& a, const NDArray& b) {   \
    return with_array(SYMBIND_OP(same), SYMBIND_OP(op), a, b);  \
  }                                                             \
  NDArray operator sign(const NDArray& a, double b) {           \
    return with_number(SYMBIND_OP(scalar), a, b);               \
  }                                                             \
  NDArray operator sign(double a, const NDArray& b) {           \
    return with_number(SYMBIND_OP(reverse), b, a);              \
  }
#define SYMBIND_ARITHMETIC(sign, same, op, scalar, reverse)                           \
  SYMBIND_ARRAY_OPERATOR(sign, same, op, scalar, reverse)                             \
  NDArray& NDArray::operator sign##=(const NDArray& other) {                          \
    return *this = with_array(SYMBIND_OP(same), SYMBIND_OP(op), *this, other, *this); \
  }                                                                                   \
  NDArray& NDArray::operator sign##=(double other) {                                  \
    return *this = with_number(SYMBIND_OP(scalar), *this, other, *this);              \
  }
SYMBIND_ARITHMETIC(+, "elemwise_add", "broadcast_add", "_plus_scalar", "_plus_scalar")
SYMBIND_ARITHMETIC(-, "elemwise_sub", "broadcast_sub", "_minus_scalar", "_rminus_scalar")
SYMBIND_ARITHMETIC(*, "elemwise_mul", "broadcast_mul", "_mul_scalar", "_mul_scalar")
SYMBIND_ARITHMETIC(/, "elemwise_div", "broadcast_div", "_div_scalar", "_rdiv_scalar")
SYMBIND_ARRAY_OPERATOR(<, "_lesser", "broadcast_lesser", "_lesser_scalar", "_greater_scalar")
SYMBIND_ARRAY_OPERATOR(<=, "_lesser_equal", "broadcast_lesser_equal", "_lesser_equal_scalar",
                       "_greater_equal_scalar")
SYMBIND_ARRAY_OPERATOR(>, "_greater", "broadcast_greater", "_greater_scalar", "_lesser_scalar")
SYMBIND_ARRAY_OPERATOR(>=, "_greater_equal", "broadcast_greater_equal", "_greater_equal_scalar",
                       "_lesser_equal_scalar")
#undef SYMBIND_ARITHMETIC
#undef SYMBIND_ARRAY_OPERATOR
NDArray operator-(const NDArray& a) { return with_number(SYMBIND_OP("_mul_scalar"), a, -1.0); }
#undef SYMBIND_OP

}  // namespace symbind
