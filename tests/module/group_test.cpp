// ExecutorGroup: slices of batches, requested gradients, devices in parallel, and batches of any
// kind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

#include "base/parallel.h"
#include "base/settings.h"
#include "module/device_threads.h"
#include "module/grad_req.h"
#include "module/nets.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::int64_t> sizes(std::int64_t rows, const std::vector<double>& loads) {
  std::vector<std::int64_t> all;
  std::int64_t at = 0;
  for (const BatchSlice& s : split_batch(rows, loads)) {
    EXPECT_EQ(s.begin, at) << "no gap";
    at = s.end;
    all.push_back(s.size());
  }
  EXPECT_EQ(at, rows);
  return all;
}

// The sizes are those of MXNet 1.9.1's _split_input_slice.
TEST(SplitBatch, rounds_half_to_even_and_gives_the_rest_to_the_last) {
  EXPECT_THAT(sizes(128, {1, 1, 1, 1}), ElementsAre(32, 32, 32, 32));
  EXPECT_THAT(sizes(5, {1, 1}), ElementsAre(2, 3)) << "2.5 is rounded to 2, the last gets the rest";
  EXPECT_THAT(sizes(7, {1, 1}), ElementsAre(4, 3)) << "3.5 is rounded to 4";
  EXPECT_THAT(sizes(10, {1, 1, 1}), ElementsAre(3, 3, 4));
  EXPECT_THAT(sizes(11, {1, 1, 1}), ElementsAre(4, 4, 3));
  EXPECT_THAT(sizes(8, {1, 3}), ElementsAre(2, 6));
  EXPECT_THAT(sizes(100, {0.5, 1.5, 2}), ElementsAre(12, 38, 50)) << "12.5 and 37.5";
  EXPECT_THAT(sizes(4, {1, 1, 1, 1}), ElementsAre(1, 1, 1, 1));
}

TEST(BadInputSplitBatch, an_empty_share) {
  const char* text = "Too many slices. Some splits are empty.";
  for (const auto& [rows, loads] :
       std::vector<std::pair<std::int64_t, std::vector<double>>>{{3, {1, 1, 1, 1}},
                                                                 {6, {1, 1, 1, 1}},
                                                                 {1, {1, 1}},
                                                                 {10, {100, 1}},
                                                                 {10, {1, 0}},
                                                                 {0, {1}}}) {
    expect_error(
        ErrorKind::kValue, [&] { split_batch(rows, loads); }, text,
        "A batch of " + std::to_string(rows) + " rows");
  }
}

using Reqs = std::map<std::string, std::string>;

TEST(GradReq, roles_decide) {
  const Names arguments = {"data", "state", "w", "fixed", "label"};
  const Names params = {"w", "fixed"}, fixed = {"fixed"}, data = {"data"};
  const auto resolved = [&](const GradReqArg& given, bool inputs) {
    return resolve_grad_req(
        given, arguments,
        {.params = params, .fixed = fixed, .data = data, .inputs_need_grad = inputs});
  };
  EXPECT_EQ(resolved("add", false), (Reqs{{"data", "null"},
                                          {"state", "null"},
                                          {"w", "add"},
                                          {"fixed", "null"},
                                          {"label", "null"}}));
  EXPECT_EQ(resolved("add", true).at("data"), "add");
  EXPECT_EQ(resolved(Reqs{{"label", "add"}, {"fixed", "write"}}, false), (Reqs{{"data", "null"},
                                                                               {"state", "null"},
                                                                               {"w", "write"},
                                                                               {"fixed", "write"},
                                                                               {"label", "add"}}));
  EXPECT_EQ(resolved(Names{"write", "null", "null", "add", "null"}, false).at("fixed"), "add");
}

