#pragma once
// Notifies of gradients while backward runs: the plan knows which step writes each of them last.

#include <cstddef>

namespace symbind {

class Executor;

class GradientObserver {
 public:
  virtual ~GradientObserver() = default;
  /// No later step of this backward writes the gradient of this argument. Called by the thread that
  /// runs backward; what can go wrong is kept for later, because backward must not stop.
  virtual void gradient_is_final(std::size_t argument) noexcept = 0;
};

/// Notifies `observer` of the gradients of every backward from now on; null ends it. A gradient
/// that a failed step did not write is not reported.
void set_gradient_observer(const Executor& executor, GradientObserver* observer);

}  // namespace symbind
