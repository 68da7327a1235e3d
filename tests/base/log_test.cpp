#include "symbind/log.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace symbind {
namespace {

struct RestoreSink {
  ~RestoreSink() { set_log_sink({}); }
};

TEST(Log, goes_to_the_sink_with_its_level) {
  RestoreSink restore;
  std::vector<std::pair<LogLevel, std::string>> seen;
  set_log_sink([&](LogLevel level, std::string_view text) { seen.emplace_back(level, text); });
  log_info("one");
  log_warning("two");
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], std::make_pair(LogLevel::kInfo, std::string("one")));
  EXPECT_EQ(seen[1], std::make_pair(LogLevel::kWarning, std::string("two")));
}

TEST(Log, default_is_stderr) {
  testing::internal::CaptureStderr();
  log_info("Epoch[0] Train-accuracy=0.5");
  log_warning("careful");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "Epoch[0] Train-accuracy=0.5\nwarning: careful\n");
}

TEST(Log, a_sink_that_throws_loses_nothing) {
  RestoreSink restore;
  set_log_sink([](LogLevel, std::string_view) { throw std::runtime_error("sink"); });
  testing::internal::CaptureStderr();
  log_error("kept");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: kept\n");
}

TEST(Log, a_sink_may_log_and_replace_itself) {
  RestoreSink restore;
  int calls = 0;
  set_log_sink([&](LogLevel, std::string_view) {
    if (++calls == 1) {
      log_info("inner");
      set_log_sink({});
    }
  });
  log_info("outer");
  EXPECT_EQ(calls, 2);
}

TEST(ThreadsLog, one_message_at_a_time) {
  RestoreSink restore;
  int count = 0;  // not atomic: the log gives the order
  set_log_sink([&](LogLevel, std::string_view) { ++count; });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) log_info("x");
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(count, 4000);
}

}  // namespace
}  // namespace symbind
