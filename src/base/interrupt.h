// Where long work asks whether to stop (set_interrupt_check of symbind/runtime.h).
//
// Decided here: the work asks, nobody stops it. Without a check installed asking costs one load.
#pragma once

#include <atomic>

#include <symbind/runtime.h>

namespace symbind {

namespace detail {
extern std::atomic<InterruptCheck> interrupt_check;
void ask_interrupt_check(InterruptCheck check);
}  // namespace detail

/// Throws Interrupted when the check says so.
inline void interruption_point() {
  if (const InterruptCheck check = detail::interrupt_check.load(std::memory_order_relaxed))
    detail::ask_interrupt_check(check);
}

}  // namespace symbind
