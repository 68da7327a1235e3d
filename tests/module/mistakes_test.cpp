// Mistakes with modules, by their number in docs/mistakes.md, and other bad input: what the message
// says, and that nothing was changed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "base/settings.h"
#include "module/nets.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<NDArrayIter> iterator(bool labels = true, std::int64_t rows = 16) {
  const DataBatch all = batch(rows);
  return std::make_unique<NDArrayIter>(all.data[0],
                                       labels ? IterArrays(all.label[0]) : IterArrays(),
                                       NDArrayIterOptions{.batch_size = 8});
}

TEST(BadInputModule, line21_unknown_data_name) {
  expect_error(
      ErrorKind::kName, [] { Module(mlp(), {.data_names = {"x"}}); }, "'x'", "data",
      "softmax_label", "Did you mean one of");
}

TEST(BadInputModule, line22_calls_that_come_too_early) {
  Module module(mlp());
  const auto early = [](auto&& call, const char* part) {
    expect_error(ErrorKind::kState, call, part);
  };
  early([&] { module.forward(batch()); }, "call bind first");
  early([&] { module.init_params(); }, "call bind before initializing the parameters");
  early([&] { module.get_params(); }, "call init_params first");
  module.bind(data_shapes(), label_shapes());
  early([&] { module.forward(batch()); }, "call init_params first");
  early([&] { module.backward(); }, "call init_params first");
  early([&] { module.init_optimizer(); }, "call init_params first");
  module.init_params();
  module.forward_backward(batch());
  early([&] { module.update(); }, "call init_optimizer first");
  early([&] { module.save_optimizer_states("x"); }, "call init_optimizer first");
  module.bind(data_shapes(), {}, {.for_training = false, .force_rebind = true});
  module.forward(batch());
  early([&] { module.backward(); }, "re-bind with for_training=True to run backward");
}

TEST(BadInputModule, line23_metric_without_labels) {
  const auto data = iterator(false);
  Module module(mlp());
  expect_error(
      ErrorKind::kValue, [&] { module.fit(*data, {.num_epoch = 1}); }, "accuracy", "softmax_output",
      "label");
}

TEST(BadInputModule, line24_more_devices_than_rows) {
  Module module(mlp(), {.context = cpus(4)});
  expect_error(
      ErrorKind::kValue, [&] { module.bind(data_shapes(3), label_shapes(3)); }, "Too many slices",
      "3 rows", "4 devices");
  EXPECT_FALSE(module.binded());
}

TEST(BadInputModule, line25_a_column_of_labels_works) {
  const auto flat = ready(), column = ready();
  DataBatch given = batch();
  flat->forward_backward(given);
  flat->update();
  given.label = {given.label[0].reshape({8, 1})};
  column->forward_backward(given);
  column->update();
  EXPECT_EQ(numbers(column->get_params().args), numbers(flat->get_params().args));
}

TEST(BadInputModule, line26_label_that_is_no_class) {
  const Symbol net = SoftmaxOutput("softmax", Variable("data"));
  const NDArray grad = NDArray::zeros({2, 10});
  const auto run = [&] {
    Executor e = net.bind(cpu(),
                          NDArrayMap{{"data", HostTensor::formula({2, 10}, 4).array()},
                                     {"softmax_label", NDArray({3, 10}, {2})}},
                          {.args_grad = NDArrayMap{{"data", grad}}});
    const Floats p = e.forward(true)[0].to_vector<float>();
    e.backward();
    grad.wait_to_read();
    return p;
  };
  const Floats p = run(), dx = grad.to_vector<float>();
  for (std::size_t i = 10; i < 20; ++i) EXPECT_FLOAT_EQ(dx[i], p[i]) << "no one-hot entry";
  const settings::override_for_test checked("SYMBIND_CHECK", "1");
  expect_error(ErrorKind::kValue, run, "row 1", "10");
}

