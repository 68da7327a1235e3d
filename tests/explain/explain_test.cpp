// explain from C++: executors and modules, the three forms, and what may go wrong.

#include <symbind/explain.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <symbind/ops.h>
#include <symbind/profiler.h>
#include <symbind/symbind.h>
#include <nlohmann/json.hpp>

#include "explain/explanation.h"
#include "explain/nets.h"

namespace symbind {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

nlohmann::json facts(const Executor& e) {
  return nlohmann::json::parse(explain(e, {.format = "json"}));
}

TEST(Explain, facts_are_the_plans) {
  const Executor e = bound();
  const nlohmann::json j = facts(e);
  EXPECT_EQ(j["totals"]["arena_bytes"], e.stats().arena_bytes);
  EXPECT_EQ(j["totals"]["max_live_bytes"], e.stats().max_live_bytes);
  ASSERT_EQ(j["steps"].size(), static_cast<std::size_t>(e.stats().steps));
  EXPECT_EQ(j["steps"][0]["name"], "fc1");
  EXPECT_EQ(j["steps"][0]["flops"], 8.0 * 16 * (2 * 32 + 1));
  EXPECT_EQ(j["totals"]["argument_bytes"], 4 * (8 * 32 + 16 * 32 + 16 + 4 * 16 + 4 + 8));
  EXPECT_EQ(j["title"], "softmax");
}

TEST(Explain, text_begins_with_the_plan) {
  const Executor e = bound();
  EXPECT_THAT(explain(e, {.format = "text"}), StartsWith(e.plan_text()));
}

TEST(Explain, blocks_of_one_step_do_not_overlap) {
  const Executor e = bound();
  const Plan& plan = runner_of(e).plan();
  const std::vector<MemoryBlock> blocks = memory_blocks(plan, 0, true);
  ASSERT_FALSE(blocks.empty());
  for (std::size_t a = 0; a < blocks.size(); ++a) {
    EXPECT_LE(blocks[a].offset + blocks[a].bytes, plan.arena_bytes.at(0));
    for (std::size_t b = 0; b < a; ++b) {
      const bool in_time = blocks[a].first <= blocks[b].last && blocks[b].first <= blocks[a].last;
      const bool in_space = blocks[a].offset < blocks[b].offset + blocks[b].bytes &&
                            blocks[b].offset < blocks[a].offset + blocks[a].bytes;
      EXPECT_FALSE(in_time && in_space) << a << " and " << b;
    }
  }
}

TEST(Explain, names_cannot_leave_the_data) {
  const std::string name = "</script><script>alert(1)</script>\"\xff";
  const std::string page = explain(bound(name), {.title = name});
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>"));
  std::size_t scripts = 0;
  for (std::size_t at = page.find("</script>"); at != std::string::npos;
       at = page.find("</script>", at + 1))
    ++scripts;
  EXPECT_EQ(scripts, 2u);
  const std::size_t begin = page.find("id=\"data\">") + 10, end = page.find("</script>", begin);
  const auto j = nlohmann::json::parse(page.substr(begin, end - begin));
  EXPECT_THAT(j["title"].get<std::string>(), StartsWith("</script><script>alert(1)"));
}

TEST(Explain, modules_of_several_devices) {
  Module mod(net(), {.context = {cpu(0), cpu(1)}});
  EXPECT_THROW(explain(mod), Error);
  mod.bind({{.name = "data", .shape = {8, 32}}}, {{{.name = "softmax_label", .shape = {8}}}});
  EXPECT_THAT(explain(mod, {.format = "text", .device = 1}), HasSubstr("on cpu(1)"));
  EXPECT_THAT(explain(mod, {.format = "text"}), HasSubstr("(4, 32)"));
  EXPECT_THROW(explain(mod, {.device = 2}), Error);
}

TEST(Explain, times_of_a_profile) {
  Executor e = bound();
  const std::string path = testing::TempDir() + "/explain_test_trace.json";
  profiler::set_config({{"profile_symbolic", "1"}, {"filename", path}});
  profiler::set_running(true);
  e.forward(true);
  e.backward();
  profiler::dump();
  profiler::set_config({});
  const nlohmann::json j = facts(e);
  double total = 0;
  for (const auto& step : j["steps"]) {
    EXPECT_EQ(step["time"]["runs"], 1);
    total += step["time"]["total_ns"].get<double>();
  }
  EXPECT_GT(total, 0);
  std::ifstream file(path);
  const nlohmann::json trace = nlohmann::json::parse(file);
  double traced = 0;
  for (const auto& event : trace["traceEvents"])
    if (event["ph"] == "X" && event["cat"] == "operator") traced += event["dur"].get<double>();
  EXPECT_NEAR(traced, total / 1e3, 0.001 * static_cast<double>(j["steps"].size()));
}

TEST(BadInputExplain, mistakes) {
  EXPECT_THROW(explain(Executor()), Error);
  EXPECT_THROW(explain(bound(), {.format = "pdf"}), Error);
  EXPECT_THROW(explain_to_file(bound(), "/nowhere/at/all.html"), Error);
}

}  // namespace
}  // namespace symbind
