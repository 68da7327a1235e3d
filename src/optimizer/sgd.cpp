// Gradient descent, with or without momentum: sgd_update, sgd_mom_update and their mixed-precision
// forms; several weights at once as multi_sgd_update and its kin.
//
// ccSGD is its old name and does the same.
#include <symbind/executor.h>

#include "optimizer/builtin.h"

namespace symbind {
namespace {

class Sgd : public MomentumOptimizer {
 public:
  explicit Sgd(const char* name = "SGD") : MomentumOptimizer("SGD optimizer"), name_(name) {
    aggregate_num = aggregation(4);
  }
  std::string class_name() const override { return name_; }

  void describe(Fields& f) override {
    MomentumOptimizer::describe(f);
    f.param("lazy_update", lazy_update_, "For sparse gradients; without effect.");
  }

  std::optional<UpdateCall> update_call(const Key&, const NDArray& weight, const NDArray& grad,
                                        const OptimizerState& state) override {
    return descent("sgd_mom_update", "sgd_update", weight, grad, state);
  }

  void update_values(const Key& key, const UpdateValue& set) override {
    step_count(key);
    give(set, step_lr(key), step_wd(key));
  }

  void update_group(std::span<const Key> keys, std::span<const NDArray> weights,
                    std::span<const NDArray> grads,
                    std::span<const OptimizerState> states) override {
    if (keys.size() == 1) return update(keys[0], weights[0], grads[0], states[0]);
    UpdateCall call;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      UpdateCall one = descent("sgd_mom_update", "sgd_update", weights[i], grads[i], states[i]);
      call.op = "multi_" + one.op;
      call.inputs.insert(call.inputs.end(), one.inputs.begin(), one.inputs.end());
      step_count(keys[i]);
    }
    std::vector<double> wds;
    for (const Key& key : keys) wds.push_back(step_wd(key));
    AttrDict attrs = {{"num_weights", std::to_string(keys.size())},
                      {"lrs", numbers_text(step_lrs(keys))},
                      {"wds", numbers_text(wds)},
                      {"rescale_grad", number_text(rescale_grad)},
                      {"clip_gradient", number_text(clip_value())}};
    if (momentum_ > 0) attrs["momentum"] = number_text(momentum_);
    invoke(call.op, call.inputs, attrs, {weights.begin(), weights.end()});
  }

 private:
  const char* name_;
  bool lazy_update_ = true;
};

}  // namespace

std::shared_ptr<Optimizer> make_sgd() { return std::make_shared<Sgd>(); }
std::shared_ptr<Optimizer> make_ccsgd() { return std::make_shared<Sgd>("ccSGD"); }

}  // namespace symbind
