// EarlyStopping: ends the training when evaluations no longer improve. fit logs why.

#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include <symbind/callback.h>
#include <symbind/checkpoint.h>

#include "base/better.h"
#include "base/check.h"

namespace symbind {
namespace {

struct Watcher {
  EarlyStoppingOptions o;
  double best = std::numeric_limits<double>::quiet_NaN();
  int waited = 0;

  void operator()(const BatchEndParam& p) {
    check(p.eval_metric != nullptr, ErrorKind::kState, "EarlyStopping needs a metric to watch");
    const auto [name, value] = watched_value(p.eval_metric->get(), o.metric, "EarlyStopping");
    const double gain = more_is_better(o.mode, name) ? value - best : best - value;
    if (std::isnan(best) ? !std::isnan(value) : gain > o.min_delta) {
      best = value;
      waited = 0;
      return;
    }
    if (++waited < o.patience) return;
    throw StopTraining(fmt::format(
        "Epoch[{}] Stopping early: {}={:f} is no improvement of {:f} for {} evaluations", p.epoch,
        name, value, best, waited));
  }
};

}  // namespace

BatchEndCallback EarlyStopping(const EarlyStoppingOptions& options) {
  check(options.mode == "auto" || options.mode == "max" || options.mode == "min",
        "EarlyStopping: there is no mode '{}'; modes: auto, max, min", options.mode);
  check(options.patience > 0, "EarlyStopping: patience is {}; it must be > 0", options.patience);
  return [shared = std::make_shared<Watcher>(Watcher{.o = options})](const BatchEndParam& p) {
    (*shared)(p);
  };
}

}  // namespace symbind