TEST(BadInputModule, line27_parameters_that_do_not_fit) {
  const auto module = ready();
  const NDArrayMap given = seeded(module->get_params().args, 20);
  const auto before = numbers(module->get_params().args);
  NDArrayMap extra = given, missing = given, wrong = given;
  extra["fc3_weight"] = NDArray::ones({1});
  missing.erase("fc2_bias");
  wrong["fc1_bias"] = NDArray::ones({5});
  const SetParamsOptions some = {.allow_missing = true};
  expect_error(
      ErrorKind::kValue, [&] { module->set_params(extra, {}, some); }, "fc3_weight", "allow_extra");
  expect_error(
      ErrorKind::kName, [&] { module->set_params(missing, {}); }, "fc2_bias is not presented",
      "allow_missing");
  expect_error(
      ErrorKind::kShape, [&] { module->set_params(wrong, {}); }, "fc1_bias given (5,) needed (4,)");
  expect_error(
      ErrorKind::kShape, [&] { module->set_params(wrong, {}, some); }, "fc1_bias", "(5,)", "(4,)");
  EXPECT_EQ(numbers(module->get_params().args), before);
  for (std::size_t p = 0; p < 4; ++p)
    EXPECT_EQ(module->group()->param_arrays()[p][0].to_vector<float>(),
              before.at(module->param_names()[p]));
}

TEST(BadInputModule, line28_checkpoint_that_is_not_there) {
  const TemporaryFolder folder;
  const std::string prefix = folder / "net";
  expect_error(
      ErrorKind::kIo, [&] { load_checkpoint(prefix, 7); }, prefix + "-0007.params", "no epoch");
  const auto module = ready();
  const CaptureLog log;
  for (int epoch = 1; epoch <= 5; ++epoch) module->save_checkpoint(prefix, epoch);
  expect_error(
      ErrorKind::kIo, [&] { Module::load(prefix, 7); }, prefix + "-0007.params", "1, 2, 3, 4, 5");
  std::filesystem::remove(prefix + "-symbol.json");
  expect_error(
      ErrorKind::kIo, [&] { load_checkpoint(prefix, 5); }, prefix + "-symbol.json");
  expect_error(
      ErrorKind::kIo, [&] { load_params(folder / "none.params"); }, folder / "none.params");
}

TEST(BadInputModule, line29_params_of_another_net) {
  const TemporaryFolder folder;
  NDArrayMap other = {{"arg:fc1_weight", NDArray::ones({9, 9})}};
  for (int i = 0; i < 7; ++i) other["arg:conv" + std::to_string(i)] = NDArray::ones({1});
  save(folder / "other.params", other);
  const auto module = ready();
  const auto before = numbers(module->get_params().args);
  const std::string text = expect_error(
      ErrorKind::kName, [&] { module->load_params(folder / "other.params"); },
      "fc1_bias is not presented", "fc1_bias, fc2_bias, fc2_weight",
      "fc1_weight given (9, 9) needed (4, 5)", "conv0, conv1, conv2, conv3, conv4 and 2 more");
  EXPECT_EQ(text.find("conv5"), text.npos) << "five of each";
  EXPECT_EQ(numbers(module->get_params().args), before);
  save(folder / "plain.params", NDArrayMap{{"weight", NDArray::ones({1})}});
  expect_error(
      ErrorKind::kValue, [&] { module->load_params(folder / "plain.params"); },
      folder / "plain.params", "'weight'", "arg:");
}

TEST(BadInputModule, line32_names_with_typos) {
  const auto module = bound();
  module->init_params();
  expect_error(
      ErrorKind::kName, [&] { module->init_optimizer({.optimizer = "sdg"}); }, "sdg", "'sgd'");
  expect_error(
      ErrorKind::kName, [&] { module->init_optimizer({.kvstore = "divice"}); }, "divice",
      "'device'");
  EXPECT_FALSE(module->optimizer_initialized());
  const auto data = iterator();
  expect_error(
      ErrorKind::kName, [&] { module->score(*data, "accuarcy"); }, "accuarcy", "'accuracy'");
  expect_error(
      ErrorKind::kName, [] { create_initializer("xaiver"); }, "xaiver", "'xavier'");
}

