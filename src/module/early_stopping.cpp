// EarlyStopping: ends the training when evaluations no longer improve. fit logs why.

#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <symbind/callback.h>

#include "base/better.h"
#include "base/check.h"
#include "base/nearest.h"

namespace symbind {
namespace {

struct Watcher {
  EarlyStoppingOptions o;
  double best = std::numeric_limits<double>::quiet_NaN();
  int waited = 0;

  NameValue watched(const EvalMetric& metric) const {
    const std::vector<NameValue> values = metric.get();
    std::vector<std::string> names;
    for (const NameValue& value : values) {
      if (o.metric.empty() || value.first == o.metric) return value;
      names.push_back(value.first);
    }
    fail(ErrorKind::kName, "EarlyStopping watches '{}', which is not evaluated; {} evaluated: {}",
         o.metric, nearest_hint(o.metric, names), fmt::join(names, ", "));
  }

  void operator()(const BatchEndParam& p) {
    check(p.eval_metric != nullptr, ErrorKind::kState, "EarlyStopping needs a metric to watch");
    const auto [name, value] = watched(*p.eval_metric);
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
