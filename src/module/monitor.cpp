// Monitor: statistics of all watched values, as text.

#include <symbind/monitor.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include <fmt/format.h>

#include <symbind/log.h>

#include "base/check.h"
#include "ndarray/dtype_dispatch.h"
#include "ndarray/number_text.h"

namespace symbind {
namespace {

std::vector<NDArray> mean_norm(const NDArray& x) {
  return {invoke("norm", {x})[0] / std::sqrt(static_cast<double>(x.size()))};
}

/// str() of the NumPy scalar or array.
std::string text_of(const NDArray& array) {
  if (array.shape() == Shape{1}) {
    return dispatch_dtype(array.dtype(), [&]<class T>() -> std::string {
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
        return scalar_text(static_cast<T>(array.scalar()));
      else if constexpr (std::is_integral_v<T>)
        return fmt::format("{}", static_cast<T>(array.scalar()));
      else
        return scalar_text(static_cast<float>(array.scalar()));
    });
  }
  const std::string text = array.str();  // "\n[…]\n<NDArray …>"
  return text.substr(1, text.rfind('\n') - 1);
}

struct Entry {
  int step;
  std::string name;
  std::vector<NDArray> values;
};

}  // namespace

struct Monitor::State {
  int interval;
  MonitorOptions options;
  std::regex pattern;
  std::vector<Executor> executors;
  std::vector<Entry> queue;
  int step = 0;
  bool active = false;

  void add(const std::string& name, const NDArray& array) {
    if (active && std::regex_search(name, pattern, std::regex_constants::match_continuous))
      queue.push_back({step, name, options.stat_func(array)});
  }
  void add_all(const std::vector<std::string>& names, const std::vector<NDArray>& arrays) {
    for (std::size_t i = 0; i < names.size(); ++i) add(names[i], arrays[i]);
  }
};

Monitor::Monitor(int interval, MonitorOptions options) : state_(std::make_shared<State>()) {
  check(interval > 0, "Monitor: interval is {}; it counts batches and must be > 0", interval);
  state_->interval = interval;
  try {
    state_->pattern = std::regex(options.pattern);
  } catch (const std::regex_error& error) {
    fail(ErrorKind::kValue, "Monitor: '{}' is not a regular expression: {}", options.pattern,
         error.what());
  }
  if (!options.stat_func) options.stat_func = &mean_norm;
  state_->options = std::move(options);
}

Monitor::~Monitor() = default;

void Monitor::install(Executor& executor) {
  executor.set_monitor_callback(
      [held = std::weak_ptr(state_)](const std::string& name, const NDArray& value) {
        if (const std::shared_ptr<State> state = held.lock()) state->add(name, value);
      },
      state_->options.monitor_all);
  state_->executors.push_back(executor);
}

void Monitor::tic() {
  if (state_->step % state_->interval == 0) {
    state_->queue.clear();
    state_->active = true;
  }
  ++state_->step;
}

std::vector<MonitorRecord> Monitor::toc() {
  if (!state_->active) return {};
  for (const Executor& e : state_->executors) {
    state_->add_all(e.symbol().list_arguments(), e.arg_arrays());
    state_->add_all(e.symbol().list_auxiliary_states(), e.aux_arrays());
  }
  state_->active = false;
  std::vector<Entry> queue = std::exchange(state_->queue, {});
  if (state_->options.sort) std::ranges::stable_sort(queue, {}, &Entry::name);
  std::vector<MonitorRecord> records;
  for (const Entry& entry : queue) {
    std::string text;
    for (const NDArray& value : entry.values) text += text_of(value) + "\t";
    records.push_back({entry.step, entry.name, std::move(text)});
  }
  return records;
}

void Monitor::toc_print() {
  for (const MonitorRecord& r : toc())
    log_info(fmt::format("Batch: {:7d} {:30s} {:s}", r.step, r.name, r.text));
}

}  // namespace symbind
