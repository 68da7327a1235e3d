// Runs: their folder, log and report; the progress display; callbacks of a whole fit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include <nlohmann/json.hpp>

#include <symbind/run.h>

#include "io/files.h"
#include "module/nets.h"
#include "module/progress.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kRows = 24;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Run : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }

  FitOptions options(int epochs) {
    return {.eval_data = &eval_,
            .optimizer_params = {{"learning_rate", 0.5}},
            .num_epoch = epochs,
            .run = RunOptions{.name = "first", .folder = folder_}};
  }
  /// Trains from the same weights, with the same order of rows.
  std::unique_ptr<Module> train(FitOptions o) {
    auto module = std::make_unique<Module>(mlp());
    module->bind(data_shapes(), label_shapes());
    const ModelParams shapes = [&] {
      module->init_params();
      return module->get_params();
    }();
    module->set_params(seeded(shapes.args), {});
    NDArrayIter rows(all_.data[0], all_.label[0], {.batch_size = 8});
    module->fit(rows, std::move(o));
    return module;
  }
  std::string file(const char* name) const { return text_of(fs::path(folder_) / "first" / name); }
  std::vector<json> log() const {
    std::vector<json> lines;
    std::istringstream text(file("log.jsonl"));
    for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
    return lines;
  }
  json report() const {
    const std::string page = file("report.html");
    const std::string begin = "id=\"data\">";
    const std::size_t at = page.find(begin) + begin.size();
    return json::parse(page.substr(at, page.find("</script>", at) - at));
  }

  const CaptureLog quiet_;
  std::string folder_ = TemporaryFile().path() + "-runs";
  const DataBatch all_ = batch(kRows);
  NDArrayIter eval_{all_.data[0], all_.label[0], {.batch_size = 8}};
};

TEST_F(Run, records_config_log_checkpoints_and_report) {
  const auto module = train(options(2));
  const double accuracy = module->score(eval_, "acc").front().second;
  EXPECT_THAT(file("config.toml"), HasSubstr("batch-size = 8\ndevices = [\"cpu(0)\"]\n"));
  EXPECT_THAT(file("config.toml"), HasSubstr("[optimizer]\nname = \"SGD\"\n"));
  EXPECT_TRUE(fs::exists(folder_ + "/first/model-0002.params"));

  const std::vector<json> lines = log();
  std::vector<std::string> moments;
  for (const json& line : lines)
    moments.push_back(line["phase"].get<std::string>() + line["epoch"].dump());
  EXPECT_THAT(moments, ElementsAre("train0", "validation0", "train1", "validation1"));
  EXPECT_EQ(lines[3]["accuracy"], accuracy);
  EXPECT_EQ(lines[2]["learning_rate"], 0.5);
  EXPECT_EQ(lines[2]["nbatch"], 3);

  const json page = report();
  EXPECT_EQ(page["state"], "complete");
  EXPECT_EQ(page["log"].size(), 4u);
  EXPECT_EQ(page["config"], file("config.toml"));
  EXPECT_THAT(page["command"].get<std::string>(), HasSubstr("tests_module"));
  double counted = 0, right = 0;
  for (std::size_t i = 0; i < page["confusion"].size(); ++i) {
    const auto row = page["confusion"][i].get<std::vector<double>>();
    counted += std::accumulate(row.begin(), row.end(), 0.0);
    right += row[i];
  }
  EXPECT_EQ(counted, kRows);
  EXPECT_DOUBLE_EQ(right / counted, accuracy);
}

// The first batch is not timed: it prepares much.
TEST_F(Run, the_report_has_times_of_layers_and_updates) {
  train(options(3));
  std::vector<std::string> names;
  const json page = report();
  for (const json& layer : page["layers"]) {
    names.push_back(layer["name"]);
    EXPECT_GT(layer["forward"].get<double>() + layer["backward"].get<double>(), 0) << names.back();
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"fc1", "fc2", "softmax", "updates"}));
}

TEST_F(Run, a_former_run_is_resumed_and_ends_with_the_same_bits) {
  const NDArrayMap whole = [&] {
    FitOptions o = options(4);
    o.run->name = "whole";
    return train(o)->get_params().args;
  }();
  train(options(2));
  FitOptions again = options(4);
  std::vector<int> trained;
  again.epoch_end_callback = [&](int epoch, const Symbol&, const NDArrayMap&, const NDArrayMap&) {
    trained.push_back(epoch);
  };
  const NDArrayMap resumed = train(again)->get_params().args;
  EXPECT_THAT(trained, ElementsAre(2, 3));
  for (const auto& [name, array] : whole)
    EXPECT_EQ(resumed.at(name).to_vector<float>(), array.to_vector<float>()) << name;
  std::vector<int> epochs;
  const json page = report();
  for (const json& line : page["log"])
    if (line["phase"] == "train") epochs.push_back(line["epoch"]);
  EXPECT_THAT(epochs, ElementsAre(0, 1, 2, 3));
}

TEST_F(Run, the_log_continues_where_checkpoints_are_elsewhere) {
  for (const int epochs : {1, 2}) {
    FitOptions o = options(epochs);
    o.checkpoint = CheckpointOptions{.prefix = folder_ + "-elsewhere"};
    train(o);
  }
  EXPECT_EQ(log().size(), 4u);
  for (const auto& entry : fs::directory_iterator(fs::path(folder_).parent_path()))
    if (entry.path().string().starts_with(folder_ + "-elsewhere")) fs::remove(entry.path());
}

TEST_F(Run, lines_of_the_log_that_are_not_ours_are_left_out) {
  train(options(1));
  std::ofstream(fs::path(folder_) / "first" / "log.jsonl", std::ios::app)
      << "[1, 2]\n{\"epoch\": 1e300, \"nbatch\": 1, \"phase\": \"train\"}\n"
      << "{\"epoch\": 7, \"nbatch\": 1, \"phase\": {}}\n"
      << std::string(100000, '[') << "\n{\"epo\n";
  train(options(2));
  EXPECT_EQ(report()["log"].size(), 4u);
}

