// The other modules: buckets that share memory, SequentialModule, a loss given as a function.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <symbind/bucketing_module.h>
#include <symbind/sequential_module.h>

#include "executor/runner.h"
#include "module/nets.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Sums over `key` steps, then two layers; parameters do not depend on the key.
BucketNetwork bucket(std::int64_t key) {
  Symbol net = Reshape("rows", Variable("data"), {.shape = {-1, 16}});
  net = FullyConnected("fc1", net, {.num_hidden = 64});
  net = Activation("relu1", net, {.act_type = "relu"});
  net = Reshape("steps", net, {.shape = {-1, key, 64}});
  net = sum("total", net, {.axis = Tuple{1}});
  net = FullyConnected("fc2", net, {.num_hidden = 3});
  return {.symbol = SoftmaxOutput("softmax", net)};
}

Shapes bucket_data(std::int64_t key) { return {{.name = "data", .shape = {32, key, 16}}}; }
Shapes bucket_label() { return {{.name = "softmax_label", .shape = {32}}}; }

DataBatch bucket_batch(std::int64_t key, std::uint64_t seed = 1) {
  DataBatch made;
  made.data = {HostTensor::formula({32, key, 16}, seed).array()};
  made.label = {NDArray::zeros({32})};
  made.bucket_key = key;
  made.provide_data = bucket_data(key);
  made.provide_label = bucket_label();
  return made;
}

/// Bytes of the distinct memory of the executors of these modules.
std::size_t memory_of(const std::vector<const Module*>& modules) {
  std::map<const void*, std::size_t> blocks;
  const auto count = [&](const void* block, std::size_t bytes) {
    blocks[block] = std::max(blocks[block], bytes);
  };
  for (const Module* m : modules) {
    for (const Executor& e : m->group()->execs()) {
      for (const auto* arrays : {&e.arg_arrays(), &e.grad_arrays(), &e.aux_arrays(), &e.outputs()})
        for (const NDArray& a : *arrays)
          if (a.defined()) count(a.storage().get(), a.nbytes());
      for (const auto& [device, arena] : *runner_of(e).arenas())
        count(arena.get(), arena->capacity());
    }
  }
  std::size_t total = 0;
  for (const auto& [block, bytes] : blocks) total += bytes;
  return total;
}

TEST(BucketingModule, five_buckets_need_the_memory_of_the_largest) {
  BucketingModule buckets(bucket, 40);
  buckets.bind(bucket_data(40), bucket_label());
  buckets.init_params({.initializer = Xavier()});
  buckets.init_optimizer();
  const MetricPtr metric = Accuracy();
  buckets.step(bucket_batch(40), *metric);
  const std::size_t alone = memory_of({&buckets.current()});
  std::vector<const Module*> all;
  for (const std::int64_t key : {10, 20, 25, 30, 40}) {
    buckets.step(bucket_batch(key), *metric);
    all.push_back(&buckets.current());
  }
  EXPECT_EQ(buckets.buckets().size(), 5u);
  EXPECT_LE(static_cast<double>(memory_of(all)), 1.02 * static_cast<double>(alone));
  for (const Module* m : all) {
    EXPECT_EQ(m->optimizer(), all[4]->optimizer());
    for (std::size_t p = 0; p < 4; ++p) {
      EXPECT_TRUE(m->group()->param_arrays()[p][0].aliases(all[4]->group()->param_arrays()[p][0]));
      EXPECT_TRUE(m->group()->grad_arrays()[p][0].aliases(all[4]->group()->grad_arrays()[p][0]));
    }
  }
}

TEST(BucketingModule, a_bucket_computes_what_a_module_alone_does) {
  BucketingModule buckets(bucket, 8);
  buckets.bind(bucket_data(8), bucket_label());
  buckets.init_params({.initializer = Xavier()});
  const ModelParams params = buckets.get_params();
  for (const std::int64_t key : {8, 3, 5, 3, 8}) {
    buckets.forward(bucket_batch(key, 6), false);
    EXPECT_EQ(buckets.current_key(), key);
    Module alone(bucket(key).symbol);
    alone.bind(bucket_data(key), bucket_label());
    alone.set_params(params.args, params.aux);
    alone.forward(bucket_batch(key, 6), false);
    EXPECT_EQ(buckets.get_outputs()[0].to_vector<float>(),
              alone.get_outputs()[0].to_vector<float>());
  }
}

TEST(BucketingModule, prepare_comes_back) {
  BucketingModule buckets(bucket, 8);
  buckets.bind(bucket_data(8), bucket_label());
  buckets.init_params({.initializer = Xavier()});
  buckets.forward(bucket_batch(8), true);
  const Floats before = buckets.get_outputs()[0].to_vector<float>();
  buckets.prepare(bucket_batch(3));
  EXPECT_EQ(buckets.current_key(), 8);
  EXPECT_EQ(buckets.buckets().size(), 2u);
  EXPECT_EQ(buckets.get_outputs()[0].to_vector<float>(), before);
}

TEST(BucketingModule, a_larger_bucket_than_the_default_says_so) {
  BucketingModule buckets(bucket, 3);
  buckets.bind(bucket_data(3), bucket_label());
  buckets.init_params({.initializer = Xavier()});
  const CaptureLog log;
  buckets.forward(bucket_batch(8), false);
  ASSERT_EQ(log.lines().size(), 1u);
  EXPECT_THAT(log.lines()[0], HasSubstr("data \"data\" has a shape (32, 8, 16), which is larger"));
}

