// fit with callbacks that end it, the NaN guard and a monitor.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include <symbind/module.h>
#include <symbind/ops.h>

#include "tests/support/capture_log.h"

namespace symbind {
namespace {

using testing::HasSubstr;

constexpr int kBatch = 10, kBatches = 5;

Symbol net() {
  return SoftmaxOutput("softmax", FullyConnected("fc", Variable("data"), {.num_hidden = 2}));
}

NDArray data() {
  std::vector<float> values;
  for (int i = 0; i < kBatch * kBatches * 4; ++i) values.push_back(static_cast<float>(i % 7 - 3));
  return NDArray::from_vector(values, {kBatch * kBatches, 4});
}

NDArray labels() { return NDArray::zeros({kBatch * kBatches}); }

TEST(FitWatch, a_callback_ends_the_training) {
  NDArrayIter train(data(), labels(), {.batch_size = kBatch});
  NDArrayIter val(data(), labels(), {.batch_size = kBatch});
  Module mod(net());
  const CaptureLog log;
  int epochs = 0;
  mod.fit(train, {.eval_data = &val,
                  .epoch_end_callback = [&](int, const Symbol&, const NDArrayMap&,
                                            const NDArrayMap&) { ++epochs; },
                  .optimizer_params = {{"learning_rate", 0.0}},
                  .eval_end_callback = EarlyStopping({.patience = 2}),
                  .num_epoch = 9});
  EXPECT_EQ(epochs, 3);
  EXPECT_THAT(log.lines().back(), HasSubstr("Epoch[2] Stopping early: accuracy="));
}

TEST(BadInputNanGuard, line37_in_fit) {
  NDArray bad = data();
  bad.set({Index(25), Index(1)}, std::numeric_limits<double>::quiet_NaN());
  NDArrayIter train(bad, labels(), {.batch_size = kBatch});
  Module mod(net());
  NanGuard guard;
  try {
    mod.fit(train, {.num_epoch = 1, .monitor = &guard});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    EXPECT_THAT(error.what(), HasSubstr("step 3: FullyConnected 'fc'"));
    EXPECT_THAT(error.what(),
                HasSubstr("input 0 'data': (10, 4) in [-3, 3], 1 of 40 NaN or infinity"));
  }
  const NDArrayMap params = mod.get_params().args;
  for (const float value : params.at("fc_weight").to_vector<float>())
    EXPECT_TRUE(std::isfinite(value));
}

TEST(FitWatch, a_monitor_sees_every_so_many_batches) {
  NDArrayIter train(data(), labels(), {.batch_size = kBatch});
  Module mod(net());
  Monitor monitor(2, {.pattern = "fc_output"});
  const CaptureLog log;
  mod.fit(train, {.num_epoch = 1, .monitor = &monitor});
  std::vector<std::string> seen;
  for (const std::string& line : log.lines())
    if (line.starts_with("Batch:")) seen.push_back(line.substr(0, 24));
  EXPECT_EQ(seen, (std::vector<std::string>{"Batch:       1 fc_output", "Batch:       3 fc_output",
                                            "Batch:       5 fc_output"}));
}

/// A module with its own step, which counts.
struct OwnStep : Module {
  using Module::Module;
  void step(const DataBatch& batch, EvalMetric& metric) override {
    ++steps;
    Module::step(batch, metric);
  }
  int steps = 0;
};

TEST(FitWatch, a_monitor_leaves_the_step_to_the_subclass) {
  const CaptureLog log;
  for (const bool watched : {false, true}) {
    NDArrayIter train(data(), labels(), {.batch_size = kBatch});
    OwnStep mod(net());
    Monitor monitor(1, {.pattern = "fc_output"});
    mod.fit(train, {.num_epoch = 1, .monitor = watched ? &monitor : nullptr});
    EXPECT_EQ(mod.steps, kBatches) << (watched ? "with" : "without") << " a monitor";
  }
  EXPECT_EQ(std::ranges::count_if(
                log.lines(), [](const std::string& line) { return line.starts_with("Batch:"); }),
            kBatches);
}

}  // namespace
}  // namespace symbind
