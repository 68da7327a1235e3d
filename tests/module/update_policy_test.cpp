// The update policy: accumulation against one large batch, clipping against the norm computed here,
// the EMA against its recursion.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include <symbind/bucketing_module.h>
#include <symbind/sequential_module.h>

#include "module/nets.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using testing::Contains;
using testing::HasSubstr;
using Numbers = std::map<std::string, Floats>;

constexpr double kRate = 0.5;

std::unique_ptr<NDArrayIter> batches_of(int size, std::int64_t rows) {
  const DataBatch all = batch(rows);
  return std::make_unique<NDArrayIter>(all.data[0], all.label[0],
                                       NDArrayIterOptions{.batch_size = size});
}

NDArrayMap start() { return ready()->get_params().args; }

FitOptions options(const UpdatePolicyOptions& updates, int epochs = 1) {
  return {.optimizer_params = {{"learning_rate", kRate}, {"momentum", 0.9}},
          .arg_params = start(),
          .aux_params = NDArrayMap{},
          .num_epoch = epochs,
          .updates = updates};
}

void expect_close(const Numbers& got, const Numbers& want, double tolerance = 2e-6) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, values] : want)
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(got.at(name)[i], values[i], tolerance) << name << " " << i;
}

/// Trains by fit over batches of `size` rows.
Numbers fitted(int size, std::int64_t rows, const FitOptions& o, int devices = 1) {
  const CaptureLog log;
  Module module(mlp(), {.context = cpus(devices)});
  module.fit(*batches_of(size, rows), o);
  return numbers(module.get_params().args);
}

TEST(Accumulate, k_batches_are_one_batch_of_k_times_the_size) {
  const Numbers want = fitted(24, 48, options({}, 3));
  expect_close(fitted(8, 48, options({.accumulate = 3}, 3)), want);
  EXPECT_GT(std::abs(fitted(8, 48, options({}, 3)).at("fc2_bias")[0] - want.at("fc2_bias")[0]),
            1e-3);
}

TEST(Accumulate, on_two_devices_with_the_store_and_without) {
  const Numbers want = fitted(24, 48, options({}, 2));
  FitOptions o = options({.accumulate = 3}, 2);
  expect_close(fitted(8, 48, o, 2), want);
  o.kvstore = nullptr;
  Module apart(mlp(), {.context = cpus(2)});  // without a store each device goes its own way
  const CaptureLog log;
  apart.fit(*batches_of(8, 48), o);
  EXPECT_EQ(apart.update_policy().waiting_batches(), 0);
}

TEST(Accumulate, with_a_monitor_the_verbs_give_the_same) {
  const Numbers want = fitted(24, 48, options({}, 2));
  Monitor monitor(100);
  FitOptions o = options({.accumulate = 3}, 2);
  o.monitor = &monitor;
  expect_close(fitted(8, 48, o), want);
}

TEST(Accumulate, the_last_group_of_an_epoch_may_be_short) {
  // 40 rows in batches of 8, two to an update: 16, 16 and 8 rows.
  const auto by_hand = std::make_unique<Module>(mlp());
  by_hand->bind(data_shapes(16), label_shapes(16));
  by_hand->init_params({.arg_params = start(), .aux_params = NDArrayMap{}});
  by_hand->init_optimizer({.optimizer_params = {{"learning_rate", kRate}, {"momentum", 0.9}}});
  const DataBatch all = batch(40);
  const CaptureLog log;
  for (const auto& [begin, end] : {std::pair{0, 16}, {16, 32}, {32, 40}}) {
    DataBatch part;
    part.data = {all.data[0].slice(begin, end)};
    part.label = {all.label[0].slice(begin, end)};
    by_hand->optimizer()->rescale_grad = 1.0 / (end - begin);
    by_hand->forward_backward(part);
    by_hand->update();
  }
  expect_close(fitted(8, 40, options({.accumulate = 2})), numbers(by_hand->get_params().args));
}

TEST(Accumulate, a_rate_schedule_counts_updates) {
  Module module(mlp());
  const CaptureLog log;
  module.fit(*batches_of(8, 40), options({.accumulate = 2}, 2));
  EXPECT_EQ(module.optimizer()->num_update, 6);
}

