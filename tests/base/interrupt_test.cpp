#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <symbind/executor.h>
#include <symbind/ndarray.h>
#include <symbind/symbol.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/parallel.h"
#include "kernels/gemm.h"

namespace symbind {
namespace {

std::atomic<int> asked{0};
std::atomic<bool> stop{false};

/// Installs a check for one test and removes it at the end.
struct Installed {
  Installed() {
    asked = 0;
    stop = false;
    set_interrupt_check([] {
      ++asked;
      return stop.load();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // earlier tests asked too
  }
  ~Installed() { set_interrupt_check(nullptr); }
};

TEST(Interrupt, without_a_check_nothing_is_called) {
  asked = 0;
  interruption_point();
  EXPECT_EQ(asked, 0);
}

TEST(Interrupt, the_check_is_called_once_per_pause) {
  const Installed check;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) interruption_point();
  const auto pauses = (std::chrono::steady_clock::now() - begin) / std::chrono::milliseconds(50);
  EXPECT_GE(asked, 1);
  EXPECT_LE(asked, 1 + pauses);
}

TEST(Interrupt, short_work_reads_the_clock_once_per_millisecond_of_it) {
  const Installed check;
  interruption_point();
  ASSERT_EQ(asked, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  interruption_point(999'999);
  EXPECT_EQ(asked, 1);
  interruption_point(1);
  EXPECT_EQ(asked, 2);
}

TEST(Interrupt, each_thread_calls_the_check) {
  const Installed check;
  interruption_point();
  std::thread other([] { interruption_point(); });
  other.join();
  EXPECT_EQ(asked, 2);
}

TEST(Interrupt, a_forward_that_was_stopped_leaves_readable_arrays_and_runs_again) {
  const Installed check;
  const Symbol x = Symbol::variable("x");
  const std::int64_t n = 1'000'000;  // short work does not read the clock each time
  Executor e = (x * 2.0).simple_bind(cpu(), {{"x", Shape{n}}});
  e.arg_dict().at("x").set(4.0);
  stop = true;
  EXPECT_THROW(e.forward(true), Interrupted);
  EXPECT_NO_THROW(e.outputs().front().wait_to_read());
  EXPECT_NO_THROW(waitall());
  EXPECT_THROW(e.backward({e.outputs().front()}), Error);
  stop = false;
  EXPECT_EQ(e.forward(true).front().to_vector<float>(), std::vector<float>(n, 8));
}

// On one thread this is cut along both axes.
TEST(Interrupt, tiles_of_a_product_join) {
  set_num_threads(1);
  const std::int64_t m = 4001, n = 3001, k = 900;
  std::vector<float> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 3;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2;
  std::vector<float> c(static_cast<std::size_t>(m * n), 1);
  gemm({false, false, m, n, k, k, n, n}, 1, a.data(), b.data(), 2, c.data());
  set_num_threads(0);
  for (const auto& [i, j] : {std::pair<std::int64_t, std::int64_t>{0, 0},
                             {m - 1, n - 1},
                             {m / 2, n / 2},
                             {m / 2 + 1, 3},
                             {7, n / 2 + 1}}) {
    float sum = 2;
    for (std::int64_t p = 0; p < k; ++p)
      sum += a[static_cast<std::size_t>(i * k + p)] * b[static_cast<std::size_t>(p * n + j)];
    EXPECT_EQ(c[static_cast<std::size_t>(i * n + j)], sum) << i << ", " << j;
  }
}

}  // namespace
}  // namespace symbind
