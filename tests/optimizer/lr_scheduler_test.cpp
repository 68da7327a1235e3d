// Schedules against MXNet 1.9.1: every rate exactly, every log line letter by letter.
#include <gtest/gtest.h>

#include "optimizer/recorded.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

TEST(GoldenLRScheduler, RatesAndLogLines) {
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

// Training that goes on from an epoch asks for a late update first.
TEST(GoldenLRScheduler, StartsLate) {
  const nlohmann::json recording = recorded::json("schedules.json");
  for (const nlohmann::json& one : recording["schedules"]) {
    const auto schedule = recorded::scheduler(one["class"], one["arguments"]);
    const auto last = static_cast<std::int64_t>(one["rates"].size()) - 1;
    const CaptureLog log;
    EXPECT_EQ((*schedule)(last), one["late"].get<double>()) << one["class"];
  }
}

TEST(LRScheduler, AFunctionIsOne) {
  FunctionScheduler schedule([](std::int64_t n) { return 1.0 / static_cast<double>(n + 1); });
  EXPECT_EQ(schedule(3), 0.25);
}

TEST(BadInputLRScheduler, SaysWhatIsWrong) {
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
  says([] { FactorScheduler(1, 1, 0, {.warmup_mode = "liner"}); }, "linear");
}

}  // namespace
}  // namespace symbind
