// What several optimizers use, and the list of all of them.
#include "optimizer/builtin.h"

#include <charconv>
#include <climits>

#include <fmt/format.h>
#include <symbind/executor.h>

#include "base/check.h"
#include "base/settings.h"

namespace symbind {

const std::vector<BuiltinOptimizer>& builtin_optimizers() {
  constexpr const char* kModule = "mxnet.optimizer.optimizer";
  static const std::vector<BuiltinOptimizer> all = {
      {"SGD", kModule, make_sgd},
      {"ccSGD", kModule, make_ccsgd},
      {"NAG", kModule, make_nag},
      {"Signum", kModule, make_signum},
      {"SGLD", kModule, make_sgld},
      {"DCASGD", kModule, make_dcasgd},
      {"LBSGD", kModule, make_lbsgd},
      {"LARS", kModule, make_lars},
      {"LAMB", kModule, make_lamb},
      {"Adam", kModule, make_adam},
      {"Adamax", kModule, make_adamax},
      {"Nadam", kModule, make_nadam},
      {"AdaGrad", kModule, make_adagrad},
      {"AdaDelta", kModule, make_adadelta},
      {"RMSProp", kModule, make_rmsprop},
      {"Ftrl", kModule, make_ftrl},
      {"FTML", kModule, make_ftml},
      {"Test", kModule, make_test},
      {"GroupAdaGrad", "mxnet.optimizer.contrib", make_group_adagrad},
  };
  return all;
}

Optimizer::Multipliers symbol_multipliers(const SymbolFacts& symbol, const std::string& attribute) {
  Optimizer::Multipliers found;
  for (const std::string& name : symbol.arguments) {
    const auto attrs = symbol.attrs.find(name);
    if (attrs == symbol.attrs.end()) continue;
    const auto text = attrs->second.find(attribute);
    if (text == attrs->second.end()) continue;
    const std::string& number = text->second;
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    check(error == std::errc() && end == number.data() + number.size(),
          "{} of argument '{}' is '{}', which is not a number", attribute, name, number);
    found[name] = value;
  }
  return found;
}

NDArray zeros_like(const NDArray& weight) {
  return NDArray::zeros(weight.shape(), weight.context(), weight.dtype());
}

OptimizerState zero_states(const NDArray& weight, int n) {
  std::vector<OptimizerState> states;
  for (int i = 0; i < n; ++i) states.emplace_back(zeros_like(weight));
  return OptimizerState(std::move(states));
}

bool is_arrays(const OptimizerState& state, std::size_t n) {
  if (!state.is_sequence() || state.parts().size() != n) return false;
  for (const OptimizerState& part : state.parts())
    if (!part.is_array()) return false;
  return true;
}

NDArray op(std::string_view name, const NDArray& array) { return invoke(name, {array}).front(); }

int aggregation(int by_default) {
  constexpr const char* kSetting = "MXNET_OPTIMIZER_AGGREGATION_SIZE";
  settings::refresh();
  return settings::text(kSetting).empty()
             ? by_default
             : static_cast<int>(settings::number(kSetting, INT_MIN, INT_MAX));
}

std::string number_text(double number) { return fmt::format("{}", number); }

std::string numbers_text(const std::vector<double>& numbers) {
  return fmt::format("({},)", fmt::join(numbers, ", "));
}

// ---- MomentumOptimizer --------------------------------------------------------------------------

void MomentumOptimizer::describe(Fields& f) {
  Optimizer::describe(f);
  f.param("momentum", momentum_, "The share of the last step that is kept.");
}

OptimizerState MomentumOptimizer::create_state(const Key&, const NDArray& weight) {
  if (momentum_ == 0) return {};
  return {zeros_like(weight)};
}

OptimizerState MomentumOptimizer::create_state_multi_precision(const Key& key,
                                                               const NDArray& weight) {
  if (is_mixed(weight)) {
    const NDArray master = weight.astype(DType::kFloat32);
    return OptimizerState({create_state(key, master), master});
  }
  warn_half(weight, who_);
  return create_state(key, weight);
}

void MomentumOptimizer::update_multi_precision(const Key& key, NDArray weight, NDArray grad,
                                               const OptimizerState& state) {
  update(key, std::move(weight), std::move(grad), state);
}

bool MomentumOptimizer::takes_plain_state(const OptimizerState& state) const {
  return state.is_array() || (state.empty() && momentum_ == 0);
}

bool MomentumOptimizer::takes_state(const OptimizerState& state) const {
  if (takes_plain_state(state)) return true;
  return multi_precision && state.is_sequence() && state.parts().size() == 2 &&
         takes_plain_state(state.parts()[0]) && state.parts()[1].is_array();
}

std::string_view MomentumOptimizer::update_op(const NDArray&, const OptimizerState& state) const {
  return (momentum_ > 0 ? momentum_ops_ : plain_ops_)[state.is_sequence() ? 1 : 0];
}

// If the momentum is set to 0, its array is not read.
std::vector<NDArray> MomentumOptimizer::update_inputs(const NDArray& weight, const NDArray& grad,
                                                      const OptimizerState& state) const {
  std::vector<NDArray> inputs = {weight, grad};
  const bool mixed = state.is_sequence();
  if (momentum_ > 0) inputs.push_back(mixed ? state.array(0) : state.array());
  if (mixed) inputs.push_back(state.array(1));
  return inputs;
}

void MomentumOptimizer::update_values(const Key& key, const UpdateValue& set) {
  step_count(key);
  give(set, step_lr(key), step_wd(key));
}

void MomentumOptimizer::give(const UpdateValue& set, double rate, double decay) const {
  set("lr", rate);
  set("wd", decay);
  set("rescale_grad", rescale_grad);
  set("clip_gradient", clip_value());
  if (momentum_ > 0) set("momentum", momentum_);
}

}  // namespace symbind
