#pragma once
// Executor: one bound network. Its arrays are the bound NDArrays themselves, always plain and
// current; its memory is one arena per device, planned at compilation.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <symbind/symbol.h>

namespace symbind {

struct OpDef;

struct ReshapeOptions {
  bool partial_shaping = false;  ///< arguments that were not named may change shape
  bool allow_up_sizing = false;  ///< arguments may grow (into fresh memory)
};

/// Gets an output's name and value after each operator ran.
using MonitorCallback = std::function<void(const std::string& name, const NDArray& value)>;

/// Memory and time figures of one executor, from the compiler.
struct PlanStats {
  std::size_t arena_bytes = 0;     ///< intermediates, over all devices
  std::size_t max_live_bytes = 0;  ///< no plan can need less
  int steps = 0;
  int reorders = 0;  ///< layout changes of activations and their gradients
};

class Executor {
 public:
  class Impl;
  Executor() = default;
  explicit Executor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  /// Runs the graph. Named arrays are copied into the bound arguments first.
  const std::vector<NDArray>& forward(bool is_train = false, const NDArrayMap& feed = {});
  /// Fills the gradient arrays. Heads that are losses need no head gradient.
  void backward(const std::vector<NDArray>& head_grads = {});
  void backward(const NDArrayMap& head_grads);

  const std::vector<NDArray>& outputs() const;
  const std::vector<NDArray>& arg_arrays() const;
  /// An undefined array where no gradient is computed.
  const std::vector<NDArray>& grad_arrays() const;
  const std::vector<NDArray>& aux_arrays() const;
  NDArrayMap arg_dict() const;
  NDArrayMap grad_dict() const;
  NDArrayMap aux_dict() const;
  NDArrayMap output_dict() const;

  /// Copies parameters in by name, casting; unknown names throw unless `allow_extra`.
  void copy_params_from(const NDArrayMap& args, const NDArrayMap& aux = {},
                        bool allow_extra = false);
  /// An executor for other input shapes over the same arrays and memory.
  Executor reshape(const ShapeMap& shapes, const ReshapeOptions& options = {}) const;
  /// From now on the callback receives every output (with `all` every input too); null removes it.
  void set_monitor_callback(MonitorCallback callback, bool all = false);

  /// Adds an update to run after backward in `step`: operator, arrays, attributes. Returns its
  /// number.
  int add_update(const std::string& op, const std::vector<NDArray>& inputs, const NDArray& out,
                 const AttrDict& attrs);
  /// Changes a per-call attribute (lr, wd, …) of update `number`.
  void set_update_value(int number, const std::string& attr, double value);
  /// forward(true), backward and the updates as one. On CUDA the whole is captured once and
  /// replayed.
  void step(const NDArrayMap& feed = {});

  const Symbol& symbol() const;
  /// The graph after the passes on symbols (common subexpressions merged if enabled).
  Symbol optimized_symbol() const;
  PlanStats stats() const;
  /// The compiled plan as text: steps, chosen and rejected kernels, layouts, memory.
  std::string plan_text() const;
  /// MXNet's debug text: ends with "Total N MB allocated" and the resource line.
  std::string debug_str() const;

  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

/// Runs one operator now. `out` names arrays to write; otherwise new ones are allocated. `is_train`
/// is the thread's mode unless given (symbind/autograd.h); while it records, the results are on the
/// tape.
std::vector<NDArray> invoke(std::string_view op, const std::vector<NDArray>& inputs,
                            const AttrDict& attrs = {}, const std::vector<NDArray>& out = {},
                            std::optional<bool> is_train = {});
/// The same with an operator from OpRegistry::global().get.
std::vector<NDArray> invoke(const OpDef& op, const std::vector<NDArray>& inputs,
                            const AttrDict& attrs = {}, const std::vector<NDArray>& out = {},
                            std::optional<bool> is_train = {});

}  // namespace symbind