TEST(Accumulate, a_chain_and_buckets_accumulate_as_one) {
  const Numbers want = fitted(24, 48, options({}, 2));
  const CaptureLog log;
  SequentialModule chain;
  Symbol first = FullyConnected("fc1", Variable("data"), {.num_hidden = 4});
  first = Activation("relu1", first, {.act_type = "relu"});
  const Symbol second =
      SoftmaxOutput("softmax", FullyConnected("fc2", Variable("middle"), {.num_hidden = 3}));
  chain.add(std::make_shared<Module>(first, ModuleOptions{.label_names = {}}))
      .add(std::make_shared<Module>(second, ModuleOptions{.data_names = {"middle"}}),
           {.take_labels = true, .auto_wiring = true});
  FitOptions o = options({.accumulate = 3}, 2);
  o.allow_missing = true;
  chain.fit(*batches_of(8, 48), o);
  expect_close(numbers(chain.get_params().args), want);

  struct OneBucket : DataIter {
    explicit OneBucket(std::unique_ptr<NDArrayIter> from) : rows(std::move(from)) {}
    const std::vector<DataDesc>& provide_data() const override { return rows->provide_data(); }
    const std::vector<DataDesc>& provide_label() const override { return rows->provide_label(); }
    void reset() override { rows->reset(); }
    bool next(DataBatch& into) override {
      if (!rows->next(into)) return false;
      into.bucket_key = count++ % 2;
      into.provide_data = provide_data();
      into.provide_label = provide_label();
      return true;
    }
    std::unique_ptr<NDArrayIter> rows;
    int count = 0;
  };
  BucketingModule buckets([](std::int64_t) { return BucketNetwork{.symbol = mlp()}; }, 0);
  OneBucket train(batches_of(8, 48));
  buckets.fit(train, options({.accumulate = 3}, 2));
  EXPECT_EQ(buckets.buckets().size(), 2u);
  expect_close(numbers(buckets.get_params().args), want);
}

TEST(Accumulate, gradients_that_add_up_themselves_are_refused) {
  const auto module = bound({}, {.grad_req = "add"});
  const CaptureLog log;
  expect_error(
      ErrorKind::kState, [&] { module->fit(*batches_of(8, 16), options({.accumulate = 2})); },
      "accumulate=2", "grad_req='add'", "fix:");
}

TEST(Accumulate, the_optimizer_that_updates_counts) {
  const auto trained = [](Monitor* monitor) {
    const CaptureLog log;
    const auto module = ready();
    module->init_optimizer({.optimizer_params = {{"learning_rate", kRate}}});
    Updater other(create_optimizer("sgd", {{"learning_rate", kRate}, {"rescale_grad", 1.0}}));
    module->updater()->set_states(other.get_states(true), "a test");
    EXPECT_EQ(module->updater()->optimizer()->rescale_grad, 1);
    EXPECT_EQ(module->optimizer()->rescale_grad, 1.0 / 8);
    FitOptions o = options({.accumulate = 2, .clip_global_norm = 0.25});
    o.monitor = monitor;
    module->fit(*batches_of(8, 32), o);
    return numbers(module->get_params().args);
  };
  Monitor monitor(100);
  EXPECT_EQ(trained(nullptr), trained(&monitor));
}

TEST(Accumulate, its_state_is_taken_back_in_the_middle_of_a_group) {
  const auto module = ready();
  const UpdatePolicy::Parts parts = {{module->group(), 1.0 / 8}};
  UpdatePolicy whole({.accumulate = 3, .ema_decay = 0.5});
  whole.begin(parts);
  for (const std::uint64_t seed : {1, 2}) {
    module->forward_backward(batch(8, seed));
    EXPECT_FALSE(whole.take(parts));
  }
  UpdatePolicy resumed({.accumulate = 3, .ema_decay = 0.5});
  resumed.set_state(whole.state());
  EXPECT_EQ(resumed.waiting_batches(), 2);
  const auto third = [&](UpdatePolicy& policy) {
    module->forward_backward(batch(8, 3));
    EXPECT_TRUE(policy.take(parts));
    return module->group()->grad_arrays()[0][0].to_vector<float>();
  };
  EXPECT_EQ(third(whole), third(resumed));
  EXPECT_EQ(numbers(whole.average()), numbers(resumed.average()));
  expect_error(
      ErrorKind::kName,
      [&] {
        StateValue state = StateValue::dict();
        state.add("emma:x", StateValue::of(NDArray::ones({1})));
        resumed.set_state(state);
      },
      "'emma:x'");
  EXPECT_EQ(numbers(whole.average()), numbers(resumed.average()));
}

// ------------------------------------------------------------------------ clipping

/// Gradients of one batch at the start, summed over devices: what the norm is of.
Numbers gradients(std::int64_t rows = 8) {
  const auto module = ready();
  module->forward_backward(batch(rows));
  Numbers all;
  for (std::size_t i = 0; i < module->param_names().size(); ++i)
    all[module->param_names()[i]] = module->group()->grad_arrays()[i][0].to_vector<float>();
  return all;
}

double norm_of(const Numbers& arrays) {
  double sum = 0;
  for (const auto& [name, values] : arrays)
    for (const float v : values) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}

