// The schedules of MXNet, operation by operation: scripts compare rates exactly.
//
// Decided here: the log lines are MXNet's to the letter, because people parse them.
#include <symbind/lr_scheduler.h>

#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <symbind/log.h>

#include "base/check.h"
#include "base/nearest.h"

namespace symbind {

AttrField* Fields::find(std::string_view name) {
  for (AttrField& field : attributes.fields())
    if (field.name == name) return &field;
  return nullptr;
}

LRScheduler::LRScheduler(const WarmUp& w)
    : base_lr_(w.base_lr),
      warmup_final_lr_(w.base_lr),
      warmup_begin_lr_(w.warmup_begin_lr),
      warmup_steps_(w.warmup_steps),
      warmup_mode_(w.warmup_mode) {
  check(warmup_begin_lr_ <= warmup_final_lr_,
        "Base lr has to be higher than warmup_begin_lr; they are {} and {}", base_lr_,
        warmup_begin_lr_);
  check(warmup_steps_ >= 0, "Warmup steps has to be positive or 0, not {}", warmup_steps_);
  check(warmup_mode_ == "linear" || warmup_mode_ == "constant",
        "Supports only linear and constant modes of warmup, not '{}'; {}", warmup_mode_,
        nearest_hint(warmup_mode_, {"linear", "constant"}));
}

void LRScheduler::describe(Fields& f) {
  f.param("base_lr", base_lr_, "The first rate; later the current one.");
  f.param("warmup_steps", warmup_steps_, "Updates before it starts.");
  f.attribute("warmup_final_lr", warmup_final_lr_, "The final rate of a linear warm-up.");
  f.param("warmup_begin_lr", warmup_begin_lr_, "The rate of the first update of a warm-up.");
  f.param("warmup_mode", warmup_mode_, "linear rises, constant stays.");
}

double LRScheduler::get_warmup_lr(std::int64_t num_update) const {
  check(num_update < warmup_steps_, ErrorKind::kState,
        "update {} is after the warm-up of {} updates", num_update, warmup_steps_);
  if (warmup_mode_ == "constant") return warmup_begin_lr_;
  check(warmup_mode_ == "linear", "Invalid warmup mode {}", warmup_mode_);
  const double increase = (warmup_final_lr_ - warmup_begin_lr_) * static_cast<double>(num_update) /
                          static_cast<double>(warmup_steps_);
  return warmup_begin_lr_ + increase;
}

namespace {

void check_step(std::int64_t step) {
  check(step >= 1, "Schedule step must be greater or equal than 1 round, not {}", step);
}
void check_factor(double factor) {
  check(factor <= 1, "Factor must be no more than 1 to make lr reduce, not {}", factor);
}
void check_max(std::int64_t max_update) {
  check(max_update >= 1, "maximum number of updates must be strictly positive, not {}", max_update);
}
/// The progress is divided by the updates between the warm-up and the end, so there must be some. A
/// warm-up that ends later than max_update stays at base_lr, as in MXNet.
void check_ramp(const char* scheduler, std::int64_t max_steps) {
  check(max_steps != 0,
        "{}: the warm-up ends with max_update, so no update remains to reach final_lr; give fewer "
        "warmup_steps or a larger max_update",
        scheduler);
}
void check_power(double power) {
  check(power >= 0, "PolyScheduler: pwr is {}; it must be 0 or more", power);
}
void log_change(std::int64_t num_update, double lr) {
  log_info(fmt::format("Update[{}]: Change learning rate to {:.5e}", num_update, lr));
}

}  // namespace

FactorScheduler::FactorScheduler(std::int64_t step, double factor, double stop_factor_lr,
                                 const WarmUp& warm_up)
    : LRScheduler(warm_up), step_(step), factor_(factor), stop_factor_lr_(stop_factor_lr) {
  check_step(step);
  check_factor(factor);
}

void FactorScheduler::describe(Fields& f) {
  LRScheduler::describe(f);
  f.param("step", step_, "Updates between two changes.");
  f.param("factor", factor_, "Multiplies the rate.");
  f.param("stop_factor_lr", stop_factor_lr_, "The lowest rate.");
  f.attribute("count", count_, "The update of the last change.");
}

double FactorScheduler::operator()(std::int64_t num_update) {
  if (num_update < warmup_steps_) return get_warmup_lr(num_update);
  check_step(step_);
  constexpr std::int64_t kMostChanges = 1 << 20;  // at once; training changes it one by one
  check((num_update - count_) / step_ <= kMostChanges, ErrorKind::kState,
        "FactorScheduler: update {} is more than {} steps of {} after the last change, update {}",
        num_update, kMostChanges, step_, count_);
  while (num_update > count_ + step_) {
    count_ += step_;
    base_lr_ *= factor_;
    if (base_lr_ < stop_factor_lr_) {
      base_lr_ = stop_factor_lr_;
      log_info(fmt::format(
          "Update[{}]: now learning rate arrived at {:.5e}, will not change in the future",
          num_update, base_lr_));
    } else {
      log_change(num_update, base_lr_);
    }
  }
  return base_lr_;
}

MultiFactorScheduler::MultiFactorScheduler(Tuple step, double factor, const WarmUp& warm_up)
    : LRScheduler(warm_up), step_(std::move(step)), factor_(factor) {
  check(!step_.empty(), ErrorKind::kState, "MultiFactorScheduler needs at least one step");
  for (std::size_t i = 0; i < step_.size(); ++i) {
    check(i == 0 || step_[i] > step_[i - 1],
          "Schedule step must be an increasing integer list, not {}", tuple_text(step_));
    check_step(step_[i]);
  }
  check_factor(factor);
}

void MultiFactorScheduler::describe(Fields& f) {
  LRScheduler::describe(f);
  f.param("step", step_, "The updates after which the rate changes.");
  f.attribute("cur_step_ind", cur_step_ind_, "Changes made so far.");
  f.param("factor", factor_, "Multiplies the rate.");
  f.attribute("count", count_, "The update of the last change.");
}

double MultiFactorScheduler::operator()(std::int64_t num_update) {
  if (num_update < warmup_steps_) return get_warmup_lr(num_update);
  const auto steps = static_cast<std::int64_t>(step_.size());
  for (cur_step_ind_ = std::max<std::int64_t>(cur_step_ind_, 0); cur_step_ind_ < steps;) {
    const std::int64_t next = step_[static_cast<std::size_t>(cur_step_ind_)];
    if (num_update <= next) break;
    count_ = next;
    ++cur_step_ind_;
    base_lr_ *= factor_;
    log_change(num_update, base_lr_);
  }
  return base_lr_;
}

PolyScheduler::PolyScheduler(std::int64_t max_update, double pwr, double final_lr,
                             const WarmUp& warm_up)
    : LRScheduler(warm_up),
      max_update_(max_update),
      max_steps_(max_update - warm_up.warmup_steps),
      power_(pwr),
      base_lr_orig_(warm_up.base_lr),
      final_lr_(final_lr) {
  check_max(max_update);
  check_ramp("PolyScheduler", max_steps_);
  check_power(pwr);
}

void PolyScheduler::describe(Fields& f) {
  LRScheduler::describe(f);
  f.param("pwr", power_, "The exponent of the remaining share.", "power");
  f.attribute("base_lr_orig", base_lr_orig_, "The rate it started from.");
  f.param("max_update", max_update_, "The update that reaches final_lr.");
  f.param("final_lr", final_lr_, "The last rate.");
  f.attribute("max_steps", max_steps_, "Updates between the warm-up and the end.");
}

double PolyScheduler::operator()(std::int64_t num_update) {
  if (num_update < warmup_steps_) return get_warmup_lr(num_update);
  if (num_update <= max_update_) {
    check_ramp("PolyScheduler", max_steps_);
    check_power(power_);
    const double done =
        static_cast<double>(num_update - warmup_steps_) / static_cast<double>(max_steps_);
    base_lr_ = final_lr_ + (base_lr_orig_ - final_lr_) * std::pow(1 - done, power_);
  }
  return base_lr_;
}

CosineScheduler::CosineScheduler(std::int64_t max_update, double final_lr, const WarmUp& warm_up)
    : LRScheduler(warm_up),
      max_update_(max_update),
      max_steps_(max_update - warm_up.warmup_steps),
      base_lr_orig_(warm_up.base_lr),
      final_lr_(final_lr) {
  check_max(max_update);
  check_ramp("CosineScheduler", max_steps_);
}

void CosineScheduler::describe(Fields& f) {
  LRScheduler::describe(f);
  f.attribute("base_lr_orig", base_lr_orig_, "The rate it started from.");
  f.param("max_update", max_update_, "The update that reaches final_lr.");
  f.param("final_lr", final_lr_, "The last rate.");
  f.attribute("max_steps", max_steps_, "Updates between the warm-up and the end.");
}

double CosineScheduler::operator()(std::int64_t num_update) {
  if (num_update < warmup_steps_) return get_warmup_lr(num_update);
  if (num_update <= max_update_) {
    check_ramp("CosineScheduler", max_steps_);
    const double angle = std::numbers::pi * static_cast<double>(num_update - warmup_steps_) /
                         static_cast<double>(max_steps_);
    base_lr_ = final_lr_ + (base_lr_orig_ - final_lr_) * (1 + std::cos(angle)) / 2;
  }
  return base_lr_;
}

namespace {

struct Entry {
  const char* name;
  std::shared_ptr<LRScheduler> (*make)();
};

template <class S, auto... kArguments>
std::shared_ptr<LRScheduler> made() {
  return std::make_shared<S>(kArguments...);
}

const Entry kSchedulers[] = {
    {"FactorScheduler", &made<FactorScheduler, 1>},
    {"MultiFactorScheduler",
     [] {
       return std::static_pointer_cast<LRScheduler>(
           std::make_shared<MultiFactorScheduler>(Tuple{1}));
     }},
    {"PolyScheduler", &made<PolyScheduler, 1>},
    {"CosineScheduler", &made<CosineScheduler, 1>},
    {"LinearScheduler", &made<LinearScheduler, 1>},
    {"OneCycleScheduler", &made<OneCycleScheduler, 1>},
    {"ReduceOnPlateauScheduler", &made<ReduceOnPlateauScheduler>},
};

}  // namespace

const std::vector<std::string>& lr_scheduler_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Entry& entry : kSchedulers) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

std::shared_ptr<LRScheduler> make_lr_scheduler(std::string_view class_name) {
  for (const Entry& entry : kSchedulers)
    if (class_name == entry.name) return entry.make();
  fail(ErrorKind::kName, "there is no learning rate scheduler '{}'; {}", class_name,
       nearest_hint(class_name, lr_scheduler_names()));
}

}  // namespace symbind