TEST(BadInputModule, line33_optimizer_parameter_with_a_typo) {
  const auto module = bound();
  module->init_params();
  expect_error(
      ErrorKind::kName,
      [&] {
        module->init_optimizer({.optimizer_params = {{"lr", 0.1}}});
      },
      "'lr'", "learning_rate");
  EXPECT_FALSE(module->optimizer_initialized());
}

TEST(BadInputModule, line34_states_of_another_optimizer) {
  const TemporaryFolder folder;
  const auto adam = ready({}, {.optimizer = "adam"});
  const auto sgd = ready({}, {.optimizer_params = {{"momentum", 0.9}}});
  for (Module* m : {adam.get(), sgd.get()}) {
    m->forward_backward(batch());
    m->update();
  }
  adam->save_optimizer_states(folder / "adam.states");
  const std::string before = sgd->updater()->get_states();
  expect_error(
      ErrorKind::kValue, [&] { sgd->load_optimizer_states(folder / "adam.states"); }, "Adam",
      "SGD");
  EXPECT_EQ(sgd->updater()->get_states(), before) << "nothing was loaded";
}

TEST(BadInputModule, line30_files_that_are_no_params) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.params";
  save(path, NDArrayMap{{"a", NDArray::ones({10, 10})}});
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const auto refused = [&](const std::string& content, const std::string& part) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    expect_error(
        ErrorKind::kIo, [&] { load(path); }, path, "at byte", part);
  };
  refused(whole.substr(0, 200), "ends too early");
  refused("\x89PNG\r\n\x1a\n" + std::string(100, '\0'), "PNG");
  refused(std::string("\x80\x04\x95", 3) + std::string(20, '\0'), "pickle");
}

TEST(BadInputModule, line31_all_unknown_operators_with_their_nodes) {
  std::string nodes = R"({"op": "null", "name": "data", "inputs": []})";
  for (int i = 0; i < 5; ++i) {
    nodes += ", {\"op\": \"Foo" + std::to_string(i) + "\", \"name\": \"node" + std::to_string(i) +
             "\", \"inputs\": [[" + std::to_string(i) + ", 0, 0]]}";
  }
  const std::string text =
      "{\"nodes\": [" + nodes + R"(], "arg_nodes": [0], "heads": [[5, 0, 0]]})";
  expect_error(
      ErrorKind::kName, [&] { Symbol::load_json(text); }, "Foo0", "node0", "Foo1", "Foo2", "Foo3",
      "Foo4", "node4");
}

TEST(BadInputModule, line38_index_out_of_range) {
  const NDArray x = NDArray::ones({3, 4});
  expect_error(
      ErrorKind::kIndex, [&] { x.index({5}); }, "index 5", "axis 0", "size 3");
  expect_error(
      ErrorKind::kIndex, [&] { x.at(3); }, "3");
}

TEST(BadInputModule, line39_error_of_an_operator_comes_once) {
  const Symbol net = softmax_cross_entropy("loss", Variable("data"), Variable("label"));
  Executor executor =
      net.bind(cpu(), NDArrayMap{{"data", NDArray::ones({2, 2})},
                                 {"label", NDArray::from_vector<float>({0, 7}, {2})}});
  executor.forward();
  expect_error(
      ErrorKind::kIndex, [&] { executor.outputs()[0].wait_to_read(); },
      "softmax_cross_entropy 'loss'", "row 1 is 7", "2 classes");
  executor.outputs()[0].wait_to_read();
  waitall();
}

TEST(BadInputModule, line37_nan_with_the_guard_on) {
  Symbol net = FullyConnected("fc", Variable("data"), {.num_hidden = 2});
  Module module(MakeLoss("loss", log("log", net)), {.label_names = {}});
  Floats rows(16 * 3, 1);
  std::fill(rows.begin() + 24, rows.end(), -1.0F);
  NDArrayIter data(NDArray::from_vector(rows, {16, 3}), {}, {.batch_size = 8});
  NanGuard guard;
  expect_error(
      ErrorKind::kValue,
      [&] {
        module.fit(data, {.eval_metric = Loss(),
                          .optimizer_params = {{"learning_rate", 0.0}},
                          .initializer = One(),
                          .num_epoch = 1,
                          .monitor = &guard});
      },
      "step 2", "log 'log'", "output 0", "input 0 'fc_output'", "in [-3, -3]");
}

