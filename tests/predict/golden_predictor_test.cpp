// Predictor against recorded answers of MXNet 1.9.1's C predict API (tools/oracle/
// record_predict.py): batches and image sizes, internal values, two inputs, float64. And against a
// checkpoint of MXNet's Module.

#include "tests/predict/nets.h"

#include <nlohmann/json.hpp>

namespace symbind {
namespace {

using Json = nlohmann::json;

const Json& recorded() {
  static const Json all = golden::read_json(golden::path_of("predict/predict.json"));
  return all.at("cases");
}

void expect_recorded(const Predictor& predictor, const Json& one) {
  InputMap inputs;
  for (const auto& [name, how] : one.at("inputs").items())
    inputs.emplace(name, golden::read_tensor(how).array());
  const std::vector<NDArray> outputs = predictor.predict(inputs);
  ASSERT_EQ(outputs.size(), one.at("results").size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const golden::Tensor want = golden::read_tensor(one.at("results")[i]);
    EXPECT_EQ(outputs[i].shape(), want.shape);
    EXPECT_EQ(outputs[i].dtype(), want.dtype);
    EXPECT_TRUE(
        golden::matches(HostTensor::from(outputs[i]), want, golden::recorded_tolerance(want.dtype)))
        << one.at("net") << " output " << i << " of " << one.at("inputs");
  }
}

TEST(GoldenPredictor, answers_as_mxnet_does) {
  int compared = 0;
  for (const Json& one : recorded()) {
    PredictorOptions options{.threads = 1};
    if (one.contains("outputs")) options.outputs = one["outputs"].get<Names>();
    expect_recorded(recorded_predictor(one.at("net"), options), one);
    ++compared;
  }
  EXPECT_EQ(compared, 8);
}

// All shapes of one network from one predictor, in turn and again.
TEST(GoldenPredictor, one_predictor_for_all_shapes) {
  const Predictor predictor = recorded_predictor("gap", {.threads = 1, .max_plans = 2});
  for (int round = 0; round < 2; ++round) {
    for (const Json& one : recorded())
      if (one.at("net") == "gap" && !one.contains("outputs")) expect_recorded(predictor, one);
  }
  EXPECT_EQ(predictor.stats().plans, 2);
  EXPECT_EQ(predictor.stats().plans_made, 8);
}

TEST(GoldenPredictor, values_inside_and_outputs_at_once) {
  for (const Json& one : recorded()) {
    if (!one.contains("outputs")) continue;
    Names names = one["outputs"].get<Names>();
    names.insert(names.begin(), "softmax_output");
    names.push_back("data");
    const Predictor predictor = recorded_predictor("gap", {.threads = 1, .outputs = names});
    EXPECT_EQ(predictor.output_names(), names);
    const golden::Tensor data = golden::read_tensor(one.at("inputs").at("data"));
    const std::vector<NDArray> all = predictor.predict(data.array());
    ASSERT_EQ(all.size(), names.size());
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_TRUE(golden::matches(HostTensor::from(all[i + 1]),
                                  golden::read_tensor(one.at("results")[i]), {1e-5, 0}));
    EXPECT_EQ(all.back().to_vector<float>(), data.array().to_vector<float>());
    double sum = 0;
    for (const float p : all.front().to_vector<float>()) sum += static_cast<double>(p);
    EXPECT_NEAR(sum, static_cast<double>(data.shape[0]), 1e-6);
  }
}

// tests/golden/checkpoint: trained, saved and scored by MXNet's Module.
TEST(GoldenPredictor, checkpoint_of_a_training) {
  const Predictor predictor = Predictor::load(golden::path_of("checkpoint/fashion"), 1);
  EXPECT_EQ(predictor.input_names(), Names{"data"});
  EXPECT_EQ(predictor.label_names(), Names{"softmax_label"});
  EXPECT_EQ(predictor.output_shapes({{"data", {7, 1, 28, 28}}}), std::vector<Shape>({{7, 10}}));
}

}  // namespace
}  // namespace symbind
