// fit, score and predict: the order of things, how a training ends, and errors of users' code.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "module/nets.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kRows = 24;

std::unique_ptr<NDArrayIter> iterator(std::int64_t rows = kRows) {
  const DataBatch all = batch(rows);
  return std::make_unique<NDArrayIter>(all.data[0], all.label[0],
                                       NDArrayIterOptions{.batch_size = 8});
}

/// A custom iterator: `batches` batches, then an exception or the end.
struct Own : DataIter {
  explicit Own(int n, bool fails = false) : batches(n), trouble(fails) {}
  const std::vector<DataDesc>& provide_data() const override { return data; }
  const std::vector<DataDesc>& provide_label() const override { return label; }
  void reset() override { at = 0; }
  bool next(DataBatch& into) override {
    if (at == batches && trouble) throw std::runtime_error("the cable");
    if (at == batches) return false;
    into = batch(8, static_cast<std::uint64_t>(at++));
    return true;
  }
  std::vector<DataDesc> data = data_shapes(), label = label_shapes();
  int batches, at = 0;
  bool trouble;
};

FitOptions options(int epochs = 1) {
  return {.optimizer_params = {{"learning_rate", 0.5}}, .num_epoch = epochs};
}

TEST(Fit, calls_and_lines_in_order) {
  Module module(mlp());
  const auto train = iterator(), eval = iterator();
  std::vector<std::string> calls;
  const auto note = [&](const std::string& what) {
    return [&calls, what](const BatchEndParam& p) {
      calls.push_back(what + std::to_string(p.epoch) + std::to_string(p.nbatch));
    };
  };
  FitOptions o = options(2);
  o.eval_data = eval.get();
  o.batch_end_callback = note("batch");
  o.eval_batch_end_callback = note("eval");
  o.eval_end_callback = note("end");
  o.epoch_end_callback = [&](int epoch, const Symbol& s, const NDArrayMap& args,
                             const NDArrayMap& aux) {
    EXPECT_EQ(s.name(), "softmax");
    EXPECT_EQ(args.size(), 4u);
    EXPECT_TRUE(aux.empty());
    calls.push_back("epoch" + std::to_string(epoch));
  };
  const CaptureLog log;
  module.fit(*train, o);
  EXPECT_THAT(calls, ElementsAre("batch00", "batch01", "batch02", "epoch0", "eval00", "eval01",
                                 "eval02", "end03", "batch10", "batch11", "batch12", "epoch1",
                                 "eval10", "eval11", "eval12", "end13"));
  ASSERT_EQ(log.lines().size(), 6u);
  EXPECT_THAT(log.lines()[0], HasSubstr("Epoch[0] Train-accuracy=0."));
  EXPECT_THAT(log.lines()[1], HasSubstr("Epoch[0] Time cost="));
  EXPECT_THAT(log.lines()[2], HasSubstr("Epoch[0] Validation-accuracy="));
}

TEST(Fit, equals_the_verbs_written_out) {
  Module fitted(mlp());
  const auto by_hand = ready();
  const CaptureLog log;
  FitOptions o = options(2);
  o.arg_params = by_hand->get_params().args;
  o.aux_params = NDArrayMap{};
  fitted.fit(*iterator(), o);
  const auto train = iterator();
  for (int epoch = 0; epoch < 2; ++epoch, train->reset()) {
    DataBatch given;
    while (train->next(given)) {
      by_hand->forward_backward(given);
      by_hand->update();
    }
  }
  const auto got = numbers(fitted.get_params().args), want = numbers(by_hand->get_params().args);
  for (const auto& [name, values] : want)
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(got.at(name)[i], values[i], 1e-6) << name;
}

TEST(Fit, a_monitor_sees_every_batch_and_changes_nothing) {
  const CaptureLog log;
  Module plain(mlp()), watched(mlp());
  const NDArrayMap start = ready()->get_params().args;
  Monitor monitor(1, {.pattern = "fc2_output"});
  FitOptions o = options();
  o.arg_params = start;
  o.aux_params = NDArrayMap{};
  plain.fit(*iterator(), o);
  const std::size_t before = log.lines().size();
  o.monitor = &monitor;
  watched.fit(*iterator(), o);
  EXPECT_EQ(std::ranges::count_if(
                log.lines().begin() + static_cast<std::ptrdiff_t>(before), log.lines().end(),
                [](const std::string& line) { return line.find("fc2_output") != line.npos; }),
            3);
  const auto a = numbers(plain.get_params().args), b = numbers(watched.get_params().args);
  for (const auto& [name, values] : a)
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(b.at(name)[i], values[i], 1e-6) << name;
}