TEST(BucketingModule, checkpoints_of_all_buckets) {
  const TemporaryFolder folder;
  BucketingModule buckets(bucket, 8);
  buckets.bind(bucket_data(8), bucket_label());
  buckets.init_params({.initializer = Xavier()});
  buckets.forward(bucket_batch(3), false);
  buckets.save_checkpoint(folder / "net", 2);
  EXPECT_THAT(folder.files(), ElementsAre("net-0002.params", "net-3-symbol.json",
                                          "net-8-symbol.json", "net.buckets"));
  EXPECT_EQ(load(folder / "net.buckets").arrays[0].to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{3, 8}));
}

TEST(BadInputBucketingModule, early_calls_and_batches_without_key) {
  expect_error(
      ErrorKind::kName,
      [] {
        BucketingModule(
            [](std::int64_t) { return BucketNetwork{.symbol = mlp(), .data_names = {"x"}}; }, 3);
      },
      "'x'");
  BucketingModule buckets(bucket, 8);
  expect_error(
      ErrorKind::kState, [&] { buckets.forward(bucket_batch(8)); }, "call bind first");
  buckets.bind(bucket_data(8), bucket_label());
  expect_error(
      ErrorKind::kState, [&] { buckets.forward(bucket_batch(8)); }, "call init_params first");
  buckets.init_params();
  DataBatch plain = bucket_batch(8);
  plain.bucket_key.reset();
  expect_error(
      ErrorKind::kValue, [&] { buckets.forward(plain); }, "bucket_key");
  expect_error(
      ErrorKind::kState, [&] { buckets.update(); }, "init_optimizer");
}

TEST(SequentialModule, trains_as_the_whole_network_does) {
  Symbol first = FullyConnected("fc1", Variable("data"), {.num_hidden = 4});
  first = Activation("relu1", first, {.act_type = "relu"});
  const Symbol second =
      SoftmaxOutput("softmax", FullyConnected("fc2", Variable("in"), {.num_hidden = 3}));
  SequentialModule chain;
  chain.add(std::make_shared<Module>(first, ModuleOptions{.label_names = {}}))
      .add(std::make_shared<Module>(second, ModuleOptions{.data_names = {"in"}}),
           {.take_labels = true, .auto_wiring = true});
  chain.bind(data_shapes(), label_shapes());
  const auto whole = ready();
  chain.init_params({.initializer = One()});
  chain.set_params(whole->get_params().args, {});
  chain.init_optimizer({.optimizer_params = {{"learning_rate", 0.5}}});
  EXPECT_EQ(chain.data_names(), Names{"data"});
  EXPECT_EQ(chain.output_names(), Names{"softmax_output"});
  EXPECT_EQ(chain.output_shapes()[0].second, Shape({8, 3}));
  const MetricPtr a = Accuracy(), b = Accuracy();
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    chain.step(batch(8, seed), *a);
    whole->step(batch(8, seed), *b);
  }
  const auto got = numbers(chain.get_params().args), want = numbers(whole->get_params().args);
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, values] : want)
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(got.at(name)[i], values[i], 1e-6) << name;
  EXPECT_EQ(a->get(), b->get());
}

TEST(BadInputSequentialModule, empty_chains_and_doubled_names) {
  SequentialModule empty;
  expect_error(
      ErrorKind::kState, [&] { empty.bind(data_shapes()); }, "empty SequentialModule");
  const Symbol layer = FullyConnected("fc", Variable("data"), {.num_hidden = 5});
  SequentialModule twice;
  twice.add(std::make_shared<Module>(layer, ModuleOptions{.label_names = {}}));
  twice.add(std::make_shared<Module>(layer, ModuleOptions{.label_names = {}}),
            {.auto_wiring = true});
  twice.bind(data_shapes());
  expect_error(
      ErrorKind::kState, [&] { twice.init_params(); },
      "Duplicated parameter names: name \"fc_bias\" in layer 1 is already used in layer 0.");
}

TEST(FunctionLossModule, hands_its_gradient_back) {
  Symbol scores = FullyConnected("fc", Variable("data"), {.num_hidden = 1, .no_bias = true});
  SequentialModule chain;
  chain.add(std::make_shared<Module>(scores, ModuleOptions{.label_names = {}}))
      .add(std::make_shared<FunctionLossModule>([](const NDArray& s, const NDArray& label) {
             return s - label.reshape({-1, 1});
           }),
           {.take_labels = true, .auto_wiring = true});
  chain.bind(data_shapes(), label_shapes());
  chain.init_params({.initializer = One()});
  chain.init_optimizer({.optimizer_params = {{"learning_rate", 1.0}, {"rescale_grad", 1.0}}});
  const DataBatch given = batch();
  chain.forward_backward(given);
  chain.update();
  const HostTensor x = HostTensor::from(given.data[0]), y = HostTensor::from(given.label[0]);
  const Floats weight = chain.get_params().args.at("fc_weight").to_vector<float>();
  for (std::int64_t k = 0; k < 5; ++k) {  // w - sum (x·1 - y) x
    double want = 1;
    for (std::int64_t n = 0; n < 8; ++n) {
      double score = 0;
      for (std::int64_t j = 0; j < 5; ++j) score += x.at({n, j});
      want -= (score - y.at({n})) * x.at({n, k});
    }
    EXPECT_NEAR(weight[static_cast<std::size_t>(k)], want, 1e-5);
  }
}

}  // namespace
}  // namespace symbind
