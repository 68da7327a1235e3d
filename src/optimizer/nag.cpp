// Nesterov's accelerated gradient: nag_mom_update, or plain descent without momentum.
#include "optimizer/builtin.h"

namespace symbind {
namespace {

class Nag : public MomentumOptimizer {
 public:
  Nag() : MomentumOptimizer("NAG optimizer") {}
  std::string class_name() const override { return "NAG"; }

  std::optional<UpdateCall> update_call(const Key&, const NDArray& weight, const NDArray& grad,
                                        const OptimizerState& state) override {
    return descent("nag_mom_update", "sgd_update", weight, grad, state);
  }

  void update_values(const Key& key, const UpdateValue& set) override {
    step_count(key);
    give(set, step_lr(key), step_wd(key));
  }
};

}  // namespace

std::shared_ptr<Optimizer> make_nag() { return std::make_shared<Nag>(); }

}  // namespace symbind
