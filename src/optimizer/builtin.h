#pragma once
// The built-in optimizers, one function per class, and shared helpers.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <symbind/optimizer.h>

namespace symbind {

std::shared_ptr<Optimizer> make_sgd();
std::shared_ptr<Optimizer> make_ccsgd();
std::shared_ptr<Optimizer> make_nag();
std::shared_ptr<Optimizer> make_signum();
std::shared_ptr<Optimizer> make_sgld();
std::shared_ptr<Optimizer> make_dcasgd();
std::shared_ptr<Optimizer> make_lbsgd();
std::shared_ptr<Optimizer> make_lars();
std::shared_ptr<Optimizer> make_lamb();
std::shared_ptr<Optimizer> make_adam();
std::shared_ptr<Optimizer> make_adamax();
std::shared_ptr<Optimizer> make_nadam();
std::shared_ptr<Optimizer> make_adagrad();
std::shared_ptr<Optimizer> make_group_adagrad();
std::shared_ptr<Optimizer> make_adadelta();
std::shared_ptr<Optimizer> make_rmsprop();
std::shared_ptr<Optimizer> make_ftrl();
std::shared_ptr<Optimizer> make_ftml();
std::shared_ptr<Optimizer> make_test();

/// One built-in optimizer: MXNet's module and class, and its factory.
struct BuiltinOptimizer {
  const char* class_name;
  const char* module;
  std::shared_ptr<Optimizer> (*make)();
};
const std::vector<BuiltinOptimizer>& builtin_optimizers();

/// `attribute` of the symbol's arguments, by name.
Optimizer::Multipliers symbol_multipliers(const SymbolFacts& symbol, const std::string& attribute);

/// Zeros like `weight`: what most states start as.
NDArray zeros_like(const NDArray& weight);
/// A tuple of `n` arrays of zeros.
OptimizerState zero_states(const NDArray& weight, int n);
/// Whether it is a tuple of n arrays.
bool is_arrays(const OptimizerState& state, std::size_t n);
/// One operator with one output.
NDArray op(std::string_view name, const NDArray& array);
/// How many weights to update at once: the environment's value, else this.
int aggregation(int by_default);
/// A number as an attribute, with every digit it needs.
std::string number_text(double number);
/// Numbers as an attribute: "(0.1, 0.2)".
std::string numbers_text(const std::vector<double>& numbers);

/// A key, and a count of updates, of a saved object; kIo for anything else.
Key saved_key(const StateValue& value);
std::int64_t saved_count(const StateValue& value, const std::string& what);

/// Gradient descent with optional momentum, the master copy last: (momentum, weight32).
class MomentumOptimizer : public Optimizer {
 public:
  void describe(Fields& fields) override;
  OptimizerState create_state(const Key& key, const NDArray& weight) override;
  OptimizerState create_state_multi_precision(const Key& key, const NDArray& weight) override;
  void update_multi_precision(const Key& key, NDArray weight, NDArray grad,
                              const OptimizerState& state) override;
  bool takes_state(const OptimizerState& state) const override;
  std::string_view update_op(const NDArray& weight, const OptimizerState& state) const override;
  std::vector<NDArray> update_inputs(const NDArray& weight, const NDArray& grad,
                                     const OptimizerState& state) const override;
  void update_values(const Key& key, const UpdateValue& set) override;

 protected:
  /// `who` opens warnings. Without momentum the operator is sgd_update; with a master copy its name
  /// gets the prefix mp_.
  MomentumOptimizer(const char* who, const std::string& momentum_op)
      : who_(who),
        plain_ops_{"sgd_update", "mp_sgd_update"},
        momentum_ops_{momentum_op, "mp_" + momentum_op} {}
  bool takes_plain_state(const OptimizerState& state) const override;
  /// lr, wd, rescale_grad, clip_gradient and, where there is one, momentum.
  void give(const UpdateValue& set, double rate, double decay) const;

  double momentum_ = 0;

 private:
  const char* who_;
  std::array<std::string, 2> plain_ops_, momentum_ops_;  ///< without and with a master copy
};

}  // namespace symbind
