#pragma once
// What stands around the verbs of fit for a while: the average in the weights' place, the guard.

#include <memory>

#include <symbind/log.h>
#include <symbind/module.h>

namespace symbind {

/// What `work` gives with the average of the weights in their place.
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

/// The guard over a fit, if it is asked for.
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
      log_warning(e.what());  // executors that could not be compiled anew stay as they are
    }
  }
  GuardedFit(const GuardedFit&) = delete;
  GuardedFit& operator=(const GuardedFit&) = delete;

 private:
  NanGuard* guard_ = nullptr;
};

}  // namespace symbind
