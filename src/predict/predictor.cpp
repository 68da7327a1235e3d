// A call: find the plan of its shapes, take a lane, set its open places to the caller's inputs and
// to new outputs, run. Inputs are read in place if they have the network's type and device.

#include "predict/predictor_impl.h"

#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <symbind/model.h>
#include <symbind/runtime.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/parallel.h"
#include "base/settings.h"
#include "base/threads_scope.h"
#include "device/runtime.h"
#include "ndarray/storage.h"

namespace symbind {
namespace {

int at_least(int least, int value, const char* what) {
  check(value >= least, "{} is {}; it must be at least {}", what, value, least);
  return value;
}

/// Names without "arg:" or "aux:" are skipped, as MXNet does in a checkpoint.
Predictor from_named(const Symbol& symbol, const NamedArrays& named,
                     const PredictorOptions& options) {
  NDArrayMap args, aux;
  for (std::size_t i = 0; i < named.names.size(); ++i) {
    const std::string& name = named.names[i];
    if (name.starts_with("arg:")) args[name.substr(4)] = named.arrays[i];
    if (name.starts_with("aux:")) aux[name.substr(4)] = named.arrays[i];
  }
  return Predictor(symbol, args, aux, options);
}

/// The input as an array the network can read, without a copy where that is possible.
NDArray on_device(const InputArray& given, Context context, DType dtype, const std::string& name) {
  if (given.is_host()) {
    check(given.dtype() != DType::kUnknown, ErrorKind::kType,
          "the dtype of input '{}' is not known", name);
    const bool aligned =
        reinterpret_cast<std::uintptr_t>(given.host()) % size_of(given.dtype()) == 0;
    if (given.dtype() == dtype && aligned && !in_gpu_memory(context)) {
      const std::size_t bytes = static_cast<std::size_t>(given.shape().size()) * size_of(dtype);
      return NDArray(Storage::wrap(const_cast<void*>(given.host()), bytes, context), given.shape(),
                     dtype);
    }
    const NDArray copy = NDArray::from_host(given.host(), given.shape(), given.dtype(), cpu());
    return copy.astype(dtype, false).as_in_context(context);
  }
  const NDArray& array = given.array();
  if (array.storage()->has_error()) array.wait_to_read();
  if (array.dtype() == dtype && array.context() == context) return array;
  return array.astype(dtype, false).as_in_context(context);
}

int checked_threads(int threads) {
  at_least(0, threads, "threads");
  check_limit(Limit::kThreads, threads, "a Predictor");
  return threads;
}

Signature signature_of(const Predictor::Impl::Inputs& inputs) {
  Signature signature;
  for (const InputArray& input : inputs)
    signature.push_back(input.defined() ? input.shape() : Shape::unknown());
  return signature;
}

}  // namespace

Predictor::Impl::Impl(const Symbol& symbol, const NDArrayMap& args, const NDArrayMap& aux,
                      const PredictorOptions& options)
    : network_(symbol, args, aux, options),
      threads_(checked_threads(options.threads) == 0 ? num_threads() : options.threads),
      plans_(static_cast<std::size_t>(at_least(1, options.max_plans, "max_plans"))),
      pool_(static_cast<std::size_t>(at_least(0, options.max_pool, "max_pool"))) {
  if (!options.input_shapes.empty()) planned(network_.signature(options.input_shapes));
}

std::shared_ptr<PlanEntry> Predictor::Impl::planned(const Signature& signature) const {
  const ThreadsScope threads(threads_);  // kernels are chosen for this number
  return plans_.get(network_, signature);
}

PredictorStats Predictor::Impl::stats() const {
  PredictorStats stats{.plans = static_cast<int>(plans_.size()), .plans_made = plans_.made()};
  pool_.describe(stats);
  return stats;
}

Predictor::Impl::Inputs Predictor::Impl::in_order(const InputMap& given) const {
  const std::vector<Network::Input>& inputs = network_.inputs();
  Inputs ordered(inputs.size(), NDArray());
  ShapeMap shapes;
  for (const auto& [name, input] : given) {
    check(input.defined(), "input '{}' is not an array (a null pointer, or NDArray())", name);
    shapes.emplace(name, input.shape());
  }
  network_.check_complete(network_.signature(shapes));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto it = given.find(inputs[i].name); it != given.end()) ordered[i] = it->second;
  return ordered;
}

