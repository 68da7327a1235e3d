#pragma once
// Learning rates that change with the number of updates.
//
// A scheduler maps the number of the newest update to a learning rate. Most have state, as MXNet's
// do: a call with an earlier update does not undo a change.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/detail/state_value.h>

namespace symbind {

/// The fields of an optimizer or scheduler, each named once. Parameters are what a constructor
/// takes by name; attributes are what scripts read and set on the object, and what a pickle of it
/// holds.
class Fields {
 public:
  /// A parameter that is also an attribute, by default of the same name.
  template <class T>
  AttrField& param(const std::string& name, T& value, const std::string& doc,
                   const std::string& attribute_name = {}) {
    attribute(attribute_name.empty() ? name : attribute_name, value, doc);
    return params.field(name, value, doc);
  }
  /// An attribute that no constructor takes: a count, a derived value.
  template <class T>
  void attribute(const std::string& name, T& value, const std::string& doc) {
    attributes.field(name, value, doc);
  }
  /// An attribute that is a dictionary in MXNet's class and empty in our pickles.
  void empty_dict(const std::string& name) { empty_dicts.push_back(name); }
  /// An attribute that is a dictionary: how it is read, and how it is set from a file, whose values
  /// `set` checks.
  struct Dict {
    std::string name;
    std::function<StateValue()> get;
    std::function<void(const StateValue&)> set;
  };
  void dict(Dict dict) { dicts.push_back(std::move(dict)); }
  /// The attribute called `name`, or null.
  AttrField* find(std::string_view name);

  AttrVisitor params, attributes;
  std::vector<std::string> empty_dicts;
  std::vector<Dict> dicts;
};

/// Parameters of every scheduler: the base rate and the warm-up.
struct WarmUp {
  double base_lr = 0.01;               ///< the rate it starts from
  std::int64_t warmup_steps = 0;       ///< updates before it starts
  double warmup_begin_lr = 0;          ///< the rate of the first of them
  std::string warmup_mode = "linear";  ///< "linear" rises to base_lr, "constant" stays
};

/// A learning rate by number of updates. Derive and override operator(), or use FunctionScheduler.
class LRScheduler {
 public:
  explicit LRScheduler(const WarmUp& warm_up = {});
  LRScheduler(const LRScheduler&) = default;
  LRScheduler& operator=(const LRScheduler&) = default;
  virtual ~LRScheduler() = default;

  /// The rate of update `num_update`.
  virtual double operator()(std::int64_t num_update) = 0;
  /// The rate an optimizer starts with; it may be set at any time.
  virtual double base_lr() const { return base_lr_; }
  virtual void set_base_lr(double lr) { base_lr_ = lr; }
  /// fit calls it after every epoch with the values of the validation metric, or without validation
  /// data those of the training metric.
  virtual void observe(const std::vector<std::pair<std::string, double>>& /*values*/) {}
  /// MXNet's class name, e.g. "FactorScheduler"; a unique name for custom classes.
  virtual std::string class_name() const { return {}; }
  /// Names every field.
  virtual void describe(Fields& fields);
  /// The rate while num_update < warmup_steps.
  double get_warmup_lr(std::int64_t num_update) const;

 protected:
  double base_lr_, warmup_final_lr_, warmup_begin_lr_;
  std::int64_t warmup_steps_;
  std::string warmup_mode_;
};

/// Multiplies the rate by `factor` every `step` updates until it is below `stop_factor_lr`.
class FactorScheduler : public LRScheduler {
 public:
  explicit FactorScheduler(std::int64_t step, double factor = 1, double stop_factor_lr = 1e-8,
                           const WarmUp& warm_up = {});
  double operator()(std::int64_t num_update) override;
  std::string class_name() const override { return "FactorScheduler"; }
  void describe(Fields& fields) override;

 private:
  std::int64_t step_, count_ = 0;
  double factor_, stop_factor_lr_;
};

/// Multiplies the rate by `factor` after each of the updates in `step`.
class MultiFactorScheduler : public LRScheduler {
 public:
  explicit MultiFactorScheduler(Tuple step, double factor = 1, const WarmUp& warm_up = {});
  double operator()(std::int64_t num_update) override;
  std::string class_name() const override { return "MultiFactorScheduler"; }
  void describe(Fields& fields) override;

