#pragma once
// Scope guards for fit: EMA swap, NaN guard.

#include <memory>

#include <symbind/log.h>
#include <symbind/module.h>

namespace symbind {

/// Runs `work` with the average swapped in for the weights.
template <class F>
auto with_average(BaseModule& module, F&& work) {
  module.swap_ema_params();
  decltype(work()) result;
  try {
    result = work();
  } catch (...) {
    module.swap_ema_params();
    throw;
  }
  module.swap_ema_params();
  return result;
}

/// The NaN guard of a fit, if it is on.
class GuardedFit {
 public:
  GuardedFit(std::unique_ptr<NanGuard>& guard, FitOptions& o) {
    if (!o.nan_guard.value_or(nan_guard_is_on())) return;
    guard = std::make_unique<NanGuard>(o.monitor);
    o.monitor = guard_ = guard.get();
  }
  ~GuardedFit() {
    try {
      if (guard_ != nullptr) guard_->release();
    } catch (const Error& e) {
      log_warning(e.what());  // executors that could not be recompiled are unchanged
    }
  }
  GuardedFit(const GuardedFit&) = delete;
  GuardedFit& operator=(const GuardedFit&) = delete;

 private:
  NanGuard* guard_ = nullptr;
};

}  // namespace symbind
