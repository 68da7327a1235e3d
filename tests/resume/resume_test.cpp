// A training that was stopped and resumed equals the one that never stopped, bit for bit:
// parameters, optimizer states, metric.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <symbind/detail/resume.h>

#include "resume/trainings.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using testing::HasSubstr;

std::string text_of(const CaptureLog& log) {
  std::string text;
  for (const std::string& line : log.lines()) text += line + "\n";
  return text;
}

struct Stop {
  int epoch, batch;  // after this batch, counted from 1; 0: never
};

/// Trains a new module; stops like a crash, by an unexpected exception. `kind` is an optimizer's
/// name, and may end in " 2bit" for compressed gradients, whose residuals are state.
std::string train(const std::string& kind, const Folder& folder, Stop stop,
                  const std::string& resume, int every_n_batches, bool background = false) {
  seed(42);
  const bool compressed = kind.ends_with(" 2bit");
  ModuleOptions options{.context = cpus(2)};
  if (compressed) options.compression_params = {{"type", "2bit"}, {"threshold", "0.1"}};
  Module module(dropout_net(), options);
  const auto rows = shuffled_rows();
  FitOptions o = dropout_fit(kind.substr(0, kind.find(' ')), 3);
  if (compressed) o.kvstore = "device";
  if (every_n_batches >= 0)
    o.checkpoint = CheckpointOptions{
        .prefix = folder.prefix(), .every_n_batches = every_n_batches, .background = background};
  o.resume = resume;
  o.batch_end_callback = {Speedometer(8, 5), [&](const BatchEndParam& p) {
                            if (p.epoch == stop.epoch && p.nbatch + 1 == stop.batch)
                              throw StopHere();
                          }};
  try {
    module.fit(*rows, o);
  } catch (const StopHere&) {
    return "stopped";
  }
  return hash_of(module, folder.prefix("hash"));
}

class ResumeKinds : public testing::TestWithParam<const char*> {};

TEST_P(ResumeKinds, resumes_bit_for_bit) {
  const Folder folder;
  const std::string whole = train(GetParam(), folder, {-1, 0}, "", -1);
  // Stopped after batch 9 of the second epoch, checkpoints every 4 batches: resumes after batch 8.
  ASSERT_EQ(train(GetParam(), folder, {1, 9}, "", 4), "stopped");
  const auto sets = list_checkpoints(folder.prefix());
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.back().epoch, 1);
  EXPECT_EQ(sets.back().batch, 8);
  EXPECT_EQ(train(GetParam(), folder, {-1, 0}, folder.prefix(), 4), whole);
  // From the border of the first epoch, by its manifest.
  EXPECT_EQ(train(GetParam(), folder, {-1, 0}, folder.prefix() + "-0001.manifest.json", -1), whole);
  // Complete already: nothing is trained.
  EXPECT_EQ(train(GetParam(), folder, {-1, 0}, folder.prefix(), -1), whole);
}

INSTANTIATE_TEST_SUITE_P(Resume, ResumeKinds,
                         testing::Values("sgd", "adam", "nadam", "rmsprop", "ftrl", "signum",
                                         "lbsgd", "sgd 2bit", "adam 2bit"));

TEST(Resume, saving_changes_nothing) {
  const Folder folder;
  EXPECT_EQ(train("adam", folder, {-1, 0}, "", 3, true), train("adam", folder, {-1, 0}, "", -1));
}

TEST(Resume, nothing_there_starts_from_the_start) {
  const Folder folder;
  const CaptureLog log;
  EXPECT_EQ(train("sgd", folder, {-1, 0}, folder.prefix("none"), -1),
            train("sgd", folder, {-1, 0}, "", -1));
  EXPECT_THAT(text_of(log), HasSubstr("there is no checkpoint of"));
}

