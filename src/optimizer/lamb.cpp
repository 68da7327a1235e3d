// LAMB: Adam's direction with steps proportional to the weight's norm. It runs _multi_lamb_update
// and _multi_mp_lamb_update, which update one weight or many.
#include <algorithm>

#include <symbind/executor.h>

#include "optimizer/builtin.h"

namespace symbind {
namespace {

class Lamb : public Optimizer {
 public:
  Lamb() {
    lr = 0.001;
    constexpr int kMost = 45;
    aggregate_num = std::clamp(aggregation(kMost), 1, kMost);
  }
  std::string class_name() const override { return "LAMB"; }
  bool needs_whole_arrays() const override { return true; }

  void describe(Fields& f) override {
    Optimizer::describe(f);
    f.param("beta1", beta1_, "The share of the mean that is kept.");
    f.param("beta2", beta2_, "The share of the mean square that is kept.");
    f.param("epsilon", epsilon_, "Keeps the division finite.");
    f.param("lower_bound", lower_bound_, "The least norm of a weight.");
    f.param("upper_bound", upper_bound_, "The greatest norm of a weight.");
    f.param("bias_correction", bias_correction_, "Whether to correct for the states' start at 0.");
  }

  OptimizerState create_state(const Key&, const NDArray& weight) override {
    return zero_states(weight, 2);
  }

  void update(const Key& key, NDArray weight, NDArray grad, const OptimizerState& state) override {
    update_group({&key, 1}, {&weight, 1}, {&grad, 1}, {&state, 1});
  }
  void update_multi_precision(const Key& key, NDArray weight, NDArray grad,
                              const OptimizerState& state) override {
    update_group({&key, 1}, {&weight, 1}, {&grad, 1}, {&state, 1});
  }

  void update_group(std::span<const Key> keys, std::span<const NDArray> weights,
                    std::span<const NDArray> grads,
                    std::span<const OptimizerState> states) override {
    const bool mixed = is_mixed(weights[0]);
    std::vector<NDArray> inputs;
    std::vector<double> rates, decays, steps;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      step_count(keys[i]);
      steps.push_back(static_cast<double>(count_of(keys[i])));
      rates.push_back(step_lr(keys[i]));
      decays.push_back(step_wd(keys[i]));
      const OptimizerState& means = mixed ? states[i].part(1) : states[i];
      inputs.insert(inputs.end(), {weights[i], grads[i], means.array(0), means.array(1)});
      if (mixed) inputs.push_back(states[i].array(0));
    }
    AttrDict attrs = {{"learning_rates", numbers_text(rates)},
                      {"wds", numbers_text(decays)},
                      {"step_count", numbers_text(steps)},
                      {"num_tensors", std::to_string(keys.size())},
                      {"beta1", number_text(beta1_)},
                      {"beta2", number_text(beta2_)},
                      {"epsilon", number_text(epsilon_)},
                      {"rescale_grad", number_text(rescale_grad)},
                      {"clip_gradient", number_text(clip_value())},
                      {"bias_correction", bias_correction_ ? "True" : "False"}};
    if (lower_bound_.value_or(0) != 0) attrs["lower_bound"] = number_text(*lower_bound_);
    if (upper_bound_.value_or(0) != 0) attrs["upper_bound"] = number_text(*upper_bound_);
    invoke(mixed ? "_multi_mp_lamb_update" : "_multi_lamb_update", inputs, attrs,
           {weights.begin(), weights.end()});
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override { return is_arrays(state, 2); }

 private:
  double beta1_ = 0.9, beta2_ = 0.999, epsilon_ = 1e-6;
  std::optional<double> lower_bound_, upper_bound_;
  bool bias_correction_ = true;
};

}  // namespace

std::shared_ptr<Optimizer> make_lamb() { return std::make_shared<Lamb>(); }

}  // namespace symbind
