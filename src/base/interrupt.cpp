#include "base/interrupt.h"

#include <chrono>

namespace symbind {

std::atomic<InterruptCheck> detail::interrupt_check{nullptr};

void set_interrupt_check(InterruptCheck check) {
  detail::interrupt_check.store(check, std::memory_order_relaxed);
}

void detail::ask_interrupt_check(InterruptCheck check) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPause = std::chrono::milliseconds(50);
  thread_local Clock::time_point asked{};
  const Clock::time_point now = Clock::now();
  if (now - asked < kPause) return;
  asked = now;
  if (check()) throw Interrupted();
}

}  // namespace symbind
