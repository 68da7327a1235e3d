// Where long work asks whether to stop (set_interrupt_check of symbind/interrupt.h).
//
// Decided here: the work asks, nobody stops it. Without a check installed asking costs one load.
#pragma once

#include <atomic>

#include <symbind/interrupt.h>

namespace symbind {

namespace detail {
extern std::atomic<InterruptCheck> interrupt_check;
extern std::atomic<int> interrupts_deferred;
void ask_interrupt_check(InterruptCheck check);
}  // namespace detail

/// Whether the check says so now.
bool interrupt_wanted();

/// While one lives nothing is interrupted, in any thread: whoever holds it asks interrupt_wanted
/// where stopping leaves everything whole.
class InterruptDeferral {
 public:
  InterruptDeferral() { ++detail::interrupts_deferred; }
  ~InterruptDeferral() { --detail::interrupts_deferred; }
  InterruptDeferral(const InterruptDeferral&) = delete;
  InterruptDeferral& operator=(const InterruptDeferral&) = delete;
};

/// Throws Interrupted when the check says so.
inline void interruption_point() {
  if (const InterruptCheck check = detail::interrupt_check.load(std::memory_order_relaxed))
    detail::ask_interrupt_check(check);
}

}  // namespace symbind