/// With two threads, however the tests are started.
class ThreadsDevices : public testing::Test {
 protected:
  ThreadsDevices() { set_num_threads(2); }
  ~ThreadsDevices() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(ThreadsDevices, every_device_runs_once_and_side_by_side) {
  DeviceThreads devices(4);
  for (int round = 0; round < 100; ++round) {
    std::array<std::atomic<int>, 4> calls{};
    devices.run([&](std::size_t d) { ++calls[d]; });
    for (const auto& n : calls) EXPECT_EQ(n, 1);
  }
}

TEST_F(ThreadsDevices, a_device_keeps_its_thread) {
  DeviceThreads devices(2);
  std::array<std::thread::id, 2> first, second;
  devices.run([&](std::size_t d) { first[d] = std::this_thread::get_id(); });
  devices.run([&](std::size_t d) { second[d] = std::this_thread::get_id(); });
  EXPECT_EQ(first, second);
}

TEST_F(ThreadsDevices, an_error_of_a_device_reaches_the_caller) {
  DeviceThreads devices(4);
  std::atomic<int> ran = 0;
  const auto work = [&](std::size_t d) {
    ++ran;
    if (d >= 2) throw std::runtime_error("device " + std::to_string(d));
  };
  for (int round = 0; round < 20; ++round) {
    try {
      devices.run(work);
      ADD_FAILURE() << "no error";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "device 2") << "the lowest one's";
    }
  }
  ran = 0;
  EXPECT_NO_THROW(devices.run([&](std::size_t) { ++ran; })) << "it is heard once";
  EXPECT_EQ(ran, 4);
}

TEST_F(ThreadsDevices, devices_that_wait_for_one_another_have_a_thread_each) {
  set_num_threads(1);
  DeviceThreads devices(3);
  devices.run([](std::size_t) {});
  devices.give_each_a_thread();
  std::barrier all(3);
  std::atomic<int> ran = 0;
  devices.run([&](std::size_t) {
    all.arrive_and_wait();
    ++ran;
  });
  EXPECT_EQ(ran, 3);
}

// Statistics over all devices are those of one device that has the whole batch.
TEST_F(ThreadsDevices, synchronous_batch_norm_of_more_devices_than_threads) {
  const auto output = [](Symbol net, int devices) {
    Module module(net, {.label_names = {}, .context = cpus(devices)});
    module.bind(data_shapes(9), {});
    module.init_params({.initializer = One()});
    DataBatch unlabelled;
    unlabelled.data = batch(9).data;
    module.forward(unlabelled, true);
    return module.get_outputs().front().to_vector<float>();
  };
  set_num_threads(1);
  const Symbol data = Variable("data");
  const Floats whole = output(BatchNorm("bn", data, {.eps = 1e-3}), 1);
  const Floats shared =
      output(make_symbol("_contrib_SyncBatchNorm", "bn", std::vector{data},
                         {{"ndev", "3"}, {"key", "more_devices_than_threads"}, {"eps", "0.001"}}),
             3);
  ASSERT_EQ(shared.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(shared[i], whole[i], 1e-6);
}

TEST_F(ThreadsDevices, too_many_devices_for_a_thread_each) {
  const settings::override_for_test lowered("SYMBIND_LIMIT_THREADS", "2");
  DeviceThreads devices(3);
  expect_error(
      ErrorKind::kValue, [&] { devices.give_each_a_thread(); }, "has 3 threads",
      "SYMBIND_LIMIT_THREADS");
}

TEST(ExecutorGroup, an_invalid_type) {
  Module module(
      FullyConnected("fc", Variable("data").with_attr("__dtype__", "abc"), {.num_hidden = 2}),
      {.label_names = {}});
  expect_error(
      ErrorKind::kName,
      [&] {
        module.bind({{"data", {2, 3}}}, {});
      },
      "abc");
}

TEST_F(ThreadsDevices, two_devices_train_as_one_does) {
  const auto two = ready({.context = cpus(2)}), one = ready();
  const MetricPtr metric = Accuracy(), same = Accuracy();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    two->step(batch(8, seed), *metric);
    one->step(batch(8, seed), *same);
  }
  const auto a = numbers(two->get_params().args), b = numbers(one->get_params().args);
  for (const auto& [name, values] : b)
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(a.at(name)[i], values[i], 1e-5) << name;
  EXPECT_EQ(metric->get(), same->get());
}

