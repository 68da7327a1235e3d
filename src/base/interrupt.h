// How long work checks whether to stop (set_interrupt_check of symbind/interrupt.h).
//
// Decided here: the work polls; nothing stops it from outside. Without a check installed a poll
// costs one load. Reading the clock takes as long as a small kernel, so work that says how long it
// may take reads it once per millisecond of such work.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include <symbind/interrupt.h>

namespace symbind {

namespace detail {
extern std::atomic<InterruptCheck> interrupt_check;
extern std::atomic<int> interrupts_deferred;
void ask_interrupt_check(InterruptCheck check, std::int64_t nanoseconds);
}  // namespace detail

/// Whether the installed check requests a stop now.
bool interrupt_wanted();

/// During its lifetime nothing is interrupted, in any thread: its owner polls interrupt_wanted
/// where stopping leaves everything consistent.
class InterruptDeferral {
 public:
  InterruptDeferral() { ++detail::interrupts_deferred; }
  ~InterruptDeferral() { --detail::interrupts_deferred; }
  InterruptDeferral(const InterruptDeferral&) = delete;
  InterruptDeferral& operator=(const InterruptDeferral&) = delete;
};

/// Work of unknown length.
inline constexpr std::int64_t kLongWork = std::numeric_limits<std::int64_t>::max();

/// Throws Interrupted if the check requests a stop, before work that takes about `nanoseconds`.
inline void interruption_point(std::int64_t nanoseconds = kLongWork) {
  if (const InterruptCheck check = detail::interrupt_check.load(std::memory_order_relaxed))
    detail::ask_interrupt_check(check, nanoseconds);
}

}  // namespace symbind