TEST(Resume, metric_resumes_within_the_epoch) {
  const auto run = [](const Folder& folder, const std::string& resume, int stop) {
    seed(1);
    Module module(dropout_net(), {.context = cpus(2)});
    const auto rows = shuffled_rows();
    FitOptions o = dropout_fit("sgd", 1);
    o.checkpoint =
        CheckpointOptions{.prefix = folder.prefix(), .every_n_batches = 3, .background = false};
    o.resume = resume;
    std::vector<double> seen;
    o.batch_end_callback = {Speedometer(8, 5), [&](const BatchEndParam& p) {
                              for (const auto& [name, value] : p.eval_metric->get())
                                seen.push_back(std::isnan(value) ? -1 : value);
                              for (const auto& [name, value] : p.eval_metric->get_global())
                                seen.push_back(value);
                              if (p.nbatch + 1 == stop) throw StopHere();
                            }};
    try {
      module.fit(*rows, o);
    } catch (const StopHere&) {
    }
    return seen;
  };
  const Folder whole, cut;
  const std::vector<double> all = run(whole, "", 0);
  run(cut, "", 7);
  const std::vector<double> rest = run(cut, cut.prefix(), 0);
  ASSERT_EQ(rest.size(), (12 - 6) * 4u);
  EXPECT_EQ(std::vector<double>(all.end() - static_cast<std::ptrdiff_t>(rest.size()), all.end()),
            rest);
}

TEST(Resume, buckets_and_chains) {
  const auto sentences = [] {
    std::vector<Sentence> all;
    for (int i = 0; i < 64; ++i) {
      Sentence s;
      for (int t = 0; t < (i % 2 == 0 ? 4 : 6); ++t) s.push_back((i * 7 + t * 3) % 9 + 1);
      all.push_back(s);
    }
    return std::make_unique<BucketSentenceIter>(
        all, BucketSentenceOptions{.batch_size = 4, .invalid_label = 0, .seed = 3});
  };
  const auto network = [](std::int64_t) {
    Symbol net = Embedding("embed", Variable("data"), {.input_dim = 10, .output_dim = 6});
    net = Dropout("drop", net, {.p = 0.3});
    net = Reshape("flat", net, {.shape = {-1, 6}});
    net = FullyConnected("pred", net, {.num_hidden = 10});
    const Symbol label = Reshape("labels", Variable("softmax_label"), {.shape = {-1}});
    return BucketNetwork{SoftmaxOutput("softmax", {.data = net, .label = label})};
  };
  const auto chain = [] {
    auto whole = std::make_unique<SequentialModule>();
    Symbol first = FullyConnected("a", Variable("data"), {.num_hidden = 7});
    first = Dropout("drop", first, {.p = 0.3});
    const Symbol second =
        SoftmaxOutput("softmax", FullyConnected("b", Variable("data"), {.num_hidden = 3}));
    whole->add(std::make_shared<Module>(first, ModuleOptions{.label_names = {}}));
    whole->add(std::make_shared<Module>(second), {.take_labels = true, .auto_wiring = true});
    return whole;
  };
  for (const bool buckets : {true, false}) {
    const auto run = [&](const Folder& folder, const std::string& resume, int stop) {
      seed(9);
      std::unique_ptr<BaseModule> module;
      std::unique_ptr<DataIter> data;
      if (buckets) {
        module = std::make_unique<BucketingModule>(network, 6);
        data = sentences();
      } else {
        module = chain();
        data = shuffled_rows();
      }
      FitOptions o = dropout_fit("adam", 2);
      o.eval_metric = "ce";
      o.checkpoint =
          CheckpointOptions{.prefix = folder.prefix(), .every_n_batches = 5, .background = false};
      o.resume = resume;
      o.batch_end_callback = [&](const BatchEndParam& p) {
        if (p.epoch == 1 && p.nbatch + 1 == stop) throw StopHere();
      };
      try {
        module->fit(*data, o);
      } catch (const StopHere&) {
        return std::string("stopped");
      }
      module->save_params(folder.prefix("hash"));
      std::string text = file_hash(folder.prefix("hash"));
      for (Module* part : module->modules(BaseModule::Which::kAllWeights)) {
        part->save_optimizer_states(folder.prefix("hash"));
        text += " " + file_hash(folder.prefix("hash"));
      }
      return text;
    };
    const Folder whole, cut;
    const std::string expected = run(whole, "", 0);
    ASSERT_EQ(run(cut, "", 8), "stopped");
    EXPECT_EQ(list_checkpoints(cut.prefix()).back().batch, 5);
    EXPECT_EQ(run(cut, cut.prefix(), 0), expected) << (buckets ? "buckets" : "chain");
  }
}

