// What all optimizers share: multipliers, counts, parameters by name, groups, states.
#include <gtest/gtest.h>

#include <symbind/ops.h>
#include <symbind/optimizer.h>

#include "base/settings.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

const Key kZero = std::int64_t{0}, kOne = std::int64_t{1};

std::string message(const std::function<void()>& f, ErrorKind kind) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(Optimizer, multipliers_of_the_symbol) {
  const Symbol data = Variable("data");
  const Symbol bias = Variable("fc1_bias", {.lr_mult = 1.0});
  const Symbol fc1 = FullyConnected("fc1", {.data = data, .bias = bias},
                                    {.num_hidden = 10, .attr = {{"__lr_mult__", "0"}}});
  const Symbol fc2 =
      FullyConnected("fc2", fc1, {.num_hidden = 10, .attr = {{"__wd_mult__", "0.5"}}});
  const auto sgd = create_optimizer("sgd", {{"learning_rate", 1.0}, {"wd", 0.1}});
  sgd->set_parameters({{kZero, "fc1_weight"}, {kOne, "fc1_bias"}}, fc2);
  EXPECT_EQ(sgd->lr_mult(), (Optimizer::Multipliers{{"fc1_bias", 1.0}, {"fc1_weight", 0.0}}));
  EXPECT_EQ(sgd->wd_mult(),
            (Optimizer::Multipliers{{"fc2_bias", 0.5}, {"fc2_weight", 0.5}, {"fc1_bias", 0.0}}));
  EXPECT_EQ(sgd->get_lr(kZero), 0.0);
  EXPECT_EQ(sgd->get_lr(kOne), 1.0);
  EXPECT_EQ(sgd->get_wd(kZero), 0.1);
  EXPECT_EQ(sgd->get_wd(kOne), 0.0);
  sgd->set_lr_mult({{kZero, 3.0}, {"fc1_bias", 2.0}});
  EXPECT_EQ(sgd->get_lr(kZero), 3.0);
  EXPECT_EQ(sgd->get_lr(kOne), 2.0);
  EXPECT_EQ(sgd->get_lr(std::string("elsewhere")), 1.0);
}

TEST(Optimizer, what_decays) {
  const Optimizer::Names names = {
      {kZero, "fc_weight"}, {kOne, "bn_gamma"}, {std::int64_t{2}, "bn_beta"}};
  const auto sgd = create_optimizer("sgd"), lars = create_optimizer("lars");
  sgd->set_parameters(names, SymbolFacts{});
  lars->set_parameters(names, SymbolFacts{});
  EXPECT_EQ(sgd->wd_mult(), (Optimizer::Multipliers{{"bn_beta", 0.0}}));
  EXPECT_EQ(lars->wd_mult(), (Optimizer::Multipliers{{"bn_beta", 0.0}, {"bn_gamma", 0.0}}));
}

TEST(Optimizer, counts_per_device) {
  const auto sgd = create_optimizer("sgd", {{"begin_num_update", 5}});
  sgd->update_count(kZero);
  sgd->update_count(kZero);
  sgd->set_current_context(1);
  sgd->update_count(kZero);
  EXPECT_EQ(sgd->count_of(kZero), 6);
  EXPECT_EQ(sgd->num_update, 7);
  sgd->set_current_context(0);
  EXPECT_EQ(sgd->count_of(kZero), 7);
}

TEST(Optimizer, the_rate_is_the_schedulers_or_its_own) {
  const auto plain = create_optimizer("SGD");
  EXPECT_EQ(plain->learning_rate(), 0.01);
  plain->set_learning_rate(0.2);
  EXPECT_EQ(plain->learning_rate(), 0.2);
  const CaptureLog log;
  const auto both =
      create_optimizer("sgd", {{"learning_rate", 0.3}, {"lr_scheduler", FactorScheduler(1)}});
  EXPECT_EQ(both->learning_rate(), 0.3);
  EXPECT_EQ(log.lines().size(), 1U);
  EXPECT_NE(message([&] { both->set_learning_rate(0.5); }, ErrorKind::kState).find("LRScheduler"),
            std::string::npos);
  const auto ftrl = create_optimizer("ftrl", {{"lr_scheduler", FactorScheduler(1)}});
  EXPECT_EQ(ftrl->learning_rate(), 0.01);
}

TEST(Optimizer, groups_are_what_the_environment_says) {
  EXPECT_EQ(create_optimizer("sgd")->aggregate_num, 4);
  EXPECT_EQ(create_optimizer("lamb")->aggregate_num, 45);
  EXPECT_EQ(create_optimizer("adam")->aggregate_num, 0);
  const settings::override_for_test two("MXNET_OPTIMIZER_AGGREGATION_SIZE", "2");
  EXPECT_EQ(create_optimizer("sgd")->aggregate_num, 2);
  EXPECT_EQ(create_optimizer("lamb")->aggregate_num, 2);
}

TEST(Optimizer, half_precision_warns) {
  const CaptureLog log;
  Updater updater(create_optimizer("adam"));
  const NDArray weight = NDArray::ones(Shape{2}, cpu(), DType::kFloat16);
  updater(kZero, weight.copy(), weight);
  ASSERT_EQ(log.lines().size(), 1U);
  EXPECT_NE(log.lines()[0].find("multi_precision=True"), std::string::npos);
}

