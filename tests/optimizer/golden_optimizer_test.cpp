// Ten steps of every optimizer against MXNet 1.9.1 (tools/oracle/record_optimizer.py), and the two
// other ways to the same numbers: one weight at a time, and the operator that a fused step runs.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include <symbind/executor.h>

#include "optimizer/recorded.h"

namespace symbind {
namespace {

const nlohmann::json& recording() {
  static const nlohmann::json all = recorded::json("cases.json");
  return all;
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& [name, one] : recording()["cases"].items()) names.push_back(name);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, ' ', '_');
  return name;
}

class GoldenOptimizer : public testing::TestWithParam<std::string> {};

TEST_P(GoldenOptimizer, ten_steps) {
  const nlohmann::json& setup = recording()["setup"];
  const nlohmann::json& one = recording()["cases"][GetParam()];
  const bool half = one["dtype"] == "float16";
  Updater updater(recorded::optimizer(setup, one));
  std::vector<NDArray> weights = recorded::weights(setup, one);
  for (int number = 1; number <= 10; ++number) {
    recorded::step(updater, setup, one, weights, number);
    if (!one["after"].contains(std::to_string(number))) continue;
    const nlohmann::json& after = one["after"][std::to_string(number)];
    for (std::size_t k = 0; k < one["places"].size(); ++k) {
      const std::size_t place = one["places"][k];
      EXPECT_TRUE(recorded::near(weights[place].to_vector<double>(), after["weights"][k],
                                 half ? 1e-3 : 1e-5))
          << "weight " << place << " after step " << number;
      const auto states = recorded::flat(updater.states().at(static_cast<std::int64_t>(place)));
      ASSERT_EQ(states.size(), after["states"][k].size());
      for (std::size_t i = 0; i < states.size(); ++i)
        EXPECT_TRUE(recorded::near(states[i].to_vector<double>(), after["states"][k][i], 1e-5))
            << "state " << i << " of weight " << place << " after step " << number;
    }
  }
}

bool is_one_operator(const nlohmann::json& one) {
  static const std::set<std::string> mixed = {"sgd", "ccsgd", "nag"};
  static const std::set<std::string> plain = {"adam", "signum", "rmsprop", "ftrl", "ftml"};
  return mixed.contains(one["optimizer"]) ||
         (plain.contains(one["optimizer"]) && one["dtype"] != "float16");
}

// Where an update is one operator, running that operator with the values handed out is the update.
TEST_P(GoldenOptimizer, update_op_is_the_update) {
  const nlohmann::json& setup = recording()["setup"];
  const nlohmann::json& one = recording()["cases"][GetParam()];
  Updater whole(recorded::optimizer(setup, one)), parts(recorded::optimizer(setup, one));
  std::vector<NDArray> a = recorded::weights(setup, one), b = recorded::weights(setup, one);
  const Key key = std::int64_t{0};
  const NDArray grad = b[4].reshape({3, 4}) * 0.5;
  for (int number = 0; number < 3; ++number) {
    const OptimizerState& state = parts.state_for(key, b[0]);
    const std::string op(parts.optimizer()->update_op(b[0], state));
    ASSERT_EQ(!op.empty(), is_one_operator(one));
    if (op.empty()) return;
    AttrDict attrs;
    parts.optimizer()->update_values(key, [&attrs](std::string_view attr, double value) {
      std::ostringstream text;
      text.precision(17);
      text << value;
      attrs[std::string(attr)] = text.str();
    });
    invoke(op, parts.optimizer()->update_inputs(b[0], grad, state), attrs, {b[0]});
    whole(key, grad.copy(), a[0]);
  }
  EXPECT_EQ(a[0].to_vector<double>(), b[0].to_vector<double>());
  EXPECT_EQ(whole.optimizer()->num_update, parts.optimizer()->num_update);
}

INSTANTIATE_TEST_SUITE_P(Recorded, GoldenOptimizer, testing::ValuesIn(case_names()), test_name);

// w' = w - lr/2·(g + wd·w) + N(0, lr): mean and variance over many draws.
TEST(GoldenSgld, moments) {
  const double lr = 0.04, wd = 0.5;
  Updater updater(create_optimizer("sgld", {{"learning_rate", lr}, {"wd", wd}}));
  const std::int64_t n = 200000;
  const NDArray weight = NDArray::full(Shape{n}, 2.0, cpu()), grad = NDArray::ones(Shape{n}, cpu());
  updater(std::int64_t{0}, grad, weight);
  double mean = 0, square = 0;
  for (const double w : weight.to_vector<double>()) mean += w / static_cast<double>(n);
  for (const double w : weight.to_vector<double>())
    square += (w - mean) * (w - mean) / static_cast<double>(n);
  EXPECT_NEAR(mean, 2.0 - lr / 2 * (1 + wd * 2.0), 0.003);
  EXPECT_NEAR(square, lr, 0.001);
}

}  // namespace
}  // namespace symbind
