// Descent for delayed gradients (DCASGD) or with added noise (SGLD); and the optimizer of MXNet's
// tests.
//
//   DCASGD   m ← μm − lr·(g + wd·w + λg²(w − w')),  w' ← w,  w ← w + m;   w' the previous weight
//   SGLD     w ← w − lr/2·(g + wd·w) + N(0, lr)
//   Test     w ← w + rescale·g,  the state a copy of w; nothing is counted
//
// Decided here: DCASGD works with momentum, where MXNet's stops with an error.
#include <cmath>

#include <symbind/executor.h>

#include "optimizer/builtin.h"

namespace symbind {
namespace {

class Dcasgd : public Optimizer {
 public:
  std::string class_name() const override { return "DCASGD"; }
  void describe(Fields& f) override {
    Optimizer::describe(f);
    f.param("momentum", momentum_, "The share of the last step that is kept.");
    f.param("lamda", lamda_, "The weight of the delay's compensation.");
    f.empty_dict("weight_previous");
  }
  OptimizerState create_state(const Key&, const NDArray& weight) override {
    const OptimizerState none;
    return OptimizerState(
        {momentum_ == 0 ? none : OptimizerState(zeros_like(weight)), weight.copy()});
  }
  void update(const Key& key, NDArray weight, NDArray grad, const OptimizerState& state) override {
    step_count(key);
    const double rate = step_lr(key), decay = step_wd(key);
    const NDArray g = prepared(grad);
    NDArray previous = state.array(1);
    const NDArray step = -rate * (g + decay * weight + lamda_ * g * g * (weight - previous));
    previous.set(weight);
    if (state.parts()[0].empty()) {
      weight += step;
      return;
    }
    NDArray moving = state.array(0);
    moving *= momentum_;
    moving += step;
    weight += moving;
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override {
    return state.is_sequence() && state.parts().size() == 2 && state.parts()[1].is_array() &&
           (momentum_ == 0 ? state.parts()[0].empty() : state.parts()[0].is_array());
  }

 private:
  double momentum_ = 0, lamda_ = 0.04;
};

class Sgld : public Optimizer {
 public:
  std::string class_name() const override { return "SGLD"; }
  void update(const Key& key, NDArray weight, NDArray grad, const OptimizerState&) override {
    step_count(key);
    const double rate = step_lr(key), decay = step_wd(key);
    weight += -rate / 2 * (prepared(grad) + decay * weight);
    const ContextScope scope(weight.context());
    weight += invoke("_random_normal", {},
                     {{"loc", "0"},
                      {"scale", number_text(std::sqrt(rate))},
                      {"shape", weight.shape().str()},
                      {"dtype", std::string(dtype_name(weight.dtype()))}})
                  .front();
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override { return state.empty(); }
};

class TestOptimizer : public Optimizer {
 public:
  std::string class_name() const override { return "Test"; }
  OptimizerState create_state(const Key&, const NDArray& weight) override {
    return {zeros_like(weight)};
  }
  void update(const Key&, NDArray weight, NDArray grad, const OptimizerState& state) override {
    weight += grad * rescale_grad;
    NDArray(state.array()).set(weight);
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override { return state.is_array(); }
};

}  // namespace

std::shared_ptr<Optimizer> make_dcasgd() { return std::make_shared<Dcasgd>(); }
std::shared_ptr<Optimizer> make_sgld() { return std::make_shared<Sgld>(); }
std::shared_ptr<Optimizer> make_test() { return std::make_shared<TestOptimizer>(); }

}  // namespace symbind