class Halving : public Optimizer {
 public:
  std::string class_name() const override { return "Halving"; }
  void update(const Key&, NDArray weight, NDArray, const OptimizerState&) override {
    weight *= 0.5;
  }
};

TEST(Optimizer, a_custom_optimizer) {
  register_optimizer("Halving", [] { return std::make_shared<Halving>(); });
  Updater updater(create_optimizer("HALVING"));
  const NDArray weight = NDArray::ones(Shape{2}, cpu());
  updater(std::string("w"), weight, weight);
  EXPECT_EQ(weight.to_vector<float>(), (std::vector<float>{0.5F, 0.5F}));
}

TEST(Optimizer, adadelta_rescales_the_gradient_itself) {
  Updater updater(create_optimizer("adadelta", {{"rescale_grad", 0.5}}));
  const NDArray weight = NDArray::ones(Shape{1}, cpu()), grad = NDArray::ones(Shape{1}, cpu());
  updater(kZero, grad, weight);
  EXPECT_EQ(grad.scalar(), 0.5);
}

// With momentum MXNet's DCASGD stops; the formula at w = w' is plain momentum.
TEST(Optimizer, dcasgd_with_momentum) {
  Updater dcasgd(create_optimizer("dcasgd", {{"learning_rate", 0.1}, {"momentum", 0.9}}));
  const NDArray weight = NDArray::ones(Shape{1}, cpu()), grad = NDArray::full(Shape{1}, 2, cpu());
  dcasgd(kZero, grad, weight);
  EXPECT_NEAR(weight.scalar(), 0.8, 1e-6);
  dcasgd(kZero, grad, weight);  // m = 0.9·(-0.2) - 0.1·(2 + 0.04·4·(0.8 - 1))
  EXPECT_NEAR(weight.scalar(), 0.8 - 0.18 - 0.1 * (2 - 0.032), 1e-6);
}

// Rows without gradient stay, with their states; the others change as they always do.
TEST(Optimizer, lazy_updates) {
  const OptimizerParams params = {{"learning_rate", 0.1}, {"wd", 0.5}};
  Updater dense(create_optimizer("adam", params)), lazy(create_optimizer("adam", params));
  const NDArray a({1, 2, 3, 4, 5, 6}, Shape{3, 2}, cpu()), b = a.copy();
  const NDArray grad({1, -1, 0, 0, 0, -3}, Shape{3, 2}, cpu());
  for (int step = 0; step < 2; ++step) {
    dense(kZero, grad.copy(), a);
    lazy.optimizer()->update_lazily(kZero, b, grad, lazy.state_for(kZero, b));
  }
  EXPECT_EQ(a.slice(0, 1).to_vector<float>(), b.slice(0, 1).to_vector<float>());
  EXPECT_EQ(b.slice(1, 2).to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_NE(a.slice(1, 2).to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(a.slice(2, 3).to_vector<float>(), b.slice(2, 3).to_vector<float>());
  const NDArray mean = lazy.states().at(kZero).array(0);
  EXPECT_EQ(mean.slice(1, 2).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_NE(mean.slice(2, 3).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(lazy.optimizer()->num_update, 2);
  lazy.optimizer()->update_lazily(kZero, b, grad * 0, lazy.state_for(kZero, b));
  EXPECT_EQ(lazy.optimizer()->num_update, 3);
}

// mistakes.md 32
TEST(BadInputOptimizer, unknown_name_gets_the_nearest) {
  const std::string text = message([] { create_optimizer("sdg"); }, ErrorKind::kName);
  EXPECT_NE(text.find("did you mean 'sgd'"), std::string::npos) << text;
  EXPECT_NE(text.find("rmsprop"), std::string::npos) << text;
}

// mistakes.md 33
TEST(BadInputOptimizer, unknown_parameter_gets_the_nearest) {
  for (const char* name : {"lr", "learning_rat", "LearningRate"}) {
    const std::string text = message(
        [&] {
          create_optimizer("sgd", {{name, 0.1}});
        },
        ErrorKind::kName);
    EXPECT_NE(text.find("learning_rate"), std::string::npos) << text;
    EXPECT_NE(text.find("SGD"), std::string::npos) << text;
    EXPECT_NE(text.find(name), std::string::npos) << text;
  }
}

TEST(BadInputOptimizer, wrong_values) {
  EXPECT_NE(message(
                [] {
                  create_optimizer("sgd", {{"momentum", "high"}});
                },
                ErrorKind::kValue)
                .find("momentum"),
            std::string::npos);
  message([] { create_optimizer("sgd", {{"lr_scheduler", 0.1}}); }, ErrorKind::kType);
  message([] { create_optimizer("lbsgd", {{"batch_scale", 0}}); }, ErrorKind::kValue);
  message([] { Updater updater(nullptr); }, ErrorKind::kType);
  Updater signum(create_optimizer("signum", {{"momentum", 0.0}, {"wd_lh", 0.1}}));
  const NDArray w = NDArray::ones(Shape{1}, cpu());
  EXPECT_NE(message([&] { signum(kZero, w.copy(), w); }, ErrorKind::kValue).find("momentum"),
            std::string::npos);
  Updater group(create_optimizer("groupadagrad"));
  message([&] { group(kZero, w.copy(), w); }, ErrorKind::kState);
}

}  // namespace
}  // namespace symbind