TEST(BadInputModule, line37_the_guard_by_option_and_by_setting) {
  const Symbol net = MakeLoss("loss", log("log", Variable("data")));
  const auto trained = [&](std::optional<bool> on, Monitor* monitor = nullptr) {
    Module module(net, {.label_names = {}});
    NDArrayIter data(NDArray::from_vector<float>({1, -1}, {2, 1}), {}, {.batch_size = 1});
    module.fit(data, {.eval_metric = Loss(), .num_epoch = 1, .monitor = monitor, .nan_guard = on});
  };
  const CaptureLog log;
  expect_error(
      ErrorKind::kValue, [&] { trained(true); }, "step 2", "log 'log'", "output 0",
      "input 0 'data'", "in [-1, -1]");
  trained({});
  const settings::override_for_test on("SYMBIND_NAN_GUARD", "1");
  expect_error(
      ErrorKind::kValue, [&] { trained({}); }, "step 2", "log 'log'");
  trained(false);
  Monitor monitor(1, {.pattern = "log_output"});  // keeps working with the guard
  expect_error(
      ErrorKind::kValue, [&] { trained(true, &monitor); }, "log 'log'");
  EXPECT_THAT(log.lines(), testing::Contains(HasSubstr("log_output")));
}

TEST(BadInputModule, labels_of_another_size) {
  const auto module = ready();
  DataBatch given = batch();
  given.label = {NDArray::zeros({7})};
  expect_error(
      ErrorKind::kShape, [&] { module->forward(given, true); }, "Batch size miss match", "8", "7");
  given.data = {};
  expect_error(
      ErrorKind::kValue, [&] { module->forward(given, true); }, "0 data arrays");
}

/// The contents of each file of a folder.
std::map<std::string, std::string> contents(const TemporaryFolder& folder) {
  std::map<std::string, std::string> all;
  for (const std::string& name : folder.files()) {
    std::ifstream file(folder / name, std::ios::binary);
    all[name] = {std::istreambuf_iterator<char>(file), {}};
  }
  return all;
}

// A limit on the file size simulates a full disk: the write fails half way.
TEST(BadInputCheckpoint, a_full_disk_leaves_the_old_files) {
  Module module(
      SoftmaxOutput("softmax", FullyConnected("fc", Variable("data"), {.num_hidden = 4000})));
  module.bind(data_shapes(), label_shapes());
  module.init_params({.initializer = Uniform(1)});
  module.init_optimizer({.optimizer_params = {{"momentum", 0.9}}});
  const auto train = [&] {
    module.forward_backward(batch());
    module.update();
  };
  train();
  const TemporaryFolder folder;
  const CaptureLog log;
  module.save_checkpoint(folder / "net", 1, true);
  const auto before = contents(folder);
  train();
  rlimit unlimited{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{20000, unlimited.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error(
      ErrorKind::kIo, [&] { module.save_checkpoint(folder / "net", 1, true); },
      folder / "net-0001.params", "File too large");
  expect_error(
      ErrorKind::kIo, [&] { module.save_optimizer_states(folder / "net-0001.states"); },
      folder / "net-0001.states", "File too large");
  ::setrlimit(RLIMIT_FSIZE, &unlimited);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(contents(folder) == before);
  train();  // training continues
  module.save_checkpoint(folder / "net", 1, true);
  EXPECT_FALSE(contents(folder).at("net-0001.params") == before.at("net-0001.params"));
}

TEST(BadInputCheckpoint, a_path_that_is_no_folder) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  const auto module = ready();
  for (const std::string& prefix : {folder / "file/net", folder / "nowhere/net"}) {
    expect_error(
        ErrorKind::kIo, [&] { module->save_checkpoint(prefix, 1, true); }, prefix);
    expect_error(
        ErrorKind::kIo, [&] { module->save_optimizer_states(prefix + ".states"); },
        prefix + ".states");
  }
  EXPECT_THAT(folder.files(), ElementsAre("file"));
}

}  // namespace
}  // namespace symbind