TEST_F(Run, a_regression_has_no_confusion_matrix) {
  FitOptions o = options(1);
  o.eval_metric = "mse";
  train(o);
  EXPECT_TRUE(report()["confusion"].is_null());
}

TEST_F(Run, restart_renames_the_former_run) {
  train(options(1));
  const std::string before = file("log.jsonl");
  for (const char* aside : {"first.1", "first.2"}) {
    FitOptions o = options(1);
    o.run->restart = true;
    train(o);
    EXPECT_TRUE(fs::exists(fs::path(folder_) / aside / "model-0001.params"));
    EXPECT_EQ(log().size(), 2u);
  }
  EXPECT_EQ(text_of(fs::path(folder_) / "first.1" / "log.jsonl"), before);
  EXPECT_THAT(quiet_.lines(), testing::Contains("the former run is now " + folder_ + "/first.2"));
}

TEST_F(Run, lines_within_an_epoch) {
  FitOptions o = options(1);
  o.run->log_every = 2;
  train(o);
  const std::vector<json> lines = log();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["phase"], "interval");
  EXPECT_EQ(lines[0]["nbatch"], 2);
}

TEST_F(Run, an_error_is_in_the_report_and_the_run_resumes) {
  FitOptions o = options(3);
  o.batch_end_callback = [](const BatchEndParam& p) {
    if (p.epoch == 1) throw std::runtime_error("the cable <pulled>");
  };
  EXPECT_THROW(train(o), std::runtime_error);
  EXPECT_EQ(report()["state"], "stopped");
  EXPECT_EQ(report()["error"], "the cable <pulled>");
  EXPECT_THAT(file("report.html"), Not(HasSubstr("<pulled>")));
  train(options(3));
  EXPECT_EQ(report()["state"], "complete");
}

TEST_F(Run, two_trainings_cannot_share_a_run) {
  RunFolder other(RunOptions{.name = "first", .folder = folder_});
  other.open(false);
  try {
    train(options(1));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kState);
    EXPECT_THAT(e.what(), HasSubstr("another process trains in"));
  }
}

TEST(BadInputRun, names_that_leave_the_folder_are_refused) {
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "a\\b", "a b", "ä"})
    EXPECT_THROW(RunFolder(RunOptions{.name = name}), Error) << name;
  EXPECT_NO_THROW(RunFolder(RunOptions{.name = "resnet-50_v1.2"}));
}

TEST_F(Run, without_one_no_file_is_written) {
  const auto names = [] {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(".")) all.push_back(entry.path().string());
    return all;
  };
  const std::vector<std::string> before = names();
  FitOptions o = options(1);
  o.run.reset();
  train(o);
  EXPECT_EQ(names(), before);
}

// --- callbacks
// ---------------------------------------------------------------------------------------

TEST_F(Run, fit_calls_back_at_begin_and_end) {
  FitOptions o = options(1);
  o.run.reset();
  std::vector<std::string> calls;
  o.fit_begin_callback = [&](const FitParam& p) {
    calls.push_back("begin");
    EXPECT_EQ(p.num_epoch, 1);
    EXPECT_TRUE(p.module->optimizer_initialized());
  };
  o.batch_end_callback = [&](const BatchEndParam&) { calls.push_back("batch"); };
  o.fit_end_callback = [&](const FitParam& p) {
    calls.push_back("end");
    EXPECT_EQ(p.error, nullptr);
  };
  o.fit_error_callback = [&](const FitParam&) { calls.push_back("error"); };
  train(o);
  EXPECT_THAT(calls, ElementsAre("begin", "batch", "batch", "batch", "end"));
}

TEST_F(Run, fit_calls_back_on_an_error_which_stays_the_same) {
  FitOptions o = options(1);
  o.run.reset();
  std::string seen;
  o.batch_end_callback = [](const BatchEndParam&) { throw std::runtime_error("the cable"); };
  o.fit_end_callback = [&](const FitParam&) { seen += "end "; };
  o.fit_error_callback = [&](const FitParam& p) {
    seen += p.error->what();
    throw std::logic_error("a second one");
  };
  try {
    train(o);
    FAIL() << "no error";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "the cable");
  }
  EXPECT_EQ(seen, "the cable");
  EXPECT_THAT(quiet_.lines(), testing::Contains("fit_error_callback failed: a second one"));
}

// --- progress
// ----------------------------------------------------------------------------------------

TEST_F(Run, progress_is_a_line_per_epoch_where_stderr_is_no_terminal) {
  FitOptions o = options(2);
  o.run.reset();
  o.progress = true;
  testing::internal::CaptureStderr();
  train(o);
  std::istringstream text(testing::internal::GetCapturedStderr());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[1], testing::MatchesRegex("epoch 2/2  accuracy 0\\.[0-9]+  validation accuracy "
                                              "0\\.[0-9]+  [0-9]+ samples/s  0:00"));
}

TEST_F(Run, a_log_of_the_caller_silences_the_progress) {
  FitOptions o = options(1);
  o.run.reset();
  testing::internal::CaptureStderr();
  train(o);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(IterBatches, count_the_last_one_as_it_is_handled) {
  const DataBatch all = batch(20);
  const auto batches = [&](const char* handle) {
    return NDArrayIter(all.data[0], {}, {.batch_size = 8, .last_batch_handle = handle}).batches();
  };
  EXPECT_EQ(batches("pad"), 3);
  EXPECT_EQ(batches("discard"), 2);
}

}  // namespace
}  // namespace symbind
