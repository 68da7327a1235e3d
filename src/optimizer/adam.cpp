// Adam, Adamax and Nadam: means of the gradient and of its square (or its maximum).
//
//   Adam     adam_update with lr·√(1−β₂ᵗ)/(1−β₁ᵗ)
//   Adamax   m ← β₁m + (1−β₁)g,  u ← max(β₂u, |g|),  w ← w − lr/(1−β₁ᵗ)·m/u
//   Nadam    Adam with Nesterov's momentum, warmed up by μ(t) = β₁(1 − 0.96^(t·decay)/2)
//
// Decided here: all weights share Nadam's product of momenta, and each of their updates advances
// it, as in MXNet; the results depend on this.
#include <cmath>

#include <symbind/executor.h>

#include "optimizer/builtin.h"

namespace symbind {
namespace {

class TwoMeans : public Optimizer {
 public:
  OptimizerState create_state(const Key&, const NDArray& weight) override {
    return zero_states(weight, 2);
  }
  void describe(Fields& f) override {
    Optimizer::describe(f);
    f.param("beta1", beta1_, "The share of the mean that is kept.");
    f.param("beta2", beta2_, "The share of the mean square that is kept.");
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override { return is_arrays(state, 2); }
  double count(const Key& key) {
    step_count(key);
    return static_cast<double>(count_of(key));
  }

  double beta1_ = 0.9, beta2_ = 0.999;
};

class Adam : public TwoMeans {
 public:
  Adam() { lr = 0.001; }
  std::string class_name() const override { return "Adam"; }

  void describe(Fields& f) override {
    TwoMeans::describe(f);
    f.param("epsilon", epsilon_, "Keeps the division finite.");
    f.param("lazy_update", lazy_update_, "For sparse gradients; without effect.");
  }

  std::string_view update_op(const NDArray& weight, const OptimizerState&) const override {
    return is_mixed(weight) ? "" : "adam_update";
  }

  void update_values(const Key& key, const UpdateValue& set) override {
    const double t = count(key);
    const double rate = step_lr(key);
    set("lr", rate * (std::sqrt(1 - std::pow(beta2_, t)) / (1 - std::pow(beta1_, t))));
    set("wd", step_wd(key));
    set("beta1", beta1_);
    set("beta2", beta2_);
    set("epsilon", epsilon_);
    set("rescale_grad", rescale_grad);
    set("clip_gradient", clip_value());
  }

 private:
  double epsilon_ = 1e-8;
  bool lazy_update_ = true;
};

class Adamax : public TwoMeans {
 public:
  Adamax() { lr = 0.002; }
  std::string class_name() const override { return "Adamax"; }

  void update(const Key& key, NDArray weight, NDArray grad, const OptimizerState& state) override {
    const double t = count(key);
    const double rate = step_lr(key) / (1 - std::pow(beta1_, t));
    const NDArray g = prepared(grad, step_wd(key), weight);
    NDArray mean = state.array(0), most = state.array(1);
    mean *= beta1_;
    mean += (1 - beta1_) * g;
    invoke("_maximum", {beta2_ * most, op("abs", g)}, {}, {most});
    weight -= rate * mean / most;
  }
};

class Nadam : public TwoMeans {
 public:
  Nadam() { lr = 0.001; }
  std::string class_name() const override { return "Nadam"; }

  void describe(Fields& f) override {
    TwoMeans::describe(f);
    f.param("epsilon", epsilon_, "Keeps the division finite.");
    f.param("schedule_decay", schedule_decay_, "How fast the momentum warms up.");
    f.attribute("m_schedule", m_schedule_, "The product of all momenta so far.");
  }

  void update(const Key& key, NDArray weight, NDArray grad, const OptimizerState& state) override {
    const double t = count(key);
    const double rate = step_lr(key);
    const NDArray g = prepared(grad, step_wd(key), weight);
    const double now = momentum_at(t), next = momentum_at(t + 1);
    m_schedule_ *= now;
    NDArray mean = state.array(0), square = state.array(1);
    mean *= beta1_;
    mean += (1 - beta1_) * g;
    square *= beta2_;
    square += (1 - beta2_) * g * g;
    const NDArray g_prime = g / (1 - m_schedule_);
    const NDArray mean_prime = mean / (1 - m_schedule_ * next);
    const NDArray square_prime = square / (1 - std::pow(beta2_, t));
    const NDArray step = (1 - now) * g_prime + next * mean_prime;
    weight -= rate * step / (op("sqrt", square_prime) + epsilon_);
  }

 private:
  double momentum_at(double t) const {
    return beta1_ * (1 - 0.5 * std::pow(0.96, t * schedule_decay_));
  }
  double epsilon_ = 1e-8, schedule_decay_ = 0.004, m_schedule_ = 1;
};

}  // namespace

std::shared_ptr<Optimizer> make_adam() { return std::make_shared<Adam>(); }
std::shared_ptr<Optimizer> make_adamax() { return std::make_shared<Adamax>(); }
std::shared_ptr<Optimizer> make_nadam() { return std::make_shared<Nadam>(); }

}  // namespace symbind