 private:
  Tuple step_;
  std::int64_t cur_step_ind_ = 0, count_ = 0;
  double factor_;
};

/// final_lr + (base_lr − final_lr)·(1 − n/max_update)^pwr, n counted from the end of the warm-up.
class PolyScheduler : public LRScheduler {
 public:
  explicit PolyScheduler(std::int64_t max_update, double pwr = 2, double final_lr = 0,
                         const WarmUp& warm_up = {});
  double operator()(std::int64_t num_update) override;
  std::string class_name() const override { return "PolyScheduler"; }
  void describe(Fields& fields) override;

 private:
  std::int64_t max_update_, max_steps_;
  double power_, base_lr_orig_, final_lr_;
};

/// final_lr + (base_lr − final_lr)·(1 + cos(π·n/max_update))/2, n counted from the end of the
/// warm-up.
class CosineScheduler : public LRScheduler {
 public:
  explicit CosineScheduler(std::int64_t max_update, double final_lr = 0,
                           const WarmUp& warm_up = {});
  double operator()(std::int64_t num_update) override;
  std::string class_name() const override { return "CosineScheduler"; }
  void describe(Fields& fields) override;

 private:
  std::int64_t max_update_, max_steps_;
  double base_lr_orig_, final_lr_;
};

/// A straight line from base_lr at the end of the warm-up to final_lr at max_update; final_lr from
/// then on.
class LinearScheduler : public LRScheduler {
 public:
  explicit LinearScheduler(std::int64_t max_update, double final_lr = 0,
                           const WarmUp& warm_up = {});
  double operator()(std::int64_t num_update) override;
  std::string class_name() const override { return "LinearScheduler"; }
  void describe(Fields& fields) override;

 private:
  std::int64_t max_update_;
  double final_lr_;
};

struct OneCycleOptions {
  double max_lr = 0.01;           ///< the peak; an optimizer's learning_rate replaces it
  double pct_start = 0.3;         ///< the share of updates with a rising rate
  double div_factor = 25;         ///< the peak over the first rate
  double final_div_factor = 1e4;  ///< the first rate over the last
  std::string anneal = "cos";     ///< or "linear"
};

/// Rises once from max_lr/div_factor to max_lr, then falls once to far below the first rate.
class OneCycleScheduler : public LRScheduler {
 public:
  explicit OneCycleScheduler(std::int64_t max_update, const OneCycleOptions& options = {});
  double operator()(std::int64_t num_update) override;
  std::string class_name() const override { return "OneCycleScheduler"; }
  void describe(Fields& fields) override;

 private:
  std::int64_t max_update_;
  double pct_start_, div_factor_, final_div_factor_;
  std::string anneal_;
};

struct PlateauOptions {
  std::string metric = {};    ///< the value watched; empty: the metric's first
  std::string mode = "auto";  ///< "max", "min"; "auto" decides by its name
  double factor = 0.1;        ///< multiplies the rate
  int patience = 10;          ///< evaluations without improvement before it acts
  double min_delta = 0;       ///< what counts as an improvement
  int cooldown = 0;           ///< evaluations after a change that are not counted
  double min_lr = 0;          ///< the lowest rate
};

/// Multiplies the rate by `factor` when a metric did not improve for more than `patience` epochs.
class ReduceOnPlateauScheduler : public LRScheduler {
 public:
  explicit ReduceOnPlateauScheduler(const PlateauOptions& options = {}, const WarmUp& warm_up = {});
  double operator()(std::int64_t num_update) override;
  void observe(const std::vector<std::pair<std::string, double>>& values) override;
  std::string class_name() const override { return "ReduceOnPlateauScheduler"; }
  void describe(Fields& fields) override;

 private:
  void observe_one(const std::string& name, double value);
  std::string metric_, mode_;
  double factor_, min_delta_, min_lr_;
  double best_ = std::numeric_limits<double>::quiet_NaN();
  std::int64_t patience_, cooldown_, bad_ = 0, cooldown_left_ = 0;
};

/// A scheduler that is a function of the number of updates.
class FunctionScheduler : public LRScheduler {
 public:
  explicit FunctionScheduler(std::function<double(std::int64_t)> rate) : rate_(std::move(rate)) {}
  double operator()(std::int64_t num_update) override { return rate_(num_update); }

 private:
  std::function<double(std::int64_t)> rate_;
};

/// A built-in scheduler by MXNet's class name, with default fields; kName with the nearest names if
/// unknown.
std::shared_ptr<LRScheduler> make_lr_scheduler(std::string_view class_name);
/// The class names it knows.
const std::vector<std::string>& lr_scheduler_names();

}  // namespace symbind
