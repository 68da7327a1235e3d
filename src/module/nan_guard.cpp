// NanGuard: names the node that made the first NaN or infinity, and describes its inputs.
//
// Decided here: the error is raised inside the run, after the node, so nothing later is computed
// from the value; it is then stored on the arrays that were not written. For loops that read none
// of these, toc raises it and clears it, so that it is raised once.

#include <symbind/monitor.h>

#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/settings.h"
#include "executor/watchers.h"
#include "ndarray/access.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

bool is_floating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

/// The range of an array's numbers.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::int64_t bad = 0, first_bad = -1;
  double bad_value = 0;
};

Range range_of(const NDArray& array) {
  const NDArray host = array.as_in_context(cpu());
  host.wait_to_read();
  Range range;
  dispatch_dtype(host.dtype(), [&]<class T>() {
    const T* numbers = reinterpret_cast<const T*>(read_pointer(host));
    for (std::int64_t i = 0; i < host.size(); ++i) {
      const auto value = static_cast<double>(numbers[i]);
      if (std::isfinite(value)) {
        range.low = std::min(range.low, value);
        range.high = std::max(range.high, value);
      } else if (range.bad++ == 0) {
        range.first_bad = i;
        range.bad_value = value;
      }
    }
  });
  return range;
}

std::string place(std::int64_t at, const Shape& shape) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()));
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[static_cast<std::size_t>(d)] = at % shape[d];
    at /= shape[d];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

std::string described(const NDArray& array) {
  if (!array.defined()) return "no value";
  const Range range = range_of(array);
  std::string text = array.shape().str();
  if (range.bad < array.size()) text += fmt::format(" in [{:.6g}, {:.6g}]", range.low, range.high);
  if (range.bad > 0) text += fmt::format(", {} of {} NaN or infinity", range.bad, array.size());
  return text;
}

}  // namespace

struct NanGuard::Watch {
  int step = 0;
  std::optional<Error> found;
  std::vector<Executor> executors;

  /// Clears the error on every array that carries it.
  void settle() const {
    for (const Executor& e : executors) {
      for (const auto* arrays :
           {&e.outputs(), &e.grad_arrays(), &e.aux_arrays(), &e.arg_arrays()}) {
        for (const NDArray& array : *arrays) {
          try {
            if (array.defined()) array.wait_to_read();
          } catch (const Error&) {  // ours, or a consequence of it
          }
        }
      }
    }
  }

  void look(const RanNode& node) {
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const NDArray value = node.output(o);
      if (!value.defined() || !is_floating(value.dtype())) continue;
      const Range range = range_of(value);
      if (range.bad == 0) continue;
      std::string text = fmt::format(
          "step {}: {} is the first node that made a NaN or infinity: output {} ('{}', "
          "shape {}), {} of {} numbers, the first at {} is {}",
          step, node.title, o, node.outputs[o], value.shape().str(), range.bad, value.size(),
          place(range.first_bad, value.shape()),
          std::isnan(range.bad_value) ? "nan"
          : range.bad_value > 0       ? "inf"
                                      : "-inf");
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        text += fmt::format("\n  input {} '{}': {}", i, node.inputs[i], described(node.input(i)));
      found.emplace(ErrorKind::kValue, text);
      throw *found;
    }
  }
};

bool nan_guard_is_on() { return settings::flag("SYMBIND_NAN_GUARD"); }

NanGuard::NanGuard(Monitor* also) : Monitor(1), watch_(std::make_shared<Watch>()), also_(also) {}

void NanGuard::install(Executor& executor) {
  if (also_ != nullptr) also_->install(executor);
  if (watch_ == nullptr) return;
  set_guard(executor, [held = std::weak_ptr(watch_)](const RanNode& node) {
    if (const std::shared_ptr<Watch> watch = held.lock()) watch->look(node);
  });
  watch_->executors.push_back(executor);
}

void NanGuard::tic() {
  if (watch_ != nullptr) ++watch_->step;
  if (also_ != nullptr) also_->tic();
}

std::vector<MonitorRecord> NanGuard::toc() {
  if (watch_ != nullptr) {
    if (const std::optional<Error> found = std::exchange(watch_->found, std::nullopt)) {
      watch_->settle();
      throw *found;
    }
  }
  return also_ != nullptr ? also_->toc() : std::vector<MonitorRecord>{};
}

void NanGuard::release() {
  const std::shared_ptr<Watch> watch = std::exchange(watch_, nullptr);
  if (watch == nullptr) return;
  for (const Executor& executor : watch->executors) set_guard(executor, {});
}

}  // namespace symbind
