// Follow the regularised leader (ftrl_update) and follow the moving leader (ftml_update).
//
// Decided here: Ftrl's learning rate does not replace a scheduler's, as in MXNet.
#include "optimizer/builtin.h"

namespace symbind {
namespace {

class Ftrl : public Optimizer {
 public:
  Ftrl() {
    lr = 0.1;
    keeps_scheduler_ = true;
  }
  std::string class_name() const override { return "Ftrl"; }
  void describe(Fields& f) override {
    Optimizer::describe(f);
    f.param("lamda1", lamda1_, "Weights whose z is smaller become 0.");
    f.param("beta", beta_, "Makes the first steps smaller.");
  }
  OptimizerState create_state(const Key&, const NDArray& weight) override {
    return zero_states(weight, 2);
  }
  std::string_view update_op(const NDArray& weight, const OptimizerState&) const override {
    return is_mixed(weight) ? "" : "ftrl_update";
  }
  void update_values(const Key& key, const UpdateValue& set) override {
    step_count(key);
    set("lr", step_lr(key));
    set("wd", step_wd(key));
    set("lamda1", lamda1_);
    set("beta", beta_);
    set("rescale_grad", rescale_grad);
    set("clip_gradient", clip_value());
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override { return is_arrays(state, 2); }

 private:
  double lamda1_ = 0.01, beta_ = 1;
};

class Ftml : public Optimizer {
 public:
  std::string class_name() const override { return "FTML"; }
  void describe(Fields& f) override {
    Optimizer::describe(f);
    f.param("beta1", beta1_, "The share of z that is kept.");
    f.param("beta2", beta2_, "The share of the mean square that is kept.");
    f.param("epsilon", epsilon_, "Keeps the division finite.");
  }
  OptimizerState create_state(const Key&, const NDArray& weight) override {
    return zero_states(weight, 3);
  }
  std::string_view update_op(const NDArray& weight, const OptimizerState&) const override {
    return is_mixed(weight) ? "" : "ftml_update";
  }
  void update_values(const Key& key, const UpdateValue& set) override {
    step_count(key);
    set("lr", step_lr(key));
    set("wd", step_wd(key));
    set("beta1", beta1_);
    set("beta2", beta2_);
    set("epsilon", epsilon_);
    set("t", static_cast<double>(count_of(key)));
    set("rescale_grad", rescale_grad);
    set("clip_grad", clip_value());
  }

 protected:
  bool takes_plain_state(const OptimizerState& state) const override { return is_arrays(state, 3); }

 private:
  double beta1_ = 0.6, beta2_ = 0.999, epsilon_ = 1e-8;
};

}  // namespace

std::shared_ptr<Optimizer> make_ftrl() { return std::make_shared<Ftrl>(); }
std::shared_ptr<Optimizer> make_ftml() { return std::make_shared<Ftml>(); }

}  // namespace symbind
