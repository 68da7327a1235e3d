#include "base/interrupt.h"

#include <chrono>

namespace symbind {

std::atomic<InterruptCheck> detail::interrupt_check{nullptr};
std::atomic<int> detail::interrupts_deferred{0};

void set_interrupt_check(InterruptCheck check) {
  detail::interrupt_check.store(check, std::memory_order_relaxed);
}

bool interrupt_wanted() {
  const InterruptCheck check = detail::interrupt_check.load(std::memory_order_relaxed);
  return check != nullptr && check();
}

void detail::ask_interrupt_check(InterruptCheck check, std::int64_t nanoseconds) {
  constexpr std::int64_t kBetweenClocks = 1'000'000;
  thread_local std::int64_t until_clock = 0;
  if (nanoseconds < until_clock) {
    until_clock -= nanoseconds;
    return;
  }
  until_clock = kBetweenClocks;
  if (interrupts_deferred.load(std::memory_order_relaxed) > 0) return;
  using Clock = std::chrono::steady_clock;
  constexpr auto kPause = std::chrono::milliseconds(50);
  thread_local Clock::time_point asked{};
  const Clock::time_point now = Clock::now();
  if (now - asked < kPause) return;
  asked = now;
  if (check()) throw Interrupted();
}

}  // namespace symbind