TEST(ExecutorGroup, a_batch_axis_that_is_not_the_first) {
  Symbol net = SwapAxis("swapped", Variable("data"), {.dim1 = 0, .dim2 = 1});
  net = net.with_attr("__layout__", "TN");
  Module module(net, {.label_names = {}, .context = cpus(2)});
  module.bind({{.name = "data", .shape = {6, 4}, .layout = "NT"}}, {}, {.for_training = false});
  module.init_params();
  DataBatch given;
  given.data = {HostTensor::formula({6, 4}, 2).array()};
  module.forward(given);
  EXPECT_THAT(module.group()->output_layouts(), ElementsAre(1));
  EXPECT_EQ(module.output_shapes()[0].second, Shape({4, 6}));
  const HostTensor in = HostTensor::from(given.data[0]),
                   out = HostTensor::from(module.get_outputs()[0]);
  ASSERT_EQ(out.shape, Shape({4, 6}));
  for (std::int64_t n = 0; n < 6; ++n)
    for (std::int64_t t = 0; t < 4; ++t) EXPECT_EQ(out.at({t, n}), in.at({n, t}));
}

TEST(ExecutorGroup, one_batch_per_device) {
  const auto module = ready({.context = cpus(2)});
  ExecutorGroup& group = *module->group();
  module->forward(batch(), false);
  const Floats whole = module->get_outputs()[0].to_vector<float>();
  const DataBatch both = batch();
  std::vector<DataBatch> each(2);
  for (std::int64_t d = 0; d < 2; ++d) {
    each[static_cast<std::size_t>(d)].data = {both.data[0].slice(4 * d, 4 * d + 4)};
    each[static_cast<std::size_t>(d)].label = {both.label[0].slice(4 * d, 4 * d + 4)};
  }
  for (const SlicedArray& a : group.data_arrays()[0]) NDArray(a.array).set(0.0);
  group.load(each);
  group.forward(false);
  EXPECT_EQ(module->get_outputs()[0].to_vector<float>(), whole);
  each.pop_back();
  expect_error(
      ErrorKind::kValue, [&] { group.load(each); }, "1 batches for 2 devices");
}

TEST(ExecutorGroup, a_reshape_that_fails_changes_nothing) {
  const auto module = ready({.context = cpus(4)});
  module->forward(batch(), false);
  const Floats before = module->get_outputs()[0].to_vector<float>();
  expect_error(
      ErrorKind::kValue, [&] { module->forward(batch(3), false); }, "Too many slices");
  EXPECT_EQ(module->data_shapes(), data_shapes());
  module->forward(batch(), false);
  EXPECT_EQ(module->get_outputs()[0].to_vector<float>(), before);
}

TEST(ExecutorGroup, head_gradients_are_cut_over_the_devices) {
  const Symbol net = FullyConnected("fc", Variable("data"), {.num_hidden = 2, .no_bias = true});
  Module module(net, {.label_names = {}, .context = cpus(2)});
  module.bind(data_shapes(), {}, {.inputs_need_grad = true});
  module.init_params({.initializer = One()});
  DataBatch given = batch();
  given.label = {};
  module.forward(given, true);
  Floats heads;
  for (int i = 0; i < 16; ++i) heads.push_back(static_cast<float>(i));
  module.backward({NDArray::from_vector(heads, {8, 2})});
  const HostTensor dx = HostTensor::from(module.get_input_grads()[0]);
  for (std::int64_t n = 0; n < 8; ++n)  // weights are ones: the sum of a row's heads
    for (std::int64_t k = 0; k < 5; ++k) EXPECT_EQ(dx.at({n, k}), 4.0 * static_cast<double>(n) + 1);
}

TEST(ExecutorGroup, gradients_add_up_when_asked_to) {
  const auto module = bound({}, {.grad_req = "add"});
  module->init_params({.initializer = Uniform(1)});
  module->forward_backward(batch());
  const Floats once = module->group()->grad_arrays()[3][0].to_vector<float>();
  module->forward_backward(batch());
  const Floats twice = module->group()->grad_arrays()[3][0].to_vector<float>();
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_FLOAT_EQ(twice[i], 2 * once[i]);
}

}  // namespace
}  // namespace symbind
