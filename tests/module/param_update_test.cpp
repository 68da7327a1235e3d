// update() after forward_backward() runs the updates that are wired for the fused step.

#include <symbind/detail/param_update.h>

#include <gtest/gtest.h>

#include "executor/fused_step.h"
#include "module/nets.h"

namespace symbind {
namespace {

using OptimizerSetup = std::pair<const char*, OptimizerParams>;

std::shared_ptr<Module> trained(const OptimizerSetup& setup, bool fused) {
  auto module = ready({}, {.optimizer = setup.first, .optimizer_params = setup.second});
  const MetricPtr metric = Accuracy();
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    if (fused) {
      module->step(batch(8, seed), *metric);
    } else {
      module->forward_backward(batch(8, seed));
      module->update();
    }
  }
  return module;
}

std::size_t wired_updates(Module& module) {
  return fused_step_of(module.group()->execs().front()).size();
}

TEST(ParamUpdate, the_verbs_run_the_wired_updates_and_give_the_same_bits) {
  const OptimizerSetup setups[] = {{"sgd", {{"learning_rate", 0.1}}},
                                   {"sgd", {{"learning_rate", 0.1}, {"momentum", 0.9}}},
                                   {"nag", {{"momentum", 0.9}}},
                                   {"adam", {{"wd", 0.01}}},
                                   {"rmsprop", {{"centered", true}}},
                                   {"ftrl", {}},
                                   {"signum", {}}};
  for (const OptimizerSetup& setup : setups) {
    const auto fused = trained(setup, true), verbs = trained(setup, false);
    const std::size_t params = fused->get_params().args.size();
    EXPECT_EQ(wired_updates(*verbs), params) << setup.first;
    EXPECT_EQ(numbers(fused->get_params().args), numbers(verbs->get_params().args)) << setup.first;
  }
}

// Two that take turns on one executor wire their own updates each time.
TEST(ParamUpdate, two_on_one_executor) {
  const auto module = ready({}, {.optimizer = "sgd", .optimizer_params = {{"learning_rate", 0.5}}});
  ExecutorGroup& group = *module->group();
  const auto slow = std::make_shared<Updater>(create_optimizer("sgd", {{"learning_rate", 1e-9}}));
  ParamUpdate other(slow, nullptr, false);
  module->forward_backward(batch());
  module->update();
  const auto before = numbers(module->get_params().args);
  other.update(group);
  EXPECT_EQ(slow->optimizer()->num_update, 1);
  module->forward_backward(batch());
  module->update();
  const auto after = numbers(module->get_params().args);
  EXPECT_EQ(slow->optimizer()->num_update, 1);
  EXPECT_GT(std::abs(after.at("fc2_bias")[0] - before.at("fc2_bias")[0]), 1e-4);
}

TEST(ParamUpdate, several_operators_update_weight_by_weight) {
  const auto module = trained({"adamax", {}}, false);
  EXPECT_EQ(wired_updates(*module), 0U);
}

// SGD whose momentum is set to 0 is plain descent, which leaves the momentum's array alone.
TEST(ParamUpdate, a_hyper_parameter_that_chooses_another_operator) {
  const auto module = trained({"sgd", {{"learning_rate", 0.5}, {"momentum", 0.9}}}, false);
  Optimizer& optimizer = *module->updater()->optimizer();
  **std::get_if<double*>(&optimizer.fields().find("momentum")->slot) = 0;
  const auto before = numbers(module->get_params().args);
  const NDArray moving = module->updater()->states().begin()->second.array();
  const Floats held = moving.to_vector<float>();
  module->forward_backward(batch(8, 9));
  module->update();
  const auto after = numbers(module->get_params().args);
  EXPECT_EQ(moving.to_vector<float>(), held);
  const auto& group = *module->group();
  for (std::size_t i = 0; i < group.options().param_names.size(); ++i) {
    const std::string& name = group.options().param_names[i];
    const Floats gradient = group.grad_arrays()[i].front().to_vector<float>();
    for (std::size_t k = 0; k < gradient.size(); ++k)
      EXPECT_NEAR(after.at(name)[k], before.at(name)[k] - 0.5 * gradient[k] / 8, 1e-6) << name;
  }
}

}  // namespace
}  // namespace symbind
