#pragma once
// Optimizers and the Updater: from gradients to weights.
//
// An Optimizer holds hyper-parameters and counts updates; what it keeps per weight (momentum,
// means) is its state, which an Updater owns. Most optimizers are one operator per weight:
// update_op says which, update_values gives the numbers of this step, and update only combines the
// two, so a fused step can run exactly the same.

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <symbind/detail/key.h>
#include <symbind/lr_scheduler.h>
#include <symbind/ndarray.h>
#include <symbind/symbol.h>

namespace symbind {

/// What an optimizer keeps for one weight: nothing, an array, or a sequence of such.
class OptimizerState {
 public:
  OptimizerState() = default;
  OptimizerState(NDArray array) : value_(std::move(array)) {}  // NOLINT: it is one
  /// A tuple; `list` remembers that a file had it as a list.
  explicit OptimizerState(std::vector<OptimizerState> parts, bool list = false)
      : value_(std::move(parts)), list_(list) {}

  bool empty() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_array() const { return std::holds_alternative<NDArray>(value_); }
  bool is_sequence() const { return std::holds_alternative<std::vector<OptimizerState>>(value_); }
  bool is_list() const { return list_; }
  /// The array; kState if there is none.
  const NDArray& array() const;
  /// The parts; kState unless it is a sequence.
  const std::vector<OptimizerState>& parts() const;
  /// Part `i`, and the same as an array; kState if there is none.
  const OptimizerState& part(std::size_t i) const;
  const NDArray& array(std::size_t i) const { return part(i).array(); }
  /// Its arrays, one after the other.
  void append_arrays(std::vector<NDArray>& to) const;
  /// The same numbers on another device; arrays already there are kept.
  OptimizerState as_in_context(Context context) const;
  /// "nothing", "an array", "(an array, nothing)": for messages.
  std::string form() const;

 private:
  std::variant<std::monostate, NDArray, std::vector<OptimizerState>> value_;
  bool list_ = false;
};

/// A hyper-parameter as users write it.
class OptimizerParam {
 public:
  OptimizerParam(bool value) : value_(value) {}                                     // NOLINT
  OptimizerParam(int value) : value_(std::int64_t{value}) {}                        // NOLINT
  OptimizerParam(std::int64_t value) : value_(value) {}                             // NOLINT
  OptimizerParam(double value) : value_(value) {}                                   // NOLINT
  OptimizerParam(const char* value) : value_(std::string(value)) {}                 // NOLINT
  OptimizerParam(std::string value) : value_(std::move(value)) {}                   // NOLINT
  OptimizerParam(std::shared_ptr<LRScheduler> value) : value_(std::move(value)) {}  // NOLINT
  template <class S>
  requires std::is_base_of_v<LRScheduler, S> OptimizerParam(
      S scheduler)  // NOLINT: {"lr_scheduler", FactorScheduler(100, 0.9)}
      : value_(std::static_pointer_cast<LRScheduler>(std::make_shared<S>(std::move(scheduler)))) {}

  /// The scheduler, or null if this is something else.
  std::shared_ptr<LRScheduler> scheduler() const;
  /// As an attribute is written; empty for a scheduler.
  std::string text() const;

 private:
  std::variant<bool, std::int64_t, double, std::string, std::shared_ptr<LRScheduler>> value_;
};
/// {{"learning_rate", 0.1}, {"momentum", 0.9}}
using OptimizerParams = std::map<std::string, OptimizerParam>;
/// A learning rate of 0.01.
OptimizerParams default_optimizer_params();

/// Receives one number of an update: the operator's attribute and its value.
using UpdateValue = std::function<void(std::string_view attr, double value)>;

/// Names in a graph that an optimizer needs to know.
struct SymbolFacts {
  std::map<std::string, AttrDict> attrs;
  std::vector<std::string> arguments;
};

/// Replaces what an optimizer looks up about itself; for adaptors of classes in other languages.
struct OptimizerHooks {
  std::function<double(const Key&)> lr = {}, wd = {};
  std::function<void(const Key&)> count = {};
  std::function<void(const std::string&)> warn = {};
};

/// Hyper-parameters, multipliers, counts; derived classes add the mathematics.
class Optimizer {
 public:
  using Multipliers = std::map<Key, double>;
  using Names = std::map<Key, std::string>;
  using Counts = std::map<Key, std::int64_t>;