TEST(Fit, stop_training_ends_it_as_if_complete) {
  Module module(mlp());
  int batches = 0;
  FitOptions o = options(5);
  o.batch_end_callback = [&](const BatchEndParam&) {
    if (++batches == 4) throw StopTraining("enough");
  };
  const CaptureLog log;
  module.fit(*iterator(), o);
  EXPECT_EQ(batches, 4);
  EXPECT_EQ(log.lines().back(), "enough");
  EXPECT_NO_THROW(module.get_params());
}

TEST(Fit, a_metric_that_needs_no_labels) {
  Module module(MakeLoss("loss", FullyConnected("fc", Variable("data"), {.num_hidden = 1})),
                {.label_names = {}});
  NDArrayIter data(batch(16).data[0], {}, {.batch_size = 8});
  FitOptions o = options();
  o.eval_metric = Loss();
  const CaptureLog log;
  module.fit(data, o);
  EXPECT_THAT(log.lines()[0], HasSubstr("Epoch[0] Train-loss="));
}

TEST(Fit, predict_drops_padding_and_joins) {
  const auto module = ready();
  const auto data = iterator(20);
  const std::vector<NDArray> all = module->predict(*data);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].shape(), Shape({20, 3}));
  module->forward(batch(20), false);
  const Floats whole = module->get_outputs()[0].to_vector<float>();
  const Floats joined = all[0].to_vector<float>();
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(joined[i], whole[i], 1e-6);
  EXPECT_EQ(module->predict_batches(*data).size(), 3u);
  EXPECT_EQ(module->predict(*data, 1)[0].shape(), Shape({8, 3}));
  EXPECT_EQ(module->predict(batch(5).data[0])[0].shape(), Shape({5, 3}));
}

TEST(Fit, score_counts_each_row_once) {
  const auto module = ready();
  const auto data = iterator();
  const MetricPtr counted = make_sum_metric(
      [](const NDArray& label, const NDArray&) {
        return std::pair(1.0 * static_cast<double>(label.size()), 1.0);
      },
      "rows");
  EXPECT_EQ(module->score(*data, counted)[0].second, 8);
  EXPECT_EQ(counted->num_inst, 3);
  module->score(*data, counted, {.num_batch = 2});
  EXPECT_EQ(counted->num_inst, 2);
}

TEST(BadInputFit, an_empty_iterator) {
  Module module(mlp());
  Own empty(0);
  expect_error(
      ErrorKind::kValue, [&] { module.fit(empty, options()); }, "epoch 0",
      "the iterator is empty, or was not reset");
  expect_error(
      ErrorKind::kState, [&] { module.fit(empty, {}); }, "number of epochs");
}

TEST(BadInputFit, an_iterator_that_throws) {
  Module module(mlp());
  Own torn(2, true);
  const CaptureLog log;
  try {
    module.fit(torn, options());
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "the cable");
  }
  EXPECT_NO_THROW(module.fit(*iterator(), options())) << "and training continues";
}

TEST(BadInputFit, a_callback_that_throws) {
  for (const int which : {0, 1, 2, 3}) {
    Module module(mlp());
    const auto eval = iterator();
    FitOptions o = options();
    o.eval_data = eval.get();
    const BatchEndCallback trouble = [](const BatchEndParam&) { throw std::runtime_error("mine"); };
    if (which == 0) o.batch_end_callback = trouble;
    if (which == 1) o.eval_end_callback = trouble;
    if (which == 2) o.eval_batch_end_callback = trouble;
    if (which == 3)
      o.epoch_end_callback = [](int, const Symbol&, const NDArrayMap&, const NDArrayMap&) {
        throw std::runtime_error("mine");
      };
    const CaptureLog log;
    try {
      module.fit(*iterator(), o);
      ADD_FAILURE() << "no error";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "mine");
    }
    EXPECT_NO_THROW(module.fit(*iterator(), options()));
  }
}

TEST(BadInputFit, a_checkpoint_that_cannot_be_written) {
  const TemporaryFolder folder;
  Module module(mlp());
  FitOptions o = options();
  o.epoch_end_callback = do_checkpoint(folder / "nowhere/net");
  const CaptureLog log;
  expect_error(
      ErrorKind::kIo, [&] { module.fit(*iterator(), o); }, folder / "nowhere/net");
  module.save_checkpoint(folder / "net", 1);
  EXPECT_THAT(folder.files(), ElementsAre("net-0001.params", "net-symbol.json"));
}

}  // namespace
}  // namespace symbind
