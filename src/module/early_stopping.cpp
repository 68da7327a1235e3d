// EarlyStopping: ends the training when evaluations no longer improve. fit logs why.

#include <cmath>

#include <fmt/format.h>

#include <symbind/callback.h>
#include <symbind/checkpoint.h>

#include "base/better.h"
#include "base/check.h"

namespace symbind {

EarlyStopping::EarlyStopping(const EarlyStoppingOptions& options)
    : seen_(std::make_shared<Seen>(Seen{options})) {
  check(options.mode == "auto" || options.mode == "max" || options.mode == "min",
        "EarlyStopping: there is no mode '{}'; modes: auto, max, min", options.mode);
  check(options.patience > 0, "EarlyStopping: patience is {}; it must be > 0", options.patience);
}

std::optional<std::string> EarlyStopping::observe(int epoch,
                                                  const std::vector<NameValue>& values) const {
  Seen& s = *seen_;
  const auto [name, value] = watched_value(values, s.metric, "EarlyStopping");
  const double gain = more_is_better(s.mode, name) ? value - s.best : s.best - value;
  if (std::isnan(s.best) ? !std::isnan(value) : gain > s.min_delta) {
    s.best = value;
    s.waited = 0;
    return std::nullopt;
  }
  if (++s.waited < s.patience) return std::nullopt;
  return fmt::format("Epoch[{}] Stopping early: {}={:f} is not better than {:f} for {} evaluations",
                     epoch, name, value, s.best, s.waited);
}

void EarlyStopping::operator()(const BatchEndParam& param) const {
  check(param.eval_metric != nullptr, ErrorKind::kState, "EarlyStopping needs a metric to watch");
  if (const auto reason = observe(param.epoch, param.eval_metric->get()))
    throw StopTraining(*reason);
}

StateValue EarlyStopping::state() const {
  StateValue state = StateValue::dict();
  state.add("best", StateValue::of(seen_->best));
  state.add("waited", StateValue::of(std::int64_t{seen_->waited}));
  return state;
}

void EarlyStopping::set_state(const StateValue& state) const {
  constexpr const char* kWhat = "the state of an EarlyStopping";
  const StateValue& best = state.at("best", kWhat);
  const std::int64_t waited = state.integer_at("waited", kWhat);
  const bool whole = best.kind == StateValue::Kind::kInt;
  check((whole || best.kind == StateValue::Kind::kFloat) && waited >= 0 &&
            waited <= std::numeric_limits<int>::max(),
        ErrorKind::kIo, "{}: 'best' must be a number, and 'waited', which is {}, a count", kWhat,
        waited);
  seen_->best = whole ? static_cast<double>(best.integer) : best.number;
  seen_->waited = static_cast<int>(waited);
}

}  // namespace symbind
