// LARS: descent whose rate is scaled, for each weight but biases and those of normalisations, by
// the norms of weight and gradient: multi_sum_sq, multi_lars, preloaded_multi_sgd_update and its
// variants.
//
// Decided here: with momentum_correction the momentum follows a change of the rate, in the first
// group of weights updated after it; MXNet compares with the last rate queried.
#include <symbind/executor.h>

#include "optimizer/builtin.h"

namespace symbind {
namespace {

class Lars : public MomentumOptimizer {
 public:
  Lars() : MomentumOptimizer("SGD optimizer", "sgd_mom_update") { aggregate_num = aggregation(4); }
  std::string class_name() const override { return "LARS"; }
  bool needs_whole_arrays() const override { return true; }

  void describe(Fields& f) override {
    MomentumOptimizer::describe(f);
    f.param("lazy_update", lazy_update_, "For sparse gradients; without effect.");
    f.param("eta", eta_, "The coefficient of the rates.");
    f.param("eps", eps_, "Keeps the division finite.");
    f.param("momentum_correction", momentum_correction_, "Whether momentum follows the rate.");
    f.attribute("skip", skip_, "Without effect.");
    f.attribute("last_lr", last_lr_, "The rate before this one.");
    f.attribute("cur_lr", cur_lr_, "The rate now.");
  }

  std::string_view update_op(const NDArray&, const OptimizerState&) const override { return {}; }
  void update(const Key& key, NDArray weight, NDArray grad, const OptimizerState& state) override {
    update_group({&key, 1}, {&weight, 1}, {&grad, 1}, {&state, 1});
  }

  void update_group(std::span<const Key> keys, std::span<const NDArray> weights,
                    std::span<const NDArray> grads,
                    std::span<const OptimizerState> states) override {
    for (const Key& key : keys) step_count(key);
    const std::vector<double> lrs = step_lrs(keys);
    const std::vector<std::size_t> order = scaled_first(keys);
    std::vector<float> rates, decays;
    std::vector<NDArray> inputs, outputs;
    for (const std::size_t i : order) {
      rates.push_back(static_cast<float>(lrs[i]));
      decays.push_back(static_cast<float>(step_wd(keys[i])));
      const std::vector<NDArray> one = update_inputs(weights[i], grads[i], states[i]);
      inputs.insert(inputs.end(), one.begin(), one.end());
      outputs.push_back(weights[i]);
    }
    const Shape shape{static_cast<std::int64_t>(keys.size())};
    const Context context = weights[0].context();
    inputs.push_back(NDArray::from_vector(rates, shape, context));
    inputs.push_back(NDArray::from_vector(decays, shape, context));
    scale(order, keys, weights, grads, inputs[inputs.size() - 2], inputs.back());
    AttrDict attrs = {{"num_weights", std::to_string(keys.size())},
                      {"rescale_grad", number_text(rescale_grad)},
                      {"clip_gradient", number_text(clip_value())}};
    if (momentum_ > 0) attrs["momentum"] = number_text(momentum_now());
    const std::string_view op = MomentumOptimizer::update_op(weights[0], states[0]);
    invoke("preloaded_multi_" + std::string(op), inputs, attrs, outputs);
  }

 protected:
  bool decays(const std::string& name) const override { return name.ends_with("_weight"); }

  double current_lr() override {
    if (cur_lr_) last_lr_ = cur_lr_;
    const double now = Optimizer::current_lr();
    if (!cur_lr_) last_lr_ = now;
    cur_lr_ = now;
    return now;
  }

 private:
  bool is_scaled(const Key& key) {
    const auto it = idx2name().find(key);
    const std::string name = it == idx2name().end() ? key_text(key) : it->second;
    return !name.ends_with("gamma") && !name.ends_with("beta") && !name.ends_with("bias");
  }

  std::vector<std::size_t> scaled_first(std::span<const Key> keys) {
    std::vector<std::size_t> order, rest;
    for (std::size_t i = 0; i < keys.size(); ++i) (is_scaled(keys[i]) ? order : rest).push_back(i);
    order.insert(order.end(), rest.begin(), rest.end());
    return order;
  }

  void scale(const std::vector<std::size_t>& order, std::span<const Key> keys,
             std::span<const NDArray> weights, std::span<const NDArray> grads, const NDArray& rates,
             const NDArray& decays) {
    std::vector<NDArray> w, g;
    for (const std::size_t i : order) {
      if (!is_scaled(keys[i])) break;
      w.push_back(weights[i]);
      g.push_back(grads[i]);
    }
    if (w.empty()) return;
    const auto n = static_cast<std::int64_t>(w.size());
    const AttrDict count = {{"num_arrays", std::to_string(n)}};
    const NDArray scaled = rates.slice(0, n);
    invoke("multi_lars",
           {scaled, invoke("multi_sum_sq", w, count).front(),
            invoke("multi_sum_sq", g, count).front(), decays.slice(0, n)},
           {{"eta", number_text(eta_)},
            {"eps", number_text(eps_)},
            {"rescale_grad", number_text(rescale_grad)}},
           {scaled});
  }

  double momentum_now() const {
    const double last = last_lr_.value_or(0);
    return momentum_correction_ && last != 0 ? momentum_ * (*cur_lr_ / last) : momentum_;
  }

  bool lazy_update_ = true, momentum_correction_ = true;
  double eta_ = 0.001, eps_ = 0;
  std::int64_t skip_ = 0;
  std::optional<double> last_lr_, cur_lr_;
};

}  // namespace

std::shared_ptr<Optimizer> make_lars() { return std::make_shared<Lars>(); }

}  // namespace symbind
