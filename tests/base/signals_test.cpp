// Signals arrive all the time while kernels of every library run; each must find the stack register
// within the stack of its thread, because the handler's frame is written there.

#include "base/signals.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <symbind/executor.h>
#include <symbind/ops.h>
#include <sys/time.h>
#include <ucontext.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/parallel.h"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)  // tsan delivers signals later

namespace symbind {
namespace {

pthread_t tested_thread;
std::uintptr_t stack_begin = 0, stack_end = 0;
std::atomic<int> inside{0}, outside{0}, elsewhere{0};

void look_at_stack(int, siginfo_t*, void* context) {
  const auto* interrupted = static_cast<const ucontext_t*>(context);
  const auto sp = static_cast<std::uintptr_t>(interrupted->uc_mcontext.gregs[REG_RSP]);
  if (!pthread_equal(pthread_self(), tested_thread))
    ++elsewhere;
  else if (sp < stack_begin || sp > stack_end)
    ++outside;
  else
    ++inside;
}

/// Sends this process a signal every 200 µs during its lifetime.
class Alarms {
 public:
  Alarms() {
    tested_thread = pthread_self();
    pthread_attr_t attributes;
    pthread_getattr_np(tested_thread, &attributes);
    void* begin = nullptr;
    std::size_t size = 0;
    pthread_attr_getstack(&attributes, &begin, &size);
    pthread_attr_destroy(&attributes);
    stack_begin = reinterpret_cast<std::uintptr_t>(begin);
    stack_end = stack_begin + size;
    inside = outside = elsewhere = 0;
    struct sigaction action {};
    action.sa_sigaction = look_at_stack;
    // The handler runs on its own stack, so that a wrong stack register fails this test only.
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    const stack_t own{.ss_sp = memory_, .ss_flags = 0, .ss_size = sizeof(memory_)};
    sigaltstack(&own, nullptr);
    sigaction(SIGALRM, &action, &before_);
    set_timer(200);
  }
  ~Alarms() {
    set_timer(0);
    sigaction(SIGALRM, &before_, nullptr);
    const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    sigaltstack(&none, nullptr);
  }
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;

 private:
  static void set_timer(int microseconds) {
    const itimerval period{{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &period, nullptr);
  }
  struct sigaction before_ {};
  alignas(64) char memory_[1 << 16];
};

/// Runs training steps of the symbol until 300 signals have arrived.
void train_under_signals(const Symbol& net, const Shape& data, int threads) {
  set_num_threads(threads);
  Executor executor = net.simple_bind(cpu(), {{"data", data}});
  const auto step = [&] {
    executor.forward(true);
    executor.backward();
    executor.outputs()[0].wait_to_read();
  };
  step();  // starts the threads
  {
    const Alarms alarms;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (inside + outside + elsewhere < 300 && std::chrono::steady_clock::now() < limit) step();
  }
  set_num_threads(0);
  EXPECT_GE(inside, 300);
  EXPECT_EQ(outside, 0);
  EXPECT_EQ(elsewhere, 0);
}

Symbol two_layers() {
  const Symbol hidden = FullyConnected("fc1", Symbol::variable("data"), {.num_hidden = 320});
  return MakeLoss("loss", FullyConnected("fc2", hidden, {.num_hidden = 130}), {});
}

Symbol odd_channels() {
  const Symbol first =
      Convolution("conv1", Symbol::variable("data"), {.kernel = {5, 5}, .num_filter = 20});
  return MakeLoss("loss", Convolution("conv2", first, {.kernel = {5, 5}, .num_filter = 50}), {});
}

TEST(Signals, find_the_stack_in_place_during_products_on_one_thread) {
  train_under_signals(two_layers(), {128, 600}, 1);
}

TEST(Signals, find_the_stack_in_place_during_products_on_two_threads) {
  train_under_signals(two_layers(), {128, 600}, 2);
}

TEST(Signals, find_the_stack_in_place_during_convolutions) {
  train_under_signals(odd_channels(), {8, 3, 20, 20}, 1);
  train_under_signals(odd_channels(), {8, 3, 20, 20}, 2);
}

// libgomp ends and starts workers when the number of threads changes.
TEST(Signals, find_the_stack_in_place_after_the_number_of_threads_changed) {
  for (const int threads : {3, 2, 3}) {
    set_num_threads(threads);
    std::atomic<int> items{0};
    parallel_for(1 << 20, 1, [&](std::int64_t begin, std::int64_t end) {
      items += static_cast<int>(end - begin);
    });
    ASSERT_EQ(items, 1 << 20);
    train_under_signals(two_layers(), {128, 600}, threads);
  }
}

TEST(Signals, wait_while_they_are_blocked_and_then_arrive) {
  const Alarms alarms;
  {
    const SignalsBlocked blocked;
    const int before = inside;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    while (std::chrono::steady_clock::now() < end) continue;
    EXPECT_EQ(inside, before);
  }
  const int before = inside;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (inside == before && std::chrono::steady_clock::now() < limit) continue;
  EXPECT_GT(inside, before);
}

}  // namespace
}  // namespace symbind

#endif