  Optimizer();
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// MXNet's class name: "SGD".
  virtual std::string class_name() const { return "Optimizer"; }
  /// Names every field; see Fields.
  virtual void describe(Fields& fields);
  /// The fields of this object, described once.
  Fields& fields();
  /// Sets parameters by name, then derived values; unknown names throw with the nearest. Call it
  /// once, before the first update.
  void configure(const OptimizerParams& params);
  /// The parameters' names by key and the graph they come from, as a constructor takes them: both
  /// determine the multipliers.
  void set_parameters(Names idx2name, const SymbolFacts& symbol);
  void set_parameters(Names idx2name, const Symbol& symbol);

  /// What to keep for `weight`.
  virtual OptimizerState create_state(const Key& key, const NDArray& weight);
  /// The same with a float32 master copy of a float16 weight, if multi_precision is on.
  virtual OptimizerState create_state_multi_precision(const Key& key, const NDArray& weight);
  /// One step. Counts it.
  virtual void update(const Key& key, NDArray weight, NDArray grad, const OptimizerState& state);
  virtual void update_multi_precision(const Key& key, NDArray weight, NDArray grad,
                                      const OptimizerState& state);
  /// One step of the rows whose gradient is not all 0; weight and states of other rows are
  /// unchanged, as MXNet does with row_sparse gradients. Counts it.
  void update_lazily(const Key& key, const NDArray& weight, const NDArray& grad,
                     const OptimizerState& state);
  /// One step of several weights of one type on one device; at most aggregate_num of them.
  virtual void update_group(std::span<const Key> keys, std::span<const NDArray> weights,
                            std::span<const NDArray> grads, std::span<const OptimizerState> states);
  /// The operator that update_multi_precision runs; empty if it takes several. Called at every
  /// step, because a hyper-parameter may select another.
  virtual std::string_view update_op(const NDArray& weight, const OptimizerState& state) const;
  /// Its inputs: the weight, which is its output too, the gradient, and the arrays of the state.
  virtual std::vector<NDArray> update_inputs(const NDArray& weight, const NDArray& grad,
                                             const OptimizerState& state) const;
  /// Counts one update of `key`, then returns each number its operator needs now: lr, wd, …
  virtual void update_values(const Key& key, const UpdateValue& set);
  /// Whether the update of a number depends on the whole array, as a norm does: then an array
  /// cannot be updated in parts.
  virtual bool needs_whole_arrays() const { return false; }
  /// Whether a state of this form could be one of this optimizer's own.
  virtual bool takes_state(const OptimizerState& state) const;

  /// The rate now: the scheduler's, or the one that was set.
  double learning_rate() const;
  /// Sets the rate; kState if a scheduler decides it.
  void set_learning_rate(double lr);
  /// Sets multipliers by name or key, overriding those of the symbol; replaces earlier ones.
  void set_lr_mult(const Multipliers& mult);
  void set_wd_mult(const Multipliers& mult);
  /// The rate and the decay of one weight, multipliers applied.
  double get_lr(const Key& key);
  double get_wd(const Key& key) const;

  /// Counts are kept per device; selects those of this device.
  void set_current_context(int device_id);
  /// Counts one update of `key`.
  void update_count(const Key& key);
  /// Updates of `key` on the current device.
  std::int64_t count_of(const Key& key) const;
  std::map<std::int64_t, Counts>& all_counts() { return all_counts_; }
  Counts& counts();

  Multipliers& lr_mult() { return lr_mult_; }
  Multipliers& wd_mult() { return wd_mult_; }
  Names& idx2name() { return idx2name_; }
  SymbolFacts& symbol_facts() { return symbol_; }
  const std::shared_ptr<LRScheduler>& lr_scheduler() const { return lr_scheduler_; }
  void set_lr_scheduler(std::shared_ptr<LRScheduler> s) { lr_scheduler_ = std::move(s); }
  void set_hooks(OptimizerHooks hooks) { hooks_ = std::move(hooks); }

  // May be read and set at any time.
  double rescale_grad = 1;              ///< multiplies every gradient
  std::optional<double> lr;             ///< 0.01 unless a scheduler decides
  double wd = 0;                        ///< weight decay
  std::optional<double> clip_gradient;  ///< gradients are clipped to [-c, c]
  bool multi_precision = false;         ///< float16 weights get a float32 master copy
  std::int64_t begin_num_update = 0;    ///< counts start here
  std::int64_t num_update = 0;          ///< the highest count so far
  std::int64_t aggregate_num = 0;       ///< weights per update_group; 0: one by one

