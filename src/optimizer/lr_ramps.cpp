// Rates that MXNet does not have: straight lines and cycles to a known end, and a rate that falls
// when a metric no longer improves.
//
// Decided here: the ramps have no state, so the rate of an update is always the same, and base_lr
// may be set at any time. A plateau is defined as in PyTorch's ReduceLROnPlateau, with an absolute
// min_delta.
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <symbind/log.h>
#include <symbind/lr_scheduler.h>

#include "base/better.h"
#include "base/check.h"
#include "base/nearest.h"

namespace symbind {
namespace {

/// From a to b as t goes from 0 to 1.
double between(double a, double b, double t, bool smooth) {
  return a + (b - a) * (smooth ? (1 - std::cos(std::numbers::pi * t)) / 2 : t);
}

/// What OneCycleScheduler divides by. Its fields can be set later, so each call checks them too.
void check_cycle(std::int64_t max_update, double pct_start, double div_factor,
                 double final_div_factor) {
  check(max_update >= 1, "OneCycleScheduler: max_update is {}; it must be 1 or more", max_update);
  check(pct_start > 0 && pct_start < 1,
        "OneCycleScheduler: pct_start is {}; it is the share of updates with a rising rate, in (0, "
        "1)",
        pct_start);
  check(div_factor >= 1 && final_div_factor > 0,
        "OneCycleScheduler: div_factor is {} and final_div_factor {}; the first must be 1 or more, "
        "the second > 0",
        div_factor, final_div_factor);
}

}  // namespace

LinearScheduler::LinearScheduler(std::int64_t max_update, double final_lr, const WarmUp& warm_up)
    : LRScheduler(warm_up), max_update_(max_update), final_lr_(final_lr) {
  check(max_update > warm_up.warmup_steps,
        "LinearScheduler: max_update is {}; it must be more than the {} updates of the warm-up",
        max_update, warm_up.warmup_steps);
  check(final_lr >= 0, "LinearScheduler: final_lr is {}; it must be 0 or more", final_lr);
}

void LinearScheduler::describe(Fields& f) {
  LRScheduler::describe(f);
  f.param("max_update", max_update_, "The update that reaches final_lr.");
  f.param("final_lr", final_lr_, "The last rate.");
}

double LinearScheduler::operator()(std::int64_t num_update) {
  if (num_update < warmup_steps_) {
    if (warmup_mode_ == "constant") return warmup_begin_lr_;
    const double share = static_cast<double>(num_update) / static_cast<double>(warmup_steps_);
    return between(warmup_begin_lr_, base_lr_, share, false);
  }
  if (num_update >= max_update_) return final_lr_;
  return between(base_lr_, final_lr_,
                 static_cast<double>(num_update - warmup_steps_) /
                     static_cast<double>(max_update_ - warmup_steps_),
                 false);
}

OneCycleScheduler::OneCycleScheduler(std::int64_t max_update, const OneCycleOptions& o)
    : LRScheduler(WarmUp{.base_lr = o.max_lr}),
      max_update_(max_update),
      pct_start_(o.pct_start),
      div_factor_(o.div_factor),
      final_div_factor_(o.final_div_factor),
      anneal_(o.anneal) {
  check_cycle(max_update, o.pct_start, o.div_factor, o.final_div_factor);
  check(anneal_ == "cos" || anneal_ == "linear", "OneCycleScheduler: there is no anneal '{}'; {}",
        anneal_, nearest_hint(anneal_, {"cos", "linear"}));
}

void OneCycleScheduler::describe(Fields& f) {
  LRScheduler::describe(f);
  f.param("max_update", max_update_, "The update that ends the cycle.");
  f.param("pct_start", pct_start_, "The share of updates with a rising rate.");
  f.param("div_factor", div_factor_, "base_lr over the first rate.");
  f.param("final_div_factor", final_div_factor_, "The first rate over the last.");
  f.param("anneal", anneal_, "cos or linear.");
}

double OneCycleScheduler::operator()(std::int64_t num_update) {
  check_cycle(max_update_, pct_start_, div_factor_, final_div_factor_);
  const double first = base_lr_ / div_factor_, last = first / final_div_factor_;
  const double end = static_cast<double>(max_update_), peak = pct_start_ * end;
  const double n = std::clamp(static_cast<double>(num_update), 0.0, end);
  return n <= peak ? between(first, base_lr_, n / peak, anneal_ == "cos")
                   : between(base_lr_, last, (n - peak) / (end - peak), anneal_ == "cos");
}

ReduceOnPlateauScheduler::ReduceOnPlateauScheduler(const PlateauOptions& o, const WarmUp& warm_up)
    : LRScheduler(warm_up),
      metric_(o.metric),
      mode_(o.mode),
      factor_(o.factor),
      min_delta_(o.min_delta),
      min_lr_(o.min_lr),
      patience_(o.patience),
      cooldown_(o.cooldown) {
  check(o.factor > 0 && o.factor < 1,
        "ReduceOnPlateauScheduler: factor is {}; it multiplies the rate and must be in (0, 1)",
        o.factor);
  check(o.patience >= 0 && o.cooldown >= 0,
        "ReduceOnPlateauScheduler: patience is {} and cooldown {}; both count evaluations and must "
        "be 0 or more",
        o.patience, o.cooldown);
  check(mode_ == "auto" || mode_ == "max" || mode_ == "min",
        "ReduceOnPlateauScheduler: there is no mode '{}'; modes: auto, max, min", mode_);
  check(o.min_lr >= 0, "ReduceOnPlateauScheduler: min_lr is {}; it must be 0 or more", o.min_lr);
}

void ReduceOnPlateauScheduler::describe(Fields& f) {
  LRScheduler::describe(f);
  f.param("metric", metric_, "The value watched; empty: the metric's first.");
  f.param("mode", mode_, "max, min, or auto, which decides by the metric's name.");
  f.param("factor", factor_, "Multiplies the rate.");
  f.param("patience", patience_, "Evaluations without improvement before it acts.");
  f.param("min_delta", min_delta_, "What counts as an improvement.");
  f.param("cooldown", cooldown_, "Evaluations after a change that are not counted.");
  f.param("min_lr", min_lr_, "The lowest rate.");
  f.attribute("best", best_, "The best value so far; NaN before the first.");
  f.attribute("num_bad", bad_, "Evaluations without improvement so far.");
  f.attribute("cooldown_left", cooldown_left_, "Evaluations that will not be counted.");
}

double ReduceOnPlateauScheduler::operator()(std::int64_t num_update) {
  return num_update < warmup_steps_ ? get_warmup_lr(num_update) : base_lr_;
}

void ReduceOnPlateauScheduler::observe(const std::vector<std::pair<std::string, double>>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) {
    names.push_back(name);
    if (metric_.empty() || name == metric_) return observe_one(name, value);
  }
  fail(ErrorKind::kName,
       "ReduceOnPlateauScheduler watches '{}', which is not evaluated; {} evaluated: {}", metric_,
       nearest_hint(metric_, names), fmt::join(names, ", "));
}

void ReduceOnPlateauScheduler::observe_one(const std::string& name, double value) {
  const double gain = more_is_better(mode_, name) ? value - best_ : best_ - value;
  if (std::isnan(best_) ? !std::isnan(value) : gain > min_delta_) {
    best_ = value;
    bad_ = 0;
  } else {
    ++bad_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_ = 0;
  }
  if (bad_ <= patience_) return;
  bad_ = 0;
  cooldown_left_ = cooldown_;
  const double lower = std::max(base_lr_ * factor_, min_lr_);
  if (lower >= base_lr_) return;
  base_lr_ = lower;
  log_info(fmt::format("{}={:f} is not better than {:f}: Change learning rate to {:.5e}", name,
                       value, best_, base_lr_));
}

}  // namespace symbind
