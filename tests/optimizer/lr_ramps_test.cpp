// Linear, one-cycle and plateau schedules against their formulas and a plateau followed by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <symbind/detail/states.h>
#include <symbind/error.h>
#include <symbind/optimizer.h>

#include "support/capture_log.h"

namespace symbind {
namespace {

TEST(LinearSchedule, warms_up_and_falls_in_a_straight_line) {
  LinearScheduler rate(110, 0.1, {.base_lr = 1.1, .warmup_steps = 10, .warmup_begin_lr = 0.1});
  EXPECT_NEAR(rate(0), 0.1, 1e-15);
  EXPECT_NEAR(rate(5), 0.6, 1e-15);
  EXPECT_NEAR(rate(10), 1.1, 1e-15);
  EXPECT_NEAR(rate(35), 0.85, 1e-15);
  EXPECT_NEAR(rate(60), 0.6, 1e-15);
  EXPECT_NEAR(rate(110), 0.1, 1e-15);
  EXPECT_NEAR(rate(1000), 0.1, 1e-15);
  EXPECT_NEAR(rate(5), 0.6, 1e-15) << "asking for an earlier update turns it back";
  rate.set_base_lr(2.1);
  EXPECT_NEAR(rate(5), 1.1, 1e-15);
  EXPECT_NEAR(rate(60), 1.1, 1e-15);
}

TEST(OneCycleSchedule, climbs_once_and_falls_far_below_its_start) {
  OneCycleScheduler cosine(
      100, {.max_lr = 1, .pct_start = 0.25, .div_factor = 10, .final_div_factor = 100});
  EXPECT_NEAR(cosine(0), 0.1, 1e-15);
  EXPECT_NEAR(cosine(25), 1, 1e-15);
  EXPECT_NEAR(cosine(10), 0.1 + 0.9 * (1 - std::cos(std::numbers::pi * 0.4)) / 2, 1e-14);
  EXPECT_NEAR(cosine(40), 1 + (0.001 - 1) * (1 - std::cos(std::numbers::pi * 0.2)) / 2, 1e-14);
  EXPECT_NEAR(cosine(100), 0.001, 1e-15);
  EXPECT_NEAR(cosine(101), 0.001, 1e-15);
  OneCycleScheduler line(100, {.max_lr = 1,
                               .pct_start = 0.25,
                               .div_factor = 10,
                               .final_div_factor = 100,
                               .anneal = "linear"});
  EXPECT_NEAR(line(10), 0.1 + 0.9 * 0.4, 1e-14);
  EXPECT_NEAR(line(40), 1 - 0.999 * 0.2, 1e-14);
}

TEST(PlateauSchedule, falls_after_patience_waits_through_cooldown_and_stops_at_the_bottom) {
  const CaptureLog log;
  ReduceOnPlateauScheduler rate(
      {.mode = "min", .factor = 0.5, .patience = 1, .cooldown = 1, .min_lr = 0.3}, {.base_lr = 1});
  const auto shown = [&](double loss) {
    rate.observe({{"loss", loss}});
    return rate(7);
  };
  EXPECT_EQ(shown(1.0), 1);
  EXPECT_EQ(shown(0.9), 1);
  EXPECT_EQ(shown(0.95), 1);    // 1 bad
  EXPECT_EQ(shown(0.95), 0.5);  // 2 bad, more than patience
  EXPECT_EQ(shown(0.95), 0.5);  // cooldown
  EXPECT_EQ(shown(0.95), 0.5);  // 1 bad
  EXPECT_EQ(shown(0.8), 0.5);   // better
  EXPECT_EQ(shown(std::nan("")), 0.5);
  EXPECT_EQ(shown(0.8), 0.3);  // 0.25 is below min_lr
  EXPECT_EQ(shown(0.8), 0.3);
  EXPECT_EQ(log.lines().size(), 2u);
}

TEST(PlateauSchedule, knows_which_way_a_metric_improves_and_which_one_to_watch) {
  const CaptureLog log;
  ReduceOnPlateauScheduler rate({.metric = "accuracy", .factor = 0.5, .patience = 0},
                                {.base_lr = 1});
  rate.observe({{"loss", 3}, {"accuracy", 0.5}});
  rate.observe({{"loss", 9}, {"accuracy", 0.6}});
  EXPECT_EQ(rate(1), 1);
  rate.observe({{"loss", 1}, {"accuracy", 0.6}});
  EXPECT_EQ(rate(1), 0.5);
  try {
    rate.observe({{"loss", 1}, {"acuracy", 0.6}});
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kName);
    EXPECT_NE(std::string(e.what()).find("acuracy"), std::string::npos) << e.what();
  }
}

TEST(PlateauSchedule, its_state_is_read_set_and_saved_with_the_optimizer) {
  const CaptureLog log;
  auto rate = std::make_shared<ReduceOnPlateauScheduler>(
      PlateauOptions{.mode = "min", .factor = 0.5, .patience = 1}, WarmUp{.base_lr = 1});
  rate->observe({{"loss", 1.0}});
  rate->observe({{"loss", 1.0}});
  const auto optimizer = create_optimizer(
      "sgd",
      {{"learning_rate", 1.0}, {"lr_scheduler", std::static_pointer_cast<LRScheduler>(rate)}});
  Updater updater(optimizer), other(create_optimizer("sgd"));
  other.set_states(updater.get_states(true));
  const auto loaded = other.optimizer()->lr_scheduler();
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(loaded->class_name(), "ReduceOnPlateauScheduler");
  loaded->observe({{"loss", 1.0}});
  EXPECT_EQ((*loaded)(1), 0.5);
}

TEST(BadInputSchedules, numbers_that_make_no_sense_are_named) {
  const auto says = [](const auto& make, const std::string& part) {
    try {
      make();
      ADD_FAILURE() << "no error for " << part;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kValue);
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  says([] { LinearScheduler(5, 0, {.warmup_steps = 5}); }, "max_update is 5");
  says([] { OneCycleScheduler(0); }, "max_update is 0");
  says([] { OneCycleScheduler(9, {.pct_start = 1}); }, "pct_start is 1");
  says([] { OneCycleScheduler(9, {.anneal = "cosine"}); }, "'cosine'");
  says([] { ReduceOnPlateauScheduler({.factor = 1}); }, "factor is 1");
  says([] { ReduceOnPlateauScheduler({.mode = "up"}); }, "'up'");
}

}  // namespace
}  // namespace symbind
