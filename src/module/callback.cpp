// Callbacks that log: Speedometer, log_train_metric, LogValidationMetricsCallback, ProgressBar.
//
// Decided here: the lines are MXNet's to the byte, since people parse them. On a terminal a bar is
// redrawn instead, with the time left.

#include <symbind/callback.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include <symbind/log.h>

#include "base/check.h"

namespace symbind {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Speed {
  int batch_size, frequent;
  bool auto_reset;
  bool running = false;
  int last_count = 0;
  Clock::time_point start = {};

  void operator()(const BatchEndParam& p) {
    if (last_count > p.nbatch) running = false;  // another epoch
    last_count = p.nbatch;
    if (!running) {
      running = true;
      start = Clock::now();
      return;
    }
    if (p.nbatch % frequent != 0) return;
    const double seconds = seconds_since(start);
    const double speed = seconds > 0 ? static_cast<double>(frequent) * batch_size / seconds
                                     : std::numeric_limits<double>::infinity();
    log_info(line(p, speed));
    start = Clock::now();
  }

  std::string line(const BatchEndParam& p, double speed) const {
    if (p.eval_metric == nullptr)
      return fmt::format("Iter[{}] Batch [{}]\tSpeed: {:.2f} samples/sec", p.epoch, p.nbatch,
                         speed);
    std::string text = fmt::format("Epoch[{}] Batch [{}-{}]\tSpeed: {:.2f} samples/sec", p.epoch,
                                   auto_reset ? p.nbatch - frequent : 0, p.nbatch, speed);
    for (const auto& [name, value] : p.eval_metric->get())
      text += fmt::format("\t{}={:f}", name, value);
    if (auto_reset) p.eval_metric->reset_local();
    return text;
  }
};

struct Bar {
  ProgressBarOptions o;
  bool terminal;
  int first = 0, last = -1;
  Clock::time_point start = {};

  std::string bar(double done) const {
    const int filled = std::clamp(static_cast<int>(std::nearbyint(o.length * done)), 0, o.length);
    return std::string(static_cast<std::size_t>(filled), '=') +
           std::string(static_cast<std::size_t>(o.length - filled), '-');
  }

  void operator()(const BatchEndParam& p) {
    if (!terminal) {
      const double done = static_cast<double>(p.nbatch) / o.total;
      log_info(fmt::format("[{}] {}%\r", bar(done), static_cast<int>(std::ceil(100 * done))));
      return;
    }
    if (p.nbatch <= last || last < 0) {  // another epoch
      first = p.nbatch;
      start = Clock::now();
    }
    last = p.nbatch;
    const double done = (p.nbatch + 1.0) / o.total;
    std::string text = fmt::format("\r[{}] {:3.0f}%", bar(done), std::ceil(100 * done));
    if (p.nbatch > first) {
      const double each = seconds_since(start) / (p.nbatch - first);
      const auto left = static_cast<int>(std::lround(each * std::max(0, o.total - p.nbatch - 1)));
      text += fmt::format(" ETA {}:{:02}:{:02}", left / 3600, left / 60 % 60, left % 60);
    }
    if (p.nbatch + 1 >= o.total) text += "\n";
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  }
};

/// A callback with state, which copies of the std::function share.
template <class State>
BatchEndCallback keep(State state) {
  return [shared = std::make_shared<State>(std::move(state))](const BatchEndParam& p) {
    (*shared)(p);
  };
}

}  // namespace

BatchEndCallback Speedometer(int batch_size, int frequent, bool auto_reset) {
  check(frequent > 0, "Speedometer: frequent is {}; it counts batches and must be > 0", frequent);
  return keep(Speed{.batch_size = batch_size, .frequent = frequent, .auto_reset = auto_reset});
}

BatchEndCallback log_train_metric(int period, bool auto_reset) {
  check(period > 0, "log_train_metric: period is {}; it counts batches and must be > 0", period);
  return [period, auto_reset](const BatchEndParam& p) {
    if (p.nbatch % period != 0 || p.eval_metric == nullptr) return;
    for (const auto& [name, value] : p.eval_metric->get())
      log_info(fmt::format("Iter[{}] Batch[{}] Train-{}={:f}", p.epoch, p.nbatch, name, value));
    if (auto_reset) p.eval_metric->reset_local();
  };
}

BatchEndCallback LogValidationMetricsCallback() {
  return [](const BatchEndParam& p) {
    if (p.eval_metric == nullptr) return;
    for (const auto& [name, value] : p.eval_metric->get())
      log_info(fmt::format("Epoch[{}] Validation-{}={:f}", p.epoch, name, value));
  };
}

BatchEndCallback ProgressBar(const ProgressBarOptions& options) {
  check(options.total > 0 && options.length > 0,
        "ProgressBar: total is {} and length {}; both must be > 0", options.total, options.length);
  return keep(Bar{.o = options, .terminal = options.terminal.value_or(isatty(STDERR_FILENO) != 0)});
}

}  // namespace symbind