void expect_clipped(int devices, const StoreArg& store) {
  const Numbers grads = gradients();
  const double norm = norm_of(grads) / 8;  // rescale_grad
  const double limit = norm / 3;
  Numbers want = numbers(start());
  for (auto& [name, values] : want)
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] -= static_cast<float>(kRate * limit / norm * grads.at(name)[i] / 8);
  FitOptions o = options({.clip_global_norm = limit});
  o.optimizer_params = {{"learning_rate", kRate}};
  o.kvstore = store;
  expect_close(fitted(8, 8, o, devices), want);
  o.updates.clip_global_norm = 1.01 * norm;  // not reached
  FitOptions plain = o;
  plain.updates = {};
  EXPECT_EQ(fitted(8, 8, o, devices), fitted(8, 8, plain, devices));
}

TEST(ClipGlobalNorm, scales_all_gradients_after_rescale) { expect_clipped(1, "local"); }
TEST(ClipGlobalNorm, is_over_the_sum_of_two_devices) { expect_clipped(2, "local"); }
TEST(ClipGlobalNorm, is_the_same_beside_the_store) {
  auto beside = create_kvstore("local");
  FitOptions o = options({.clip_global_norm = 0.01});
  const Numbers want = fitted(8, 16, o, 2);
  ::setenv("MXNET_UPDATE_ON_KVSTORE", "0", 1);
  const Numbers got = fitted(8, 16, o, 2);
  ::unsetenv("MXNET_UPDATE_ON_KVSTORE");
  expect_close(got, want, 1e-7);
}

TEST(ClipGlobalNorm, of_arrays_is_their_common_norm) {
  NDArray a = NDArray::from_vector<float>({3, 0}, {2}), b = NDArray::from_vector<float>({4}, {1});
  EXPECT_NEAR(clip_global_norm({a, b}, 2.5), 5, 1e-6);
  EXPECT_NEAR(a.to_vector<float>()[0], 1.5, 1e-6);
  EXPECT_NEAR(b.to_vector<float>()[0], 2, 1e-6);
  EXPECT_NEAR(clip_global_norm({a, b}, 10), 2.5, 1e-6);
  EXPECT_NEAR(a.to_vector<float>()[0], 1.5, 1e-6);
  expect_error(
      ErrorKind::kState, [] { clip_global_norm({}, 1); }, "at least one array");
  expect_error(
      ErrorKind::kValue, [&] { clip_global_norm({a}, -1); }, "max_norm is -1");
}

TEST(ClipGlobalNorm, half_precision_is_summed_wide) {
  const NDArray a = NDArray::full({1000}, 100, cpu(), DType::kFloat16);  // squares sum to 1e7
  EXPECT_NEAR(global_norm({a}), 100 * std::sqrt(1000.0), 1e-2);
}

TEST(ClipGlobalNorm, a_norm_that_is_not_finite_is_reported_once_with_its_parameter) {
  const CaptureLog log;
  NDArray bad = NDArray::from_vector<float>({1, std::numeric_limits<float>::infinity()}, {2});
  EXPECT_TRUE(std::isinf(clip_global_norm({bad}, 1)));
  EXPECT_EQ(bad.to_vector<float>()[0], 1);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("nan or inf is detected")));

  Module module(mlp());
  NDArrayMap params = start();
  params["fc2_bias"].set(std::numeric_limits<double>::quiet_NaN());
  FitOptions o = options({.clip_global_norm = 1});
  o.arg_params = params;
  module.fit(*batches_of(8, 24), o);
  std::vector<std::string> reports;
  for (const std::string& line : log.lines())
    if (line.find("before update") != line.npos) reports.push_back(line);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_THAT(reports[0],
              HasSubstr("before update 1 the norm of the gradients is nan, first in the "
                        "gradient of 'fc1_weight'"));
}

// ------------------------------------------------------------------------- average

TEST(Ema, is_the_recursion_over_the_weights_of_every_update) {
  constexpr double kDecay = 0.9;
  std::map<std::string, std::vector<double>> want;
  for (const auto& [name, values] : numbers(start()))
    want[name].assign(values.begin(), values.end());
  const CaptureLog log;
  Module plain(mlp());
  FitOptions o = options({}, 2);
  o.batch_end_callback = [&](const BatchEndParam&) {
    for (const auto& [name, values] : numbers(plain.get_params().args))
      for (std::size_t i = 0; i < values.size(); ++i)
        want[name][i] = kDecay * want[name][i] + (1 - kDecay) * values[i];
  };
  plain.fit(*batches_of(8, 24), o);
  for (const int devices : {1, 2}) {
    Module module(mlp(), {.context = cpus(devices)});
    module.fit(*batches_of(8, 24), options({.ema_decay = kDecay}, 2));
    const Numbers got = numbers(module.get_ema_params());
    ASSERT_EQ(got.size(), 4u);
    for (const auto& [name, values] : want)
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(got.at(name)[i], values[i], 1e-6) << name;
    if (devices == 1) {  // the fused step continues
      EXPECT_EQ(numbers(module.get_params().args), numbers(plain.get_params().args));
    }
  }
}

