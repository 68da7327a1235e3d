// dry_run: what it reports, what it finds, and that nothing changed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <symbind/random.h>
#include <symbind/sequential_module.h>

#include "module/nets.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<NDArrayIter> batches(bool shuffle = false, float offset = 0) {
  const DataBatch all = batch(24);
  return std::make_unique<NDArrayIter>(all.data[0], all.label[0] + offset,
                                       NDArrayIterOptions{.batch_size = 8, .shuffle = shuffle});
}

Symbol dropping() {
  Symbol net = FullyConnected("fc1", Variable("data"), {.num_hidden = 4});
  net = Dropout("drop", BatchNorm("bn", net, {.fix_gamma = false}));
  return SoftmaxOutput("softmax", FullyConnected("fc2", net, {.num_hidden = 3}));
}

TEST(DryRun, leaves_parameters_optimizer_random_numbers_and_iterators) {
  const CaptureLog log;
  const auto train = [&](bool tried) {
    seed(11);
    const auto data = batches(true), eval = batches();
    const auto schedule = std::make_shared<FactorScheduler>(2, 0.5);
    FitOptions o{
        .eval_data = eval.get(),
        .optimizer_params = {{"learning_rate", 0.1},
                             {"momentum", 0.9},
                             {"lr_scheduler", std::static_pointer_cast<LRScheduler>(schedule)}},
        .num_epoch = 2,
        .updates = {.accumulate = 2}};
    Module module(dropping(), {.context = cpus(2)});
    if (tried) {
      module.dry_run(*data, o);
      EXPECT_FALSE(module.binded());
      EXPECT_EQ(schedule->base_lr(), 0.01);
    }
    module.fit(*data, o);
    const Floats before = module.get_params().args.at("fc1_weight").to_vector<float>();
    const std::string states = module.updater()->get_states(true);
    if (tried) module.dry_run(*data, o);
    EXPECT_EQ(module.get_params().args.at("fc1_weight").to_vector<float>(), before);
    EXPECT_EQ(module.updater()->get_states(true), states);
    return std::pair(numbers(module.get_params().args), numbers(module.get_params().aux));
  };
  EXPECT_EQ(train(true), train(false));
}

TEST(DryRun, counts_parameters_memory_and_time) {
  const auto data = batches(), eval = batches();
  Module module(dropping(), {.context = cpus(2), .fixed_param_names = {"fc1_bias"}});
  const DryRunReport report = module.dry_run(*data, {.eval_data = eval.get()});
  EXPECT_EQ(report.parameters, 5 * 4 + 4 + 4 + 4 + 4 * 3 + 3);
  EXPECT_EQ(report.trained, report.parameters - 4);
  EXPECT_EQ(report.auxiliary, 8);
  EXPECT_EQ(report.weight_bytes, 2u * 4 * (47 + 8));
  EXPECT_EQ(report.gradient_bytes, 2u * 4 * 43);
  EXPECT_GE(report.batch_bytes, 4u * (8 * 5 + 8 + 8 * 3));
  EXPECT_GT(report.arena_bytes, 0u);
  EXPECT_EQ(report.batch_size, 8);
  EXPECT_GT(report.seconds_per_step, 0);
  ASSERT_EQ(report.outputs.size(), 1u);
  EXPECT_EQ(report.outputs[0].first, "softmax_output");
  EXPECT_EQ(report.outputs[0].second, Shape({8, 3}));
  EXPECT_EQ(report.train.at(0).first, "accuracy");
  EXPECT_EQ(report.validation.at(0).first, "accuracy");
  EXPECT_TRUE(report.notes.empty());
  EXPECT_THAT(report.text(), HasSubstr("47 parameters (43 trained)"));
  const CaptureLog log;
  module.fit(*data, {.num_epoch = 1, .dry_run = true});
  ASSERT_EQ(log.lines().size(), 1u);
  EXPECT_THAT(log.lines()[0], HasSubstr("rows/s"));
  EXPECT_FALSE(module.binded());
}

TEST(DryRun, finds_labels_that_are_no_classes_and_stays_where_it_is) {
  Module module(mlp());
  const auto wrong = batches(false, 3);
  expect_error(
      ErrorKind::kValue, [&] { module.dry_run(*wrong, {}); }, "label");
  const auto data = batches();
  DataBatch first, second;
  data->next(first);
  module.dry_run(*data, {});
  data->next(second);
  EXPECT_EQ(second.data[0].to_vector<float>(), batch(24).data[0].slice(8, 16).to_vector<float>());
}

TEST(DryRun, an_iterator_without_a_position_is_reset_with_a_note) {
  struct Plain : DataIter {
    const std::vector<DataDesc>& provide_data() const override { return data; }
    const std::vector<DataDesc>& provide_label() const override { return label; }
    void reset() override { at = 0; }
    bool next(DataBatch& into) override {
      into = batch(8, static_cast<std::uint64_t>(at));
      return at++ < 2;
    }
    std::vector<DataDesc> data = data_shapes(), label = label_shapes();
    int at = 0;
  } plain;
  Module module(mlp());
  EXPECT_THAT(module.dry_run(plain, {}).notes, ElementsAre("an iterator without state was reset"));
  EXPECT_EQ(plain.at, 0);
}

TEST(DryRun, a_custom_optimizer_is_unchanged) {
  struct Own : Optimizer {
    std::string class_name() const override { return "Own"; }
    void update(const Key&, NDArray, NDArray, const OptimizerState&) override { ++calls; }
    int calls = 0;
  };
  const auto own = std::make_shared<Own>();
  Module module(mlp());
  const auto data = batches();
  const DryRunReport report = module.dry_run(*data, {.optimizer = own});
  EXPECT_EQ(own->calls, 0);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_THAT(report.notes[0], HasSubstr("Own"));
}

TEST(DryRun, of_a_chain) {
  SequentialModule chain;
  chain
      .add(std::make_shared<Module>(FullyConnected("fc", Variable("data"), {.num_hidden = 3}),
                                    ModuleOptions{.label_names = {}}))
      .add(std::make_shared<Module>(SoftmaxOutput("softmax", Variable("middle")),
                                    ModuleOptions{.data_names = {"middle"}}),
           {.take_labels = true, .auto_wiring = true});
  const auto data = batches();
  EXPECT_EQ(chain.dry_run(*data, {}).parameters, 18);
  EXPECT_FALSE(chain.binded());
}

}  // namespace
}  // namespace symbind