/// A source that says nothing about itself.
struct Mute : DataIter {
  const std::vector<DataDesc>& provide_data() const override { return data; }
  const std::vector<DataDesc>& provide_label() const override { return label; }
  void reset() override { at = 0, ++epoch; }
  bool next(DataBatch& into) override {
    if (at == 6) return false;
    into = batch(8, static_cast<std::uint64_t>(100 * epoch + at++));
    return true;
  }
  std::vector<DataDesc> data = data_shapes(), label = label_shapes();
  int at = 0, epoch = 0;
};

TEST(Resume, a_mute_iterator_is_wound_forward) {
  const auto run = [](const Folder& folder, const std::string& resume, int stop) {
    seed(9);
    Module module(dropout_net());
    Mute data;
    FitOptions o = dropout_fit("sgd", 3);
    o.checkpoint =
        CheckpointOptions{.prefix = folder.prefix(), .every_n_batches = 2, .background = false};
    o.resume = resume;
    o.batch_end_callback = [&](const BatchEndParam& p) {
      if (p.epoch == 2 && p.nbatch + 1 == stop) throw StopHere();
    };
    try {
      module.fit(data, o);
    } catch (const StopHere&) {
      return std::string("stopped");
    }
    return hash_of(module, folder.prefix("hash"));
  };
  const Folder whole, cut;
  const std::string expected = run(whole, "", 0);
  ASSERT_EQ(run(cut, "", 5), "stopped");
  const CaptureLog log;
  EXPECT_EQ(run(cut, cut.prefix(), 0), expected);
  EXPECT_THAT(text_of(log), HasSubstr("it is reset 2 times and 4 batches are skipped"));
}

TEST(Resume, named_parts_come_back) {
  const Folder folder;
  const auto run = [&](const std::string& resume, NDArray& average) {
    Module module(mlp());
    const DataBatch all = batch(24);
    NDArrayIter data(all.data[0], all.label[0], {.batch_size = 8});
    module.keep_in_checkpoints(
        "average", {[&] {
                      StateValue dict = StateValue::dict();
                      dict.add("w", StateValue::of(average));
                      return dict;
                    },
                    [&](const StateValue& state) { average = state.array_at("w", "average"); }});
    module.fit(data, {.num_epoch = 1,
                      .checkpoint = CheckpointOptions{.prefix = folder.prefix()},
                      .resume = resume});
  };
  NDArray average({1, 2, 3}, {3}), other({0, 0}, {2});
  run("", average);
  run(folder.prefix(), other);
  EXPECT_EQ(other.to_vector<float>(), Floats({1, 2, 3}));
}

TEST(Resume, early_stopping_resumes_its_wait) {
  const auto epochs = [](const Folder& folder, int num_epoch, const std::string& resume) {
    Module module(mlp());
    const DataBatch all = batch(24);
    NDArrayIter data(all.data[0], all.label[0], {.batch_size = 8});
    NDArrayIter eval(all.data[0], all.label[0], {.batch_size = 8});
    int last = 0;
    module.fit(data, {.eval_data = &eval,
                      .epoch_end_callback = [&](int epoch, const Symbol&, const NDArrayMap&,
                                                const NDArrayMap&) { last = epoch; },
                      .optimizer_params = {{"learning_rate", 0.0}},
                      .eval_end_callback = EarlyStopping({.patience = 3}),
                      .num_epoch = num_epoch,
                      .checkpoint = CheckpointOptions{.prefix = folder.prefix()},
                      .resume = resume});
    return last;
  };
  const CaptureLog log;
  const Folder whole, cut;
  EXPECT_EQ(epochs(whole, 9, ""),
            3);  // the first evaluation is the best, three more are waited for
  EXPECT_EQ(epochs(cut, 2, ""), 1);
  EXPECT_EQ(epochs(cut, 9, cut.prefix()), 3);
}

