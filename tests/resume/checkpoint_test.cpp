// Sets of files: damaged or mixed files are found and named, and the requested sets are kept.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <limits>

#include <symbind/model.h>
#include <symbind/runtime.h>

#include "resume/trainings.h"

namespace symbind {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

void fit_some(const std::string& prefix, int epochs, CheckpointOptions how = {},
              const std::string& resume = "") {
  Module module(mlp());
  const DataBatch all = batch(24);
  NDArrayIter data(all.data[0], all.label[0], {.batch_size = 8});
  how.prefix = prefix;
  module.fit(data, {.optimizer_params = {{"learning_rate", 0.1}, {"momentum", 0.9}},
                    .num_epoch = epochs,
                    .checkpoint = how,
                    .resume = resume});
}

std::string error_of(const std::string& where) {
  try {
    load_training(where);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    return error.what();
  }
  return "loaded";
}

void flip(const std::string& path, std::uintmax_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const char c = static_cast<char>(file.get() ^ 0x10);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(c);
}

TEST(Checkpoint, files_are_mxnets_and_the_manifest) {
  const Folder folder;
  fit_some(folder.prefix(), 1);
  EXPECT_THAT(folder.names(), ElementsAre("model-0001.manifest.json", "model-0001.params",
                                          "model-0001.states", "model-symbol.json"));
  const Checkpoint plain = load_checkpoint(folder.prefix(), 1);
  EXPECT_EQ(plain.args.size(), 4u);
  EXPECT_EQ(plain.symbol.list_arguments(), kMlpArguments);
  EXPECT_EQ(load_training(folder.prefix())->epoch, 1);
}

TEST(BadInputCheckpoint, damaged_mixed_and_missing_files_are_named) {
  for (const char* ending : {"-0003.params", "-0003.states", "-0003.manifest.json"}) {
    for (const double where : {0.0, 0.3, 0.6, 0.9}) {
      const Folder folder;
      fit_some(folder.prefix(), 3);
      const std::string path = folder.prefix() + ending;
      flip(path, static_cast<std::uintmax_t>(where * static_cast<double>(fs::file_size(path))));
      const std::string text = error_of(folder.prefix());
      EXPECT_THAT(text, HasSubstr(path));
      EXPECT_THAT(text, HasSubstr("fit(resume='" + folder.prefix() + "-0002.manifest.json')"));
      EXPECT_EQ(load_training(folder.prefix() + "-0002.manifest.json")->epoch, 2);
    }
  }
  const Folder folder;
  fit_some(folder.prefix(), 3);
  fs::copy_file(folder.prefix() + "-0002.params", folder.prefix() + "-0003.params",
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(error_of(folder.prefix()), HasSubstr("-0003.params: its contents differ"));
  EXPECT_THAT(error_of(folder.prefix()), HasSubstr("-0002.params of"));
  fs::resize_file(folder.prefix() + "-0003.params", 40);
  EXPECT_THAT(error_of(folder.prefix()), HasSubstr("it has 40 bytes instead of"));
  fs::remove(folder.prefix() + "-0003.params");
  EXPECT_THAT(error_of(folder.prefix()), HasSubstr("-0003.params: the file is missing"));
  fs::remove(folder.prefix() + "-0003.states");
  EXPECT_THAT(error_of(folder.prefix()), HasSubstr("-0003.states: the file is missing"));
  for (const int epoch : {1, 2}) flip(checkpoint_path(folder.prefix(), epoch), 50);
  EXPECT_THAT(error_of(folder.prefix()), HasSubstr("no complete set is left"));
}

TEST(BadInputCheckpoint, invalid_manifests) {
  const Folder folder;
  const std::string path = folder.prefix() + "-0001.manifest.json";
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[1,"), std::string("\x89PNG\r\n\x1a\n"),
        std::string(200000, '['), std::string("{\"checkpoint\":{},\"sha256\":\"00\"}"),
        std::string("{\"checkpoint\":[],\"sha256\":7}")}) {
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_THAT(error_of(folder.prefix()), HasSubstr(path)) << text.substr(0, 30);
  }
  EXPECT_THAT(error_of(folder.prefix() + "-0009.manifest.json"), HasSubstr("there is no file"));
}

TEST(Checkpoint, last_and_best_stay) {
  const Folder folder;
  Checkpointer saver(
      {.prefix = folder.prefix(), .keep_last = 2, .keep_best = "accuracy", .background = false});
  const double scores[] = {0.5, 0.9, 0.8, std::nan(""), 0.7};
  for (int epoch = 1; epoch <= 5; ++epoch) {
    TrainingState state{.epoch = epoch};
    state.args["w"] = NDArray::full({2}, epoch, cpu());
    state.score = NameValue("accuracy", scores[epoch - 1]);
    saver.save(std::move(state));
  }
  std::vector<int> epochs;
  for (const CheckpointInfo& info : list_checkpoints(folder.prefix())) epochs.push_back(info.epoch);
  EXPECT_THAT(epochs, ElementsAre(2, 4, 5));
  EXPECT_THAT(folder.names(), ElementsAre("model-0002.manifest.json", "model-0002.params",
                                          "model-0004.manifest.json", "model-0004.params",
                                          "model-0005.manifest.json", "model-0005.params"));
}

TEST(Checkpoint, within_epochs_the_newest_two_stay) {
  const Folder folder;
  fit_some(folder.prefix(), 2, {.prefix = "", .every_n_batches = 1, .background = false});
  std::vector<std::pair<int, int>> sets;
  for (const CheckpointInfo& info : list_checkpoints(folder.prefix()))
    sets.emplace_back(info.epoch, info.batch);
  using P = std::pair<int, int>;
  EXPECT_THAT(sets, ElementsAre(P(1, 0), P(1, 1), P(1, 2), P(2, 0)));
}

TEST(Checkpoint, a_restarted_training_counts_though_its_epochs_are_fewer) {
  const Folder folder;
  fit_some(folder.prefix(), 4);
  fit_some(folder.prefix(), 2);
  EXPECT_EQ(load_training(folder.prefix())->epoch, 2);
}

TEST(Checkpoint, plain_data_comes_back_bit_for_bit) {
  const Folder folder;
  StateValue facts = StateValue::dict(), odd = StateValue::dict();
  for (const double x : {0.1, -0.0, 1e-310, 1.7976931348623157e308, std::nan(""),
                         std::numeric_limits<double>::infinity()})
    odd.add(StateValue::of(std::int64_t(odd.items.size())), StateValue::of(x));
  facts.add("odd", odd);
  facts.add("bytes", {.kind = StateValue::Kind::kBytes, .text = std::string("\0\xff\x10", 3)});
  facts.add("big", StateValue::of(std::numeric_limits<std::int64_t>::min()));
  facts.add("pair", StateValue::sequence(StateValue::Kind::kTuple,
                                         {StateValue::none(), StateValue::of(true)}));
  facts.add("$dollar", StateValue::of(std::string("ü")));
  facts.add("array", StateValue::of(NDArray::from_vector(std::vector<double>{0.1, 2}, {2})));
  TrainingState state{.epoch = 1, .facts = facts};
  state.args["w"] = NDArray::full({2}, 1, cpu());
  { Checkpointer({.prefix = folder.prefix()}).save(state); }
  const StateValue back = load_training(folder.prefix())->facts;
  for (std::size_t i = 0; i < odd.items.size(); i += 2) {
    const StateValue& number = back.at("odd", "test").items[i + 1];
    EXPECT_EQ(std::bit_cast<std::uint64_t>(number.number) |
                  (std::isnan(number.number) ? std::uint64_t{1} << 63 : 0),
              std::bit_cast<std::uint64_t>(odd.items[i + 1].number) |
                  (std::isnan(number.number) ? std::uint64_t{1} << 63 : 0));
    EXPECT_EQ(back.at("odd", "test").items[i].integer, odd.items[i].integer);
  }
  EXPECT_EQ(back.at("bytes", "test").text, std::string("\0\xff\x10", 3));
  EXPECT_EQ(back.integer_at("big", "test"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(back.at("pair", "test").kind, StateValue::Kind::kTuple);
  EXPECT_EQ(back.at("$dollar", "test").text, "ü");
  EXPECT_EQ(back.array_at("array", "test").to_vector<double>(), std::vector<double>({0.1, 2}));
}

std::atomic<bool> stop_now{false};

TEST(Checkpoint, an_interruption_saves_first) {
  for (const bool in_score : {false, true}) {
    const auto run = [&](const Folder& folder, const std::string& resume, bool interrupt) {
      seed(3);
      Module module(dropout_net(), {.context = cpus(2)});
      const auto rows = shuffled_rows(), eval = shuffled_rows();
      FitOptions o = dropout_fit("adam", 3);
      o.eval_data = eval.get();
      o.checkpoint = CheckpointOptions{.prefix = folder.prefix()};
      o.resume = resume;
      const auto ask = [&](const BatchEndParam& p) {
        if (!interrupt || p.epoch != 1 || p.nbatch != 6) return;
        if (in_score) throw Interrupted();
        stop_now = true;
      };
      (in_score ? o.eval_batch_end_callback : o.batch_end_callback) = ask;
      std::string result = "interrupted";
      set_interrupt_check([] { return stop_now.load(); });
      try {
        module.fit(*rows, o);
        result = hash_of(module, folder.prefix("hash"));
      } catch (const Interrupted&) {
      }
      set_interrupt_check(nullptr);
      stop_now = false;
      return result;
    };
    const Folder whole, cut;
    const std::string expected = run(whole, "", false);
    ASSERT_EQ(run(cut, "", true), "interrupted");
    const CheckpointInfo last = list_checkpoints(cut.prefix()).back();
    EXPECT_EQ(last.epoch, 1);
    EXPECT_EQ(last.batch, in_score ? 13 : 8);
    EXPECT_EQ(run(cut, cut.prefix(), false), expected) << in_score;
  }
}

TEST(BadInputCheckpoint, options_that_make_no_sense) {
  const Folder folder;
  const auto says = [](CheckpointOptions o) -> std::string {
    try {
      const Checkpointer saver(std::move(o));
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_THAT(says({.prefix = ""}), HasSubstr("needs a prefix"));
  EXPECT_THAT(says({.prefix = folder.path + "/none/model"}), HasSubstr("there is no folder"));
  EXPECT_THAT(says({.prefix = folder.prefix(), .mode = "most"}),
              HasSubstr("modes: auto, max, min"));
  Module module(mlp());
  const DataBatch all = batch(24);
  NDArrayIter data(all.data[0], all.label[0], {.batch_size = 8});
  try {
    module.fit(
        data, {.num_epoch = 1,
               .checkpoint = CheckpointOptions{.prefix = folder.prefix(), .keep_best = "acuracy"}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("accuracy"));
  }
}

}  // namespace
}  // namespace symbind
