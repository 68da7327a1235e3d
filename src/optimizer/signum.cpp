// Signum: steps of the rate's size along the sign of the momentum, or of the gradient without one.
//
// Decided here: wd_lh requires momentum; without it MXNet's operator refuses it, and so does this
// one, with the reason.
#include "base/check.h"
#include "optimizer/builtin.h"

namespace symbind {
namespace {

class Signum : public Optimizer {
 public:
  Signum() { lr = 0.01; }
  std::string class_name() const override { return "Signum"; }

  void describe(Fields& f) override {
    Optimizer::describe(f);
    f.param("momentum", momentum_, "The share of the last step that is kept.");
    f.param("wd_lh", wd_lh_, "Weight decay that is not part of the momentum.");
  }

  OptimizerState create_state(const Key&, const NDArray& weight) override {
    if (momentum_ == 0) return {};
    return {zeros_like(weight)};
  }

  std::string_view update_op(const NDArray& weight, const OptimizerState& state) const override {
    if (is_mixed(weight)) return "";
    check(!state.empty() || wd_lh_ == 0, "Signum: wd_lh needs a momentum; it is {} and momentum {}",
          wd_lh_, momentum_);
    return state.empty() ? "signsgd_update" : "signum_update";
  }

  void update_values(const Key& key, const UpdateValue& set) override {
    step_count(key);
    set("lr", step_lr(key));
    set("wd", step_wd(key));
    set("rescale_grad", rescale_grad);
    set("clip_gradient", clip_value());
    if (momentum_ == 0) return;
    set("momentum", std::max(momentum_, 0.0));
    set("wd_lh", wd_lh_);
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override {
    return momentum_ == 0 ? state.empty() : state.is_array();
  }

 private:
  double momentum_ = 0.9, wd_lh_ = 0;
};

}  // namespace

std::shared_ptr<Optimizer> make_signum() { return std::make_shared<Signum>(); }

}  // namespace symbind