Predictor::Impl::Inputs Predictor::Impl::in_order(const std::vector<InputArray>& given) const {
  const std::vector<std::string>& names = network_.input_names();
  check(given.size() == names.size(), "{} inputs were given, {} are needed: {}", given.size(),
        names.size(), fmt::join(names, ", "));
  InputMap named;
  for (std::size_t i = 0; i < names.size(); ++i) named.emplace(names[i], given[i]);
  return in_order(named);
}

PredictorRun::PredictorRun(const Predictor::Impl& predictor, const Predictor::Impl::Inputs& inputs)
    : entry_(predictor.planned(signature_of(inputs))),
      threads_(predictor.threads()),
      num_steps_(entry_->planned.plan->num_forward *
                 static_cast<std::size_t>(entry_->planned.plan->slices.count)) {
  const ThreadsScope threads(threads_);
  lease_.emplace(predictor.pool_, entry_, predictor.network());
  const PlannedShapes& planned = entry_->planned;
  const Network& network = predictor.network();
  std::vector<std::pair<std::size_t, NDArray>> arrays;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    const Network::Input& input = network.inputs()[i];
    arrays.emplace_back(input.argument, on_device(inputs[i], network.context(),
                                                  planned.input_types[i], input.name));
  }
  for (const TensorDesc& desc : planned.outputs)
    outputs_.push_back(NDArray(desc.shape, network.context(), desc.dtype));
  lease_->fill(arrays, outputs_);
}

void PredictorRun::run(std::size_t first, std::size_t last) {
  const ThreadsScope threads(threads_);
  lease_->run(first, last);
}

// The public class is a handle.

namespace {

const Predictor::Impl& made(const std::shared_ptr<const Predictor::Impl>& impl) {
  check(impl != nullptr, ErrorKind::kState,
        "the predictor is empty (made by Predictor(), moved from or closed)\n"
        "  fix:  make one from a checkpoint or from a symbol and parameters");
  return *impl;
}

std::vector<NDArray> run(const Predictor::Impl& impl, const Predictor::Impl::Inputs& inputs) {
  PredictorRun call(impl, inputs);
  call.run(0, call.num_steps());
  return std::move(call).outputs();
}

}  // namespace

Predictor::Predictor(const Symbol& symbol, const NDArrayMap& args, const NDArrayMap& aux,
                     const PredictorOptions& options) {
  settings::refresh();
  impl_ = std::make_shared<Impl>(symbol, args, aux, options);
}

Predictor Predictor::load(const std::string& prefix, int epoch, const PredictorOptions& options) {
  const Checkpoint saved = load_checkpoint(prefix, epoch);
  return Predictor(saved.symbol, saved.args, saved.aux, options);
}

Predictor Predictor::from_files(const std::string& symbol_path, const std::string& params_path,
                                const PredictorOptions& options) {
  return from_named(Symbol::load(symbol_path), symbind::load(params_path), options);
}

Predictor Predictor::from_memory(std::string_view symbol_json, std::span<const std::byte> params,
                                 const PredictorOptions& options) {
  return from_named(Symbol::load_json(symbol_json), load_frombuffer(params), options);
}

std::vector<NDArray> Predictor::predict(const InputMap& inputs) const {
  return run(made(impl_), made(impl_).in_order(inputs));
}
std::vector<NDArray> Predictor::predict(const std::vector<InputArray>& inputs) const {
  return run(made(impl_), made(impl_).in_order(inputs));
}
void Predictor::prepare(const ShapeMap& shapes) const {
  made(impl_).planned(made(impl_).network().signature(shapes));
}
std::vector<Shape> Predictor::output_shapes(const ShapeMap& shapes) const {
  std::vector<Shape> outputs;
  const auto entry = made(impl_).planned(made(impl_).network().signature(shapes));
  for (const TensorDesc& desc : entry->planned.outputs) outputs.push_back(desc.shape);
  return outputs;
}
const std::vector<std::string>& Predictor::input_names() const {
  return made(impl_).network().input_names();
}
const std::vector<std::string>& Predictor::label_names() const {
  return made(impl_).network().label_names();
}
const std::vector<std::string>& Predictor::output_names() const {
  return made(impl_).network().output_names();
}
const Symbol& Predictor::symbol() const { return made(impl_).network().symbol(); }
int Predictor::threads() const { return made(impl_).threads(); }
PredictorStats Predictor::stats() const { return made(impl_).stats(); }

}  // namespace symbind
