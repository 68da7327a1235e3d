// Large-batch descent: gradients of batch_scale updates are summed, then one step of SGD with a
// rate that warms up, or that LARS chooses.
//
// Decided here: the rate is read before the update is counted, as in MXNet. A gradient is
// copied when a sum begins; MXNet keeps the array itself, which the next backward overwrites. The
// sums are an attribute of the optimizer, `cumgrads` as in MXNet, and therefore part of its pickle
// and of fit's checkpoints. Arrays in a sum are never overwritten.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <symbind/executor.h>
#include <symbind/log.h>

#include "base/check.h"
#include "optimizer/builtin.h"

namespace symbind {
namespace {

class Lbsgd : public MomentumOptimizer {
 public:
  Lbsgd() : MomentumOptimizer("SGD optimizer", "sgd_mom_update") {}
  std::string class_name() const override { return "LBSGD"; }
  bool needs_whole_arrays() const override { return true; }

  void describe(Fields& f) override {
    MomentumOptimizer::describe(f);
    f.param("warmup_strategy", warmup_strategy_, "linear, power2, sqrt or lars.");
    f.param("warmup_epochs", warmup_epochs_, "Epochs until the rate is batch_scale times higher.");
    f.param("batch_scale", batch_scale_, "Updates that are summed into one.").at_least(1);
    f.param("updates_per_epoch", updates_per_epoch_, "Updates per epoch.");
    f.params.field("begin_epoch", begin_epoch_, "The epoch that training starts with.");
    f.attribute("init_updates", init_updates_, "The count of updates to start from.");
    f.param("num_epochs", num_epochs_, "Epochs in all; without effect.");
    f.attribute("lbmult", lbmult_, "Without effect.");
    f.attribute("adaptive", adaptive_, "Without effect.");
    f.attribute("admult", admult_, "Without effect.");
    f.dict({"cumgrads", [this] { return sums_value(); },
            [this](const StateValue& saved) { set_sums(saved); }});
  }

  // MXNet's LBSGD keeps the order of the base class: (weight32, momentum).
  // NOLINTBEGIN(bugprone-parent-virtual-call): SGD, between the two, has the other order
  OptimizerState create_state_multi_precision(const Key& key, const NDArray& weight) override {
    return Optimizer::create_state_multi_precision(key, weight);
  }
  void update_multi_precision(const Key& key, NDArray weight, NDArray grad,
                              const OptimizerState& state) override {
    Optimizer::update_multi_precision(key, weight, grad, state);
  }
  bool takes_state(const OptimizerState& state) const override {
    return Optimizer::takes_state(state);
  }
  // NOLINTEND(bugprone-parent-virtual-call)

  std::string_view update_op(const NDArray&, const OptimizerState&) const override { return {}; }
  void update(const Key& key, NDArray weight, NDArray grad, const OptimizerState& state) override {
    double rate = step_lr(key);
    const double decay = step_wd(key);
    step_count(key);
    Sum& sum = sums_.try_emplace(key, Sum{.gradient = {}, .count = init_updates_}).first->second;
    sum.gradient = sum.gradient.defined() ? sum_with(sum.gradient, grad, key) : grad.copy();
    if (++sum.count % batch_scale_ != 0) return;
    const NDArray mean = sum.gradient / static_cast<double>(batch_scale_);
    rate *= warmup_strategy_ == "lars" ? lars(weight, mean, decay) : warm_up(sum.count);
    sum.gradient = NDArray();
    AttrDict attrs;
    give([&attrs](std::string_view attr,
                  double value) { attrs.insert_or_assign(std::string(attr), number_text(value)); },
         rate, decay);
    invoke(MomentumOptimizer::update_op(weight, state), update_inputs(weight, mean, state), attrs,
           {weight});
  }

 protected:
  void on_configured() override {
    init_updates_ = begin_epoch_ * updates_per_epoch_;
    log_info("Running Large-Batch SGD Algorithm");
    log_info(fmt::format(
        "(Batch_scale={:f}, warmup_epochs={}, warmup_strategy={}, updates_per_epoch={})",
        static_cast<double>(batch_scale_), warmup_epochs_, warmup_strategy_, updates_per_epoch_));
  }

 private:
  struct Sum {
    NDArray gradient;
    std::int64_t count = 0;
  };

  static NDArray sum_with(const NDArray& sum, const NDArray& grad, const Key& key) {
    check(sum.shape() == grad.shape() && sum.dtype() == grad.dtype(), ErrorKind::kShape,
          "LBSGD: the sum of gradients of {} is {} {}, and the gradient {} {}", key_text(key),
          dtype_name(sum.dtype()), sum.shape().str(), dtype_name(grad.dtype()), grad.shape().str());
    return sum.as_in_context(grad.context()) + grad;
  }

  /// {key: {'cum_grad': array, or 0 where a sum ended, 'num_cums': count}}
  StateValue sums_value() const {
    StateValue all = StateValue::dict();
    for (const auto& [key, sum] : sums_) {
      StateValue one = StateValue::dict();
      one.add("cum_grad", sum.gradient.defined() ? StateValue::of(sum.gradient)
                                                 : StateValue::of(std::int64_t{0}));
      one.add("num_cums", StateValue::of(sum.count));
      all.add(StateValue::of(key), std::move(one));
    }
    return all;
  }
  void set_sums(const StateValue& saved) {
    constexpr const char* kWhat = "cumgrads of a saved LBSGD";
    check(saved.kind == StateValue::Kind::kDict, ErrorKind::kIo, "{}: not a dictionary", kWhat);
    std::map<Key, Sum> sums;
    for (std::size_t i = 0; i + 1 < saved.items.size(); i += 2) {
      const StateValue& one = saved.items[i + 1];
      Sum& sum = sums[saved_key(saved.items[i])];
      sum.count = saved_count(one.at("num_cums", kWhat), "num_cums");
      const StateValue& gradient = one.at("cum_grad", kWhat);
      if (gradient.kind == StateValue::Kind::kArray) sum.gradient = gradient.array;
    }
    sums_ = std::move(sums);
  }

  double warm_up(std::int64_t count) const {
    const auto n = static_cast<double>(count);
    const auto all = static_cast<double>(warmup_epochs_ * updates_per_epoch_);
    const auto most = static_cast<double>(batch_scale_);
    if (n >= all) return most;
    if (all <= 1) return 1;
    if (warmup_strategy_ == "linear") return 1 + (most - 1) * n / all;
    if (warmup_strategy_ == "power2") return 1 + (most - 1) * (n * n) / (all * all);
    if (warmup_strategy_ == "sqrt") return 1 + (most - 1) * std::sqrt(n / all);
    return 1;
  }
  static double lars(const NDArray& weight, const NDArray& grad, double decay) {
    const double w = op("sum", weight * weight).scalar(), g = op("sum", grad * grad).scalar();
    return std::clamp(std::sqrt(w / (g + decay * w + 1e-18)), 0.01, 100.0);
  }

  std::string warmup_strategy_ = "linear";
  std::int64_t warmup_epochs_ = 5, batch_scale_ = 1, updates_per_epoch_ = 32, begin_epoch_ = 0;
  std::int64_t num_epochs_ = 60, init_updates_ = 0, lbmult_ = 1, admult_ = 1;
  bool adaptive_ = false;
  std::map<Key, Sum> sums_;
};

}  // namespace

std::shared_ptr<Optimizer> make_lbsgd() { return std::make_shared<Lbsgd>(); }

}  // namespace symbind
