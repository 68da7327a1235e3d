// RMSProp: rmsprop_update (Tieleman and Hinton), or rmspropalex_update (Graves) when centred.
#include "optimizer/builtin.h"

namespace symbind {
namespace {

class RmsProp : public Optimizer {
 public:
  RmsProp() { lr = 0.001; }
  std::string class_name() const override { return "RMSProp"; }

  void describe(Fields& f) override {
    Optimizer::describe(f);
    f.param("gamma1", gamma1_, "The share of the mean square that is kept.");
    f.param("gamma2", gamma2_, "The share of the last step that is kept; only if centered.");
    f.param("epsilon", epsilon_, "Keeps the division finite.");
    f.param("centered", centered_, "Whether to subtract the squared mean from the mean square.");
    f.param("clip_weights", clip_weights_, "Weights are clipped to [-c, c].");
  }

  OptimizerState create_state(const Key&, const NDArray& weight) override {
    return zero_states(weight, centered_ ? 3 : 1);
  }

  std::string_view update_op(const NDArray& weight, const OptimizerState&) const override {
    return is_mixed(weight) ? "" : centered_ ? "rmspropalex_update" : "rmsprop_update";
  }

  void update_values(const Key& key, const UpdateValue& set) override {
    step_count(key);
    set("lr", step_lr(key));
    set("wd", step_wd(key));
    set("gamma1", gamma1_);
    if (centered_) set("gamma2", gamma2_);
    set("epsilon", epsilon_);
    set("rescale_grad", rescale_grad);
    set("clip_gradient", clip_value());
    set("clip_weights", clip_weights_.value_or(0) != 0 ? *clip_weights_ : -1);
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override {
    return is_arrays(state, centered_ ? 3 : 1);
  }

 private:
  double gamma1_ = 0.9, gamma2_ = 0.9, epsilon_ = 1e-8;
  bool centered_ = false;
  std::optional<double> clip_weights_;
};

}  // namespace

std::shared_ptr<Optimizer> make_rmsprop() { return std::make_shared<RmsProp>(); }

}  // namespace symbind
