// Gradient descent, with or without momentum: sgd_update, sgd_mom_update and their mixed-precision
// forms; several weights at once as multi_sgd_update and its variants.
//
// ccSGD is its old name and does the same.
#include <symbind/executor.h>

#include "optimizer/builtin.h"

namespace symbind {
namespace {

class Sgd : public MomentumOptimizer {
 public:
  explicit Sgd(const char* name = "SGD")
      : MomentumOptimizer("SGD optimizer", "sgd_mom_update"), name_(name) {
    aggregate_num = aggregation(4);
  }
  std::string class_name() const override { return name_; }

  void describe(Fields& f) override {
    MomentumOptimizer::describe(f);
    f.param("lazy_update", lazy_update_, "For sparse gradients; without effect.");
  }

  void update_group(std::span<const Key> keys, std::span<const NDArray> weights,
                    std::span<const NDArray> grads,
                    std::span<const OptimizerState> states) override {
    if (keys.size() == 1) return update(keys[0], weights[0], grads[0], states[0]);
    std::vector<NDArray> inputs;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::vector<NDArray> one = update_inputs(weights[i], grads[i], states[i]);
      inputs.insert(inputs.end(), one.begin(), one.end());
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
    invoke("multi_" + std::string(update_op(weights[0], states[0])), inputs, attrs,
           {weights.begin(), weights.end()});
  }

 private:
  const char* name_;
  bool lazy_update_ = true;
};

}  // namespace

std::shared_ptr<Optimizer> make_sgd() { return std::make_shared<Sgd>(); }
std::shared_ptr<Optimizer> make_ccsgd() { return std::make_shared<Sgd>("ccSGD"); }

}  // namespace symbind
