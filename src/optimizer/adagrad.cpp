// Steps divided by the accumulated size of the gradients.
//
//   AdaGrad       n ← n + g²,  w ← w − lr·(g/√(n + ε) + wd·w)
//   GroupAdaGrad  the same with one n for each row of a matrix: the mean of its g²; no weight decay
//   AdaDelta      n ← ρn + (1−ρ)g²,  δ = √(d + ε)/√(n + ε)·g,  d ← ρd + (1−ρ)δ²,  w ← w − δ − wd·w
//
// Decided here: AdaDelta rescales the gradient array itself, as MXNet's does: code that accumulates
// into it sees the difference.
#include <symbind/executor.h>

#include "base/check.h"
#include "optimizer/builtin.h"

namespace symbind {
namespace {

class AdaGrad : public Optimizer {
 public:
  std::string class_name() const override { return "AdaGrad"; }
  void describe(Fields& f) override {
    Optimizer::describe(f);
    f.param("eps", epsilon_, "Keeps the division finite.", "float_stable_eps");
  }
  OptimizerState create_state(const Key&, const NDArray& weight) override {
    return {zeros_like(weight)};
  }
  void update(const Key& key, NDArray weight, NDArray grad, const OptimizerState& state) override {
    step_count(key);
    const double rate = step_lr(key), decay = step_wd(key);
    const NDArray g = prepared(grad);
    NDArray history = state.array();
    history += op("square", g);
    weight += (g / op("sqrt", history + epsilon_) + weight * decay) * -rate;
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override { return state.is_array(); }

 private:
  double epsilon_ = 1e-7;
};

class GroupAdaGrad : public Optimizer {
 public:
  std::string class_name() const override { return "GroupAdaGrad"; }
  bool needs_whole_arrays() const override { return true; }
  void describe(Fields& f) override {
    Optimizer::describe(f);
    f.param("eps", epsilon_, "Keeps the division finite.", "float_stable_eps");
  }
  OptimizerState create_state(const Key& key, const NDArray& weight) override {
    check(weight.ndim() == 2, ErrorKind::kState,
          "GroupAdaGrad updates matrices; weight {} has shape {}", key_text(key),
          weight.shape().str());
    return {NDArray::zeros(Shape{weight.shape()[0], 1}, weight.context(), weight.dtype())};
  }
  void update(const Key& key, NDArray weight, NDArray grad, const OptimizerState& state) override {
    step_count(key);
    const double rate = step_lr(key);
    check(step_wd(key) == 0, ErrorKind::kState, "Weight decay is not supported for GroupAdaGrad");
    const NDArray g = prepared(grad);
    NDArray history = state.array();
    history += invoke("mean", {op("square", g)}, {{"axis", "1"}, {"keepdims", "True"}}).front();
    weight -= rate * g / op("sqrt", history + epsilon_);
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override { return state.is_array(); }

 private:
  double epsilon_ = 1e-5;
};

class AdaDelta : public Optimizer {
 public:
  std::string class_name() const override { return "AdaDelta"; }
  void describe(Fields& f) override {
    Optimizer::describe(f);
    f.param("rho", rho_, "The share of both means that is kept.");
    f.param("epsilon", epsilon_, "Keeps the division finite.");
  }
  OptimizerState create_state(const Key&, const NDArray& weight) override {
    return zero_states(weight, 2);
  }
  void update(const Key& key, NDArray weight, NDArray grad, const OptimizerState& state) override {
    const double decay = step_wd(key);
    step_count(key);
    grad *= rescale_grad;
    const NDArray g = clipped(grad);
    NDArray squares = state.array(0), deltas = state.array(1);
    squares *= rho_;
    squares += (1 - rho_) * g * g;
    const NDArray delta = op("sqrt", deltas + epsilon_) / op("sqrt", squares + epsilon_) * g;
    deltas *= rho_;
    deltas += (1 - rho_) * delta * delta;
    weight -= delta + decay * weight;
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override { return is_arrays(state, 2); }

 private:
  double rho_ = 0.9, epsilon_ = 1e-5;
};

}  // namespace

std::shared_ptr<Optimizer> make_adagrad() { return std::make_shared<AdaGrad>(); }
std::shared_ptr<Optimizer> make_group_adagrad() { return std::make_shared<GroupAdaGrad>(); }
std::shared_ptr<Optimizer> make_adadelta() { return std::make_shared<AdaDelta>(); }

}  // namespace symbind
