// Callbacks and monitors write MXNet's lines (tools/oracle/record_callback.py); early stopping ends
// a training by an exception.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <regex>

#include <nlohmann/json.hpp>

#include <symbind/callback.h>
#include <symbind/model.h>
#include <symbind/monitor.h>
#include <symbind/ops.h>

#include "tests/support/capture_log.h"
#include "tests/support/source_path.h"

namespace symbind {
namespace {

using Lines = std::vector<std::string>;

Lines recorded(const char* scene) {
  std::ifstream file(source_path("tests/golden/log_lines.json"));
  return nlohmann::json::parse(file).at(scene).get<Lines>();
}

Lines masked(const Lines& lines) {
  static const std::regex kSpeed("Speed: [0-9.inf]+ ");
  static const std::regex kUnwritten("((out_backward_output1|fc_backward_output0) +)\\S+");
  Lines all;
  for (const std::string& line : lines)
    all.push_back(
        std::regex_replace(std::regex_replace(line, kSpeed, "Speed: * "), kUnwritten, "$1*"));
  return all;
}

Lines trained(const MetricPtr& metric, const BatchEndCallback& callback, int epochs = 2,
              int batches = 6) {
  const CaptureLog log;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    if (metric) metric->reset();
    for (int batch = 0; batch < batches; ++batch) {
      const NDArray label({0, static_cast<float>(batch % 2), 1}, {3});
      if (metric)
        metric->update({label}, {NDArray({0.25f, 0.75f, 0.75f, 0.25f, 0.5f, 0.75f}, {3, 2})});
      callback({.epoch = epoch, .nbatch = batch, .eval_metric = metric.get()});
    }
  }
  return masked(log.lines());
}

Lines monitored(Monitor& monitor, double value = 2) {
  Symbol net = FullyConnected("fc", Variable("data"), {.num_hidden = 4});
  net = Activation("act", net, {.act_type = "relu"});
  net = LinearRegressionOutput("out", net);
  Executor e = net.simple_bind(cpu(), {{"data", {1, 4}}, {"out_label", {1, 4}}},
                               {.grad_req = std::map<std::string, std::string>{
                                    {"fc_weight", "write"}, {"fc_bias", "write"}}});
  NDArray(e.arg_dict().at("data")).set(value);
  NDArray(e.arg_dict().at("fc_weight")).set(0.5);
  NDArray(e.arg_dict().at("fc_bias")).set(-1.0);
  monitor.install(e);
  const CaptureLog log;
  for (int step = 0; step < 2; ++step) {
    monitor.tic();
    e.forward(true);
    e.backward();
    monitor.toc_print();
  }
  return masked(log.lines());
}

MetricPtr both() { return MetricArg{"acc", "ce"}.metric(); }

TEST(GoldenCallback, lines_are_mxnets) {
  EXPECT_EQ(trained(Accuracy(), Speedometer(10, 2)), recorded("speed"));
  EXPECT_EQ(trained(Accuracy(), Speedometer(10, 2, false)), recorded("speed_keep"));
  EXPECT_EQ(trained(both(), Speedometer(10, 3)), recorded("speed_two"));
  EXPECT_EQ(trained(nullptr, Speedometer(10, 2)), recorded("speed_none"));
  EXPECT_EQ(trained(Accuracy(), log_train_metric(2)), recorded("train"));
  EXPECT_EQ(trained(both(), log_train_metric(2, true)), recorded("train_reset"));
  EXPECT_EQ(trained(nullptr, ProgressBar({.total = 6, .length = 13, .terminal = false}), 1, 7),
            recorded("bar"));
  EXPECT_EQ(trained(nullptr, ProgressBar({.total = 7, .terminal = false}), 1, 3),
            recorded("bar_long"));
  EXPECT_EQ(trained(both(), LogValidationMetricsCallback(), 1, 1), recorded("validation"));
}

TEST(GoldenCallback, monitor_lines_are_mxnets) {
  Monitor plain(1);
  EXPECT_EQ(monitored(plain), recorded("monitor"));
  Monitor second(2, {.pattern = "fc.*", .sort = true});
  EXPECT_EQ(monitored(second), recorded("monitor_second"));
  Monitor all(2, {.stat_func =
                      [](const NDArray& x) {
                        return std::vector<NDArray>{x, invoke("sum", {x})[0]};
                      },
                  .pattern = "(act|out_output|fc_bias)",
                  .sort = true});
  EXPECT_EQ(monitored(all), recorded("monitor_all"));
  Monitor digits(
      1, {.stat_func =
              [](const NDArray& x) { return std::vector<NDArray>{x.reshape({-1}).slice(0, 1)}; },
          .pattern = "data"});
  EXPECT_EQ(monitored(digits, 0.1), recorded("monitor_digits"));
}

TEST(Callback, a_bar_on_a_terminal_has_the_time_left) {
  testing::internal::CaptureStderr();
  EXPECT_TRUE(
      trained(nullptr, ProgressBar({.total = 3, .length = 6, .terminal = true}), 1, 3).empty());
  const std::string drawn = testing::internal::GetCapturedStderr();
  EXPECT_EQ(drawn, "\r[==----]  34%\r[====--]  67% ETA 0:00:00\r[======] 100% ETA 0:00:00\n");
}

TEST(Callback, early_stopping_waits_and_ends) {
  const MetricPtr metric = make_metric([](const NDArray&, const NDArray&) { return 0.0; }, "error");
  const BatchEndCallback stop = EarlyStopping({.metric = "error", .patience = 2});
  const auto evaluated = [&](int epoch, double value) {
    metric->sum_metric = value;
    metric->num_inst = 1;
    stop({.epoch = epoch, .eval_metric = metric.get()});
  };
  for (const double value : {3.0, 2.0, 2.5, 1.0, 1.0}) evaluated(0, value);
  try {
    evaluated(5, 1.5);
    ADD_FAILURE() << "the training continues";
  } catch (const StopTraining& stop) {
    EXPECT_STREQ(stop.what(),
                 "Epoch[5] Stopping early: error=1.500000 is not better than 1.000000 for 2 "
                 "evaluations");
  }
  const MetricPtr acc = Accuracy();
  const BatchEndCallback rising = EarlyStopping();
  for (const double value : {0.5, 0.6}) {
    acc->sum_metric = value;
    acc->num_inst = 1;
    EXPECT_NO_THROW(rising({.eval_metric = acc.get()}));
  }
  EXPECT_THROW(rising({.eval_metric = acc.get()}), StopTraining);
}

TEST(Callback, checkpoints_are_written_by_period) {
  const std::string prefix = testing::TempDir() + "/symbind_callback";
  const EpochEndCallback save = do_checkpoint(prefix, 2);
  const Symbol net = FullyConnected("fc", Variable("data"), {.num_hidden = 1});
  for (int epoch = 0; epoch < 5; ++epoch)
    save(epoch, net, {{"fc_weight", NDArray::full({1, 1}, epoch)}}, {});
  EXPECT_EQ(checkpoint_epochs(prefix), (std::vector<int>{2, 4}));
  EXPECT_EQ(load_checkpoint(prefix, 4).args.at("fc_weight").scalar(), 3);
  std::remove((prefix + "-symbol.json").c_str());
  for (const int epoch : {2, 4}) std::remove(checkpoint_path(prefix, epoch).c_str());
}

TEST(BadInputCallback, options) {
  EXPECT_THROW(Speedometer(1, 0), Error);
  EXPECT_THROW(ProgressBar({.total = 0}), Error);
  EXPECT_THROW(EarlyStopping({.mode = "up"}), Error);
  EXPECT_THROW(Monitor(0), Error);
  EXPECT_THROW(Monitor(1, {.pattern = "("}), Error);
  const MetricPtr acc = Accuracy();
  EXPECT_THROW(EarlyStopping({.metric = "acuracy"})({.eval_metric = acc.get()}), Error);
}

}  // namespace
}  // namespace symbind