 protected:
  /// Called after the parameters are set; derived classes compute their own values here.
  virtual void on_configured() {}
  /// Whether weight decay applies to a parameter of this name by default.
  virtual bool decays(const std::string& name) const;
  /// Whether this could be the state of a weight without master copy.
  virtual bool takes_plain_state(const OptimizerState& state) const;
  /// The rate now, before multipliers.
  virtual double current_lr();
  /// As get_lr, get_wd and update_count, or what replaces them.
  double step_lr(const Key& key);
  double step_wd(const Key& key);
  void step_count(const Key& key);
  /// The rates of several weights: calls the scheduler once.
  std::vector<double> step_lrs(std::span<const Key> keys);
  /// The value an operator gets: negative when there is no clipping.
  double clip_value() const { return clip_gradient.value_or(0) != 0 ? *clip_gradient : -1; }
  /// Whether `weight` has a master copy.
  bool is_mixed(const NDArray& weight) const;
  /// Warns once per weight that accumulating in float16 is inaccurate.
  void warn_half(const NDArray& weight, const char* who) const;
  /// The gradient rescaled, plus decay·weight, then clipped: a new array.
  NDArray prepared(const NDArray& grad) const;
  NDArray prepared(const NDArray& grad, double decay, const NDArray& weight) const;
  NDArray clipped(const NDArray& grad) const;
  /// A class with its own rate does not change the scheduler's.
  bool keeps_scheduler_ = false;

 private:
  std::shared_ptr<LRScheduler> lr_scheduler_;
  Multipliers lr_mult_, wd_mult_;
  Names idx2name_;
  SymbolFacts symbol_;
  std::map<std::int64_t, Counts> all_counts_;
  double multiplied(double value, const Key& key, const Multipliers& mult) const;

  std::int64_t device_ = 0;
  OptimizerHooks hooks_;
  std::unique_ptr<Fields> fields_;
};

/// An optimizer by name, in any case: "sgd", "Adam"; kName with the nearest names if unknown.
std::shared_ptr<Optimizer> create_optimizer(std::string_view name,
                                            const OptimizerParams& params = {});
/// The same before its parameters are set: call configure, or set its fields.
std::shared_ptr<Optimizer> make_optimizer(std::string_view name);
/// Registers a custom optimizer; replaces one of the same name.
void register_optimizer(std::string_view name, std::function<std::shared_ptr<Optimizer>()> make);
/// Every name that create_optimizer knows, lower case.
std::vector<std::string> optimizer_names();

/// Owns the states of many weights and updates them; what a store or a module calls.
class Updater {
 public:
  explicit Updater(std::shared_ptr<Optimizer> optimizer);

  /// One step of one weight. A state is made at its first use, or moved to the weight's device.
  void operator()(const Key& key, const NDArray& grad, const NDArray& weight);
  /// One step of several weights of one device, in groups if the optimizer supports them.
  void update(std::span<const Key> keys, std::span<const NDArray> grads,
              std::span<const NDArray> weights);
  /// The state of `key` for `weight`, made, moved or checked as needed.
  const OptimizerState& state_for(const Key& key, const NDArray& weight);

  /// The states as MXNet pickles them; with the optimizer itself on request.
  std::string get_states(bool dump_optimizer = false) const;
  /// Restores them, all or none. `source` opens messages. States of another optimizer throw; an
  /// optimizer stored with them replaces this one.
  void set_states(std::string_view bytes, const std::string& source = "optimizer states");
  void set_states(std::map<Key, OptimizerState> states,
                  const std::string& source = "optimizer states");

  const std::shared_ptr<Optimizer>& optimizer() const { return optimizer_; }
  const std::map<Key, OptimizerState>& states() const { return states_; }
  /// Whether a state is known to be on its weight's device; loaded ones are not.
  const std::map<Key, bool>& states_synced() const { return synced_; }
  /// For changing states; cached pointers to states must be looked up again.
  std::map<Key, OptimizerState>& edit_states() { return ++version_, states_; }
  std::map<Key, bool>& edit_states_synced() { return ++version_, synced_; }
  /// Grows whenever a state may have been made, replaced or moved.
  std::uint64_t version() const { return version_; }

 private:
  std::uint64_t version_ = 0;
  std::shared_ptr<Optimizer> optimizer_;
  std::map<Key, OptimizerState> states_;
  std::map<Key, bool> synced_;
};

}  // namespace symbind