TEST(Resume, mxnets_files_resume_at_the_next_epoch) {
  const Folder folder;
  const auto run = [&](const std::string& resume, int epochs, bool save) {
    seed(1);
    auto module = std::make_unique<Module>(mlp());
    const DataBatch all = batch(24);
    NDArrayIter data(all.data[0], all.label[0], {.batch_size = 8});
    FitOptions o{.optimizer_params = {{"learning_rate", 0.1}, {"momentum", 0.9}},
                 .num_epoch = epochs,
                 .resume = resume};
    if (save) o.epoch_end_callback = module_checkpoint(*module, folder.prefix(), 1, true);
    module->fit(data, o);
    return hash_of(*module, folder.prefix("hash"));
  };
  const std::string whole = run("", 3, false);  // nothing random, no scheduler: equal without more
  run("", 2, true);
  const CaptureLog log;
  EXPECT_EQ(run(folder.prefix(), 3, false), whole);
  EXPECT_THAT(text_of(log), HasSubstr("-0002.params has no manifest"));
}

TEST(BadInputResume, another_optimizer_network_or_iterator_loads_nothing) {
  const Folder folder;
  train("adam", folder, {-1, 0}, "", 4);
  const auto refused = [&](const Symbol& net, FitOptions o, const char* says) {
    Module module(net, {.context = cpus(2)});
    const auto rows = shuffled_rows();
    o.resume = folder.prefix();
    o.initializer = Zero();
    try {
      module.fit(*rows, o);
      ADD_FAILURE() << "no error: " << says;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(says));
    }
    for (const auto& [name, array] : module.get_params().args) {
      if (!name.ends_with("weight")) continue;
      for (const float x : array.to_vector<float>()) ASSERT_EQ(x, 0) << name;
    }
    EXPECT_TRUE(module.updater()->states().empty());
    EXPECT_EQ(module.optimizer()->num_update, 0);
  };
  refused(dropout_net(), dropout_fit("sgd", 3), "with optimizer Adam, but this one has SGD");
  FitOptions plain = dropout_fit("adam", 3);
  plain.optimizer_params.erase("lr_scheduler");
  refused(dropout_net(), plain, "with lr_scheduler FactorScheduler, but this one has none");
  refused(mlp(), dropout_fit("adam", 3), "checkpoint of another network");
}

TEST(BadInputResume, states_of_other_parameters) {
  const Folder folder;
  const auto fit = [&](int hidden, const std::string& resume, const std::string& optimizer) {
    Module module(mlp(hidden));
    const DataBatch all = batch(24);
    NDArrayIter data(all.data[0], all.label[0], {.batch_size = 8});
    FitOptions o{.optimizer = optimizer,
                 .optimizer_params = {{"learning_rate", 0.1}},
                 .num_epoch = 1,
                 .resume = resume};
    module.fit(data, o);
    module.save_checkpoint(folder.prefix("h" + std::to_string(hidden) + optimizer), 1, true);
  };
  fit(4, "", "adam");
  fit(6, "", "adam");
  fit(4, "", "sgd");
  fs::copy_file(folder.prefix("h6adam-0001.states"), folder.prefix("h4adam-0001.states"),
                fs::copy_options::overwrite_existing);
  try {
    fit(4, folder.prefix("h4adam"), "adam");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("optimizer states of other parameters; nothing was loaded"));
    EXPECT_THAT(error.what(), HasSubstr("is for a weight (6, 5), but here it is (4, 5)"));
  }
  try {  // Adam's files, continued with SGD
    fit(4, folder.prefix("h6adam"), "sgd");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("checkpoint of another network"));
  }
}

}  // namespace
}  // namespace symbind
