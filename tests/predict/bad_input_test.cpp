// Mistakes with a Predictor: what the message says, and that the predictor still works.

#include "ndarray/storage.h"
#include "tests/predict/nets.h"

namespace symbind {
namespace {

class BadInputPredictor : public testing::Test {
 protected:
  /// After every mistake the answer is the same as before.
  void TearDown() override { EXPECT_EQ(numbers(predictor.predict(image(2))), before); }

  Checkpoint net = recorded_net("gap");
  Predictor predictor{net.symbol, net.args, net.aux, {.threads = 1}};
  std::vector<Floats> before = numbers(predictor.predict(image(2)));
};

TEST_F(BadInputPredictor, names) {
  expect_error(
      ErrorKind::kName,
      [&] {
        predictor.predict({{"dta", image(1)}});
      },
      "no input 'dta'", "data");
  expect_error(
      ErrorKind::kName,
      [&] {
        predictor.predict({{"data", image(1)}, {"fc_weight", image(1)}});
      },
      "'fc_weight' is a parameter", "data_names");
  expect_error(
      ErrorKind::kName,
      [&] {
        predictor.prepare({{"data", {1, 3, 8, 8}}, {"x", {1}}});
      },
      "no input 'x'", "softmax_label");
}

TEST_F(BadInputPredictor, missing_and_surplus_inputs) {
  expect_error(
      ErrorKind::kValue, [&] { predictor.predict(InputMap{}); }, "inputs are missing: data");
  expect_error(
      ErrorKind::kValue,
      [&] {
        predictor.predict({{"softmax_label", NDArray({1}, {1})}});
      },
      "inputs are missing: data");
  expect_error(
      ErrorKind::kValue,
      [&] {
        predictor.predict({image(1), image(1)});
      },
      "2 inputs were given", "1 are needed: data");
  const Predictor pair = recorded_predictor("pair");
  expect_error(
      ErrorKind::kValue,
      [&] {
        pair.predict({{"left", NDArray::zeros({1, 3})}});
      },
      "inputs are missing: right", "needed in order: left, right");
}

TEST_F(BadInputPredictor, shapes_and_ranks) {
  expect_error(
      ErrorKind::kShape,
      [&] {
        predictor.predict(NDArray::zeros({1, 4, 8, 8}));
      },
      "conv1", "conv1_weight", "(16, 3, 3, 3)", "for a prediction of data (1, 4, 8, 8)");
  EXPECT_THROW(predictor.predict(NDArray::zeros({3, 8, 8})), Error);
  EXPECT_THROW(predictor.predict(NDArray::zeros({5})), Error);
  expect_error(
      ErrorKind::kShape,
      [&] {
        predictor.predict(NDArray::zeros({0, 3, 8, 8}));
      },
      "(0, 3, 8, 8)", "input 'data'");
  const Predictor pair = recorded_predictor("pair");
  expect_error(
      ErrorKind::kShape,
      [&] {
        pair.predict({NDArray::zeros({2, 3}), NDArray::zeros({3, 4})});
      },
      "left (2, 3)", "right (3, 4)");
}

TEST_F(BadInputPredictor, no_array_at_all) {
  expect_error(
      ErrorKind::kValue, [&] { predictor.predict(NDArray()); }, "input 'data' is not an array");
  const float* null = nullptr;
  expect_error(
      ErrorKind::kValue,
      [&] {
        predictor.predict({{"data", {null, {1, 3, 8, 8}}}});
      },
      "a null pointer");
}

// What failed to be written is not predicted from: its own error is raised, by the call.
TEST_F(BadInputPredictor, an_input_whose_operator_failed) {
  const NDArray failed = image(1);
  failed.storage()->set_error(Error(ErrorKind::kValue, "it was never written"));
  expect_error(
      ErrorKind::kValue, [&] { predictor.predict(failed); }, "it was never written");
  EXPECT_NO_THROW(predictor.predict(failed));  // told once
}

TEST_F(BadInputPredictor, outputs_that_are_not_there) {
  expect_error(
      ErrorKind::kName,
      [&] { Predictor(net.symbol, net.args, net.aux, {.outputs = {"relu_output"}}); },
      "'relu_output'", "relu1_output", "get_internals");
}

TEST_F(BadInputPredictor, options) {
  const auto with = [&](const PredictorOptions& options) {
    return [this, options] { Predictor(net.symbol, net.args, net.aux, options); };
  };
  expect_error(ErrorKind::kValue, with({.threads = -1}), "threads is -1");
  expect_error(ErrorKind::kValue, with({.threads = 100000}), "100000 threads", "1024");
  expect_error(ErrorKind::kValue, with({.max_pool = -2}), "max_pool is -2");
  expect_error(ErrorKind::kValue, with({.max_plans = 0}), "max_plans is 0");
  expect_error(ErrorKind::kName, with({.data_names = {"dat"}}), "'dat'", "data");
  expect_error(ErrorKind::kName, with({.data_names = {"data", "data"}}), "twice");
  expect_error(ErrorKind::kName, with({.types = {{"dta", DType::kFloat64}}}), "'dta'");
  expect_error(ErrorKind::kName, with({.input_shapes = {{"dta", {1}}}}), "'dta'");
  EXPECT_THROW(with({.context = gpu(99)})(), Error);
}

// Line 29 of the list of mistakes.
TEST_F(BadInputPredictor, line29_parameters_of_another_net) {
  const Checkpoint other = recorded_net("pair");
  expect_error(
      ErrorKind::kValue, [&] { Predictor(net.symbol, other.args, other.aux); },
      "missing:", "conv1_weight, conv1_bias", "and 8 more", "extra:", "fc1_bias, fc1_weight",
      "and 1 more", "allow_missing", "allow_extra");
  NDArrayMap wrong = net.args;
  wrong["fc_weight"] = NDArray::zeros({5, 7});
  wrong["conv2_weight"] = NDArray::zeros({16, 16, 1, 1});
  expect_error(
      ErrorKind::kValue,
      [&] {
        Predictor(net.symbol, wrong, net.aux, {.input_shapes = {{"data", {1, 3, 8, 8}}}});
      },
      "wrong shape:", "conv2_weight given (16, 16, 1, 1) needed (16, 16, 3, 3)",
      "fc_weight given (5, 7) needed (5, 16)");
  // Without a shape of the input: what the parameters alone contradict, now; the rest at the call.
  NDArrayMap rows = net.args;
  rows["fc_bias"] = NDArray::zeros({6});
  expect_error(
      ErrorKind::kShape, [&] { Predictor(net.symbol, rows, net.aux); }, "fc_bias", "(6,)", "(5,)");
}

TEST_F(BadInputPredictor, missing_and_extra_parameters_may_be_allowed) {
  NDArrayMap fewer = net.args, more = net.args;
  fewer.erase("fc_bias");
  more["other"] = NDArray::zeros({1});
  expect_error(
      ErrorKind::kValue, [&] { Predictor(net.symbol, fewer, net.aux); }, "missing:", "fc_bias");
  expect_error(
      ErrorKind::kValue, [&] { Predictor(net.symbol, more, net.aux); }, "extra:", "other");
  expect_error(
      ErrorKind::kValue, [&] { Predictor(net.symbol, net.args); }, "bn1_moving_mean");
  NDArrayMap zero = net.args;
  zero["fc_bias"] = NDArray::zeros({5});
  EXPECT_EQ(
      numbers(Predictor(net.symbol, fewer, net.aux, {.allow_missing = true}).predict(image(1))),
      numbers(Predictor(net.symbol, zero, net.aux).predict(image(1))));
  EXPECT_EQ(numbers(Predictor(net.symbol, more, net.aux, {.allow_extra = true}).predict(image(2))),
            before);
}

TEST_F(BadInputPredictor, files) {
  expect_error(
      ErrorKind::kIo, [] { recorded_predictor("nothing"); }, "no file", "nothing-0000.params");
  expect_error(
      ErrorKind::kIo, [] { Predictor::load(golden::path_of("predict/gap"), 7); },
      "existing epochs of", ": 0");
  const std::string json = file_text(golden::path_of("predict/gap-symbol.json"));
  const std::string params = file_text(golden::path_of("predict/gap-0000.params"));
  const auto from = [](const std::string& text, const std::string& bytes) {
    return [=] { Predictor::from_memory(text, std::as_bytes(std::span(bytes))); };
  };
  for (std::size_t size = 0; size < params.size(); size += 97)
    EXPECT_THROW(from(json, params.substr(0, size))(), Error) << size;
  for (std::size_t size = 0; size < json.size(); size += 61)
    EXPECT_THROW(from(json.substr(0, size), params)(), Error) << size;
  EXPECT_NO_THROW(from(json, params)());
}

TEST_F(BadInputPredictor, after_a_move_and_empty) {
  Predictor first = predictor;
  const Predictor second = std::move(first);
  EXPECT_EQ(numbers(second.predict(image(2))), before);
  const auto empty = [](const auto& call) {
    expect_error(ErrorKind::kState, call, "the predictor is empty", "fix:");
  };
  empty([&] { first.predict(image(1)); });  // NOLINT: what is tested
  empty([] { Predictor().predict(image(1)); });
  empty([] { Predictor().stats(); });
  empty([] { Predictor().input_names(); });
}

// An operator that writes its arguments would change what all calls read.
TEST_F(BadInputPredictor, a_network_that_updates_weights) {
  const Names names = {"weight", "grad", "mom"};
  const Symbol update = make_symbol(
      "sgd_mom_update", "update",
      std::vector<Symbol>{Variable("weight"), Variable("grad"), Variable("mom")}, {{"lr", "0.1"}});
  const Predictor updating(update, {}, {}, {.data_names = names});
  const NDArray x = NDArray::zeros({2});
  expect_error(
      ErrorKind::kNotImplemented,
      [&] {
        updating.predict({x, x, x});
      },
      "sgd_mom_update 'update'", "'mom'");
}

}  // namespace
}  // namespace symbind