TEST(Ema, goes_in_and_out_of_the_weights_place_to_the_bit) {
  const CaptureLog log;
  Module module(mlp(), {.context = cpus(2)});
  module.fit(*batches_of(8, 24), options({.ema_decay = 0.9}));
  const Numbers weights = numbers(module.get_params().args);
  const Numbers average = numbers(module.get_ema_params());
  EXPECT_NE(weights, average);
  module.swap_ema_params();
  EXPECT_EQ(numbers(module.get_params().args), average);
  expect_error(
      ErrorKind::kState, [&] { module.fit(*batches_of(8, 24), options({})); }, "swap_ema_params");
  module.swap_ema_params();
  EXPECT_EQ(numbers(module.get_params().args), weights);
  EXPECT_EQ(numbers(module.get_ema_params()), average);
}

TEST(Ema, fit_evaluates_with_it_on_request_and_training_is_unchanged) {
  const CaptureLog log;
  const auto eval = batches_of(8, 24);
  Module with(mlp()), without(mlp());
  std::vector<double> seen, own;
  const auto note = [](std::vector<double>& into) {
    return [&into](const BatchEndParam& p) { into.push_back(p.eval_metric->get()[0].second); };
  };
  FitOptions o = options({.ema_decay = 0.99, .eval_ema = true}, 3);
  o.eval_data = eval.get();
  o.validation_metric = "ce";
  o.eval_end_callback = note(seen);
  o.epoch_end_callback = [&](int, const Symbol&, const NDArrayMap&, const NDArrayMap&) {
    Module scored(mlp());  // an evaluation of the average by other means
    scored.bind(data_shapes(), label_shapes(), {.for_training = false});
    scored.init_params({.arg_params = with.get_ema_params(), .aux_params = NDArrayMap{}});
    own.push_back(scored.score(*batches_of(8, 24), "ce")[0].second);
  };
  with.fit(*batches_of(8, 24), o);
  EXPECT_EQ(seen, own);
  without.fit(*batches_of(8, 24), options({}, 3));
  EXPECT_EQ(numbers(with.get_params().args), numbers(without.get_params().args));
}

TEST(Ema, an_error_of_an_evaluation_leaves_the_weights) {
  const CaptureLog log;
  const auto eval = batches_of(8, 24);
  Module module(mlp()), plain(mlp());
  FitOptions o = options({.ema_decay = 0.9, .eval_ema = true}, 3);
  o.eval_data = eval.get();
  o.eval_end_callback = [](const BatchEndParam&) { throw StopTraining("enough"); };
  module.fit(*batches_of(8, 24), o);
  plain.fit(*batches_of(8, 24), options({}));
  EXPECT_EQ(numbers(module.get_params().args), numbers(plain.get_params().args));
}

TEST(Ema, continues_over_fits_and_can_be_replaced) {
  const CaptureLog log;
  Module twice(mlp()), once(mlp());
  twice.fit(*batches_of(8, 24), options({.ema_decay = 0.9}));
  FitOptions o = options({.ema_decay = 0.9}, 2);
  o.begin_epoch = 1;
  twice.fit(*batches_of(8, 24), o);
  once.fit(*batches_of(8, 24), options({.ema_decay = 0.9}, 2));
  EXPECT_EQ(numbers(twice.get_ema_params()), numbers(once.get_ema_params()));
  once.set_ema_params(start());
  EXPECT_EQ(numbers(once.get_ema_params()), numbers(start()));
  once.set_ema_params({{"fc3_weight", NDArray::ones({1})}});
  expect_error(
      ErrorKind::kName, [&] { once.swap_ema_params(); }, "fc3_weight", "fc1_weight");
}

TEST(BadInputUpdates, options_that_make_no_sense_are_named) {
  expect_error(
      ErrorKind::kValue, [] { UpdatePolicy({.accumulate = 0}); }, "accumulate is 0");
  expect_error(
      ErrorKind::kValue, [] { UpdatePolicy({.clip_global_norm = -1}); }, "clip_global_norm is -1");
  expect_error(
      ErrorKind::kValue, [] { UpdatePolicy({.ema_decay = 1}); }, "ema_decay is 1", "0.999");
  expect_error(
      ErrorKind::kValue, [] { UpdatePolicy({.eval_ema = true}); }, "ema_decay");
  expect_error(
      ErrorKind::kState, [] { ready()->swap_ema_params(); }, "ema_decay");
}

}  // namespace
}  // namespace symbind
