// The profiler from C++: what is counted, what is not, and many threads at once.

#include <unistd.h>

#include <symbind/profiler.h>
#include <filesystem>

#include <chrono>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "explain/nets.h"

namespace symbind {
namespace {

using nlohmann::json;

json statistics(bool reset = false) {
  return json::parse(profiler::dumps({.reset = reset, .format = "json"}));
}

/// Recording everything while it lives, from empty statistics.
struct Recording {
  std::string path = testing::TempDir() + "/profiler_test_" + std::to_string(::getpid()) + ".json";
  explicit Recording(const std::map<std::string, std::string>& more = {}) {
    std::map<std::string, std::string> options = {{"profile_all", "1"}, {"filename", path}};
    options.insert(more.begin(), more.end());
    profiler::set_config(options);
    profiler::dump();
    profiler::dumps({.reset = true});
    profiler::set_running(true);
  }
  ~Recording() {
    profiler::dump();
    profiler::set_config({});
    std::filesystem::remove(path);
  }
  json trace() const {
    profiler::dump();
    std::ifstream file(path);
    return json::parse(file)["traceEvents"];
  }
};

TEST(Profiler, nothing_while_paused_or_stopped) {
  const Recording recording;
  const NDArray x = NDArray::zeros({4});
  invoke("exp", {x});
  profiler::pause();
  invoke("exp", {x});
  profiler::resume();
  invoke("exp", {x});
  profiler::set_running(false);
  invoke("exp", {x});
  EXPECT_EQ(statistics()["Time"]["operator"]["exp"]["Count"], 2);
}

TEST(Profiler, parts_are_chosen) {
  const Recording recording({{"profile_all", "0"}, {"profile_symbolic", "1"}});
  profiler::set_config({{"profile_imperative", "1"}, {"filename", recording.path}});
  Executor e = bound();
  e.forward();
  invoke("exp", {NDArray::zeros({4})});
  const json found = statistics();
  EXPECT_TRUE(found["Time"]["operator"].contains("exp"));
  EXPECT_FALSE(found["Time"]["operator"].contains("SoftmaxOutput"));
  EXPECT_FALSE(found["Time"].contains("api"));
  EXPECT_TRUE(found["Memory"].empty());
}

TEST(Profiler, memory_grows_and_shrinks) {
  const Recording recording;
  { const NDArray x({1000}, cpu(), DType::kFloat64); }
  std::vector<double> values;
  for (const json& e : recording.trace())
    if (e["ph"] == "C") values.push_back(e["args"]["Memory: cpu/0"].get<double>());
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0] - values[1], 8000);
}

TEST(Profiler, statistics_of_an_executor_are_reset_with_the_others) {
  const Recording recording;
  Executor e = bound();
  for (int i = 0; i < 3; ++i) e.forward();
  statistics(true);
  e.forward();
  const json facts = json::parse(explain(e, {.format = "json"}));
  EXPECT_EQ(facts["steps"][0]["time"]["runs"], 1);
}

/// y = exp(x), slowly, by an operator of ours.
struct SlowExp : CustomKernel {
  void forward(CustomForward call) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (int i = 0; i < 50; ++i) invoke("exp", {call.in[0]}, {}, {call.out[0]});
  }
};
struct SlowExpOp : CustomOpDescription {
  std::shared_ptr<CustomKernel> create(Context, const std::vector<Shape>&,
                                       const std::vector<DType>&) const override {
    return std::make_shared<SlowExp>();
  }
};

TEST(Profiler, time_of_a_custom_operator_is_its_own) {
  const Recording recording;
  register_custom("slow_exp", [](const AttrDict&) { return std::make_shared<SlowExpOp>(); });
  invoke("Custom", {NDArray::zeros({1000})}, {{"op_type", "slow_exp"}}).front().wait_to_read();
  const json times = statistics()["Time"];
  const double own = times["Custom Operator"]["slow_exp::pure_python"]["Total"];
  const double nested = times["Custom Operator"]["slow_exp::exp"]["Total"];
  EXPECT_EQ(times["Custom Operator"]["slow_exp::exp"]["Count"], 50);
  EXPECT_FALSE(times["operator"].contains("exp"));
  EXPECT_GE(own, 2);
  double span = 0;
  for (const json& e : recording.trace())
    if (e["name"] == "slow_exp::pure_python") span = e["dur"].get<double>() / 1e3;
  EXPECT_NEAR(own + nested, span, 1e-3);
}

TEST(ThreadsProfiler, many_threads_record_at_once) {
  const Recording recording({{"continuous_dump", "true"}, {"dump_period", "0.001"}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      Executor e = bound();
      for (int i = 0; i < 50; ++i) {
        e.forward(true);
        e.backward();
        profiler::Stretch own(profiler::Stretch::Kind::kEvent, "", "own");
        own.start();
        invoke("exp", {NDArray::zeros({4})});
        own.stop();
        if (i % 10 == 0) profiler::dumps({.format = "json"});
      }
    });
  for (std::thread& t : threads) t.join();
  const json found = statistics();
  EXPECT_EQ(found["Time"]["operator"]["exp"]["Count"], 200);
  EXPECT_EQ(found["Time"]["operator"]["SoftmaxOutput"]["Count"], 200);
  EXPECT_EQ(found["Time"]["event"]["own"]["Count"], 200);
  int exps = 0;
  for (const json& event : recording.trace()) exps += event["name"] == "exp" ? 1 : 0;
  EXPECT_EQ(exps, 200);
}

}  // namespace
}  // namespace symbind
