// Schedules against MXNet 1.9.1: every rate exactly, every log line letter by letter.
#include <gtest/gtest.h>

#include "optimizer/recorded.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

TEST(GoldenLRScheduler, rates_and_log_lines) {
  const nlohmann::json recording = recorded::json("schedules.json");
  ASSERT_EQ(recording["schedules"].size(), 12U);
  for (const nlohmann::json& one : recording["schedules"]) {
    SCOPED_TRACE(one["class"].get<std::string>() + one["arguments"].dump());
    const auto schedule = recorded::scheduler(one["class"], one["arguments"]);
    EXPECT_EQ(schedule->class_name(), one["class"].get<std::string>());
    const CaptureLog log;
    for (std::size_t n = 0; n < one["rates"].size(); ++n)
      EXPECT_EQ((*schedule)(static_cast<std::int64_t>(n)), one["rates"][n].get<double>()) << n;
    EXPECT_EQ(log.lines(), one["log"].get<std::vector<std::string>>());
  }
}

// A resumed training starts with a late update.
TEST(GoldenLRScheduler, starts_late) {
  const nlohmann::json recording = recorded::json("schedules.json");
  for (const nlohmann::json& one : recording["schedules"]) {
    const auto schedule = recorded::scheduler(one["class"], one["arguments"]);
    const auto last = static_cast<std::int64_t>(one["rates"].size()) - 1;
    const CaptureLog log;
    EXPECT_EQ((*schedule)(last), one["late"].get<double>()) << one["class"];
  }
}

TEST(LRScheduler, a_function_is_one) {
  FunctionScheduler schedule([](std::int64_t n) { return 1.0 / static_cast<double>(n + 1); });
  EXPECT_EQ(schedule(3), 0.25);
}

TEST(BadInputLRScheduler, says_what_is_wrong) {
  const auto says = [](auto make, const char* text) {
    try {
      make();
      ADD_FAILURE() << "no error: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kValue);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  says([] { FactorScheduler(0); }, "greater or equal than 1 round");
  says([] { FactorScheduler(1, 1.5); }, "Factor must be no more than 1");
  says([] { MultiFactorScheduler({3, 3}); }, "increasing integer list");
  says([] { PolyScheduler(0); }, "strictly positive");
  says([] { CosineScheduler(1, 0, {.warmup_steps = -1}); }, "positive or 0");
  says([] { FactorScheduler(1, 1, 0, {.base_lr = 0.1, .warmup_begin_lr = 0.2}); },
       "higher than warmup_begin_lr");
  says([] { PolyScheduler(5, -1); }, "pwr is -1");
  says([] { FactorScheduler(1, 1, 0, {.warmup_mode = "liner"}); }, "linear");
}

// 0 updates from the warm-up to the end: the progress would be 0/0 and every weight NaN. MXNet
// raises ZeroDivisionError at that update.
TEST(BadInputLRScheduler, a_warm_up_as_long_as_the_schedule_is_refused) {
  const auto refused = [](auto call) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kValue);
      EXPECT_NE(std::string(error.what()).find("warmup_steps"), std::string::npos) << error.what();
    }
  };
  refused([] { PolyScheduler(5, 2, 0, {.warmup_steps = 5}); });
  refused([] { CosineScheduler(5, 0, {.warmup_steps = 5}); });
  EXPECT_THROW(LinearScheduler(5, 0, {.warmup_steps = 5}), Error);
  // A longer one climbs, then stays: MXNet's numbers.
  CosineScheduler longer(3, 0, {.base_lr = 1, .warmup_steps = 4});
  EXPECT_EQ(longer(2), 0.5);
  EXPECT_EQ(longer(4), 1);
  // The fields can be set later, by scripts and by files.
  const auto set = [](LRScheduler& schedule, const char* name, auto value) {
    Fields fields;
    schedule.describe(fields);
    **std::get_if<decltype(value)*>(&fields.find(name)->slot) = value;
  };
  for (const char* name : {"PolyScheduler", "CosineScheduler"}) {
    const auto schedule = make_lr_scheduler(name);
    set(*schedule, "max_steps", std::int64_t{0});
    refused([&] { (*schedule)(0); });
  }
  const auto cycle = make_lr_scheduler("OneCycleScheduler");
  set(*cycle, "pct_start", 0.0);
  EXPECT_THROW((*cycle)(0), Error);
}

}  // namespace
}  // namespace symbind
