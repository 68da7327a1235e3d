// The behaviours S35 to S42 of docs/contract.md: parameters, optimizers, steps and checkpoints.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "module/nets.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// w - rate · g, in double.
void expect_step(const Floats& after, const Floats& before, const std::vector<Floats>& grads,
                 double rate, const std::string& name) {
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    double sum = 0;
    for (const Floats& g : grads) sum += static_cast<double>(g[i]);
    EXPECT_NEAR(after[i], static_cast<double>(before[i]) - rate * sum, 1e-6) << name;
  }
}

std::vector<Floats> gradients(const Module& module, std::size_t param) {
  std::vector<Floats> all;
  for (const NDArray& g : module.group()->grad_arrays()[param]) all.push_back(g.to_vector<float>());
  return all;
}

TEST(Contract, S35) {
  Module unbound(mlp());
  expect_error(
      ErrorKind::kState, [&] { unbound.init_params(); },
      "call bind before initializing the parameters");
  const auto module = bound({.context = cpus(2)});
  expect_error(
      ErrorKind::kName,
      [&] {
        module->init_params({.arg_params = NDArrayMap{{"fc1_weight", NDArray::ones({4, 5})},
                                                      {"fc2_weight", NDArray::ones({3, 4})},
                                                      {"fc2_bias", NDArray::ones({3})}}});
      },
      "fc1_bias is not presented", "allow_missing");
  EXPECT_FALSE(module->params_initialized());
  module->init_params({.initializer = Uniform(1)});
  EXPECT_TRUE(module->params_initialized());
  EXPECT_FALSE(module->params_dirty());
  const auto before = numbers(module->get_params().args);
  for (const Executor& e : module->group()->execs())
    for (const auto& [name, values] : before)
      EXPECT_EQ(e.arg_dict().at(name).to_vector<float>(), values) << name;
  {
    const CaptureLog log;
    module->init_params({.initializer = One()});
    EXPECT_THAT(log.lines(), ElementsAre("Parameters already initialized and force_init=False. "
                                         "init_params call ignored."));
  }
  EXPECT_EQ(numbers(module->get_params().args), before);
  // The arrays the module itself holds may be given back.
  module->init_params({.arg_params = module->get_params().args, .force_init = true});
  EXPECT_EQ(numbers(module->get_params().args), before);
  module->init_params({.initializer = One(),
                       .arg_params = NDArrayMap{{"fc1_bias", NDArray::full({4}, 3)}},
                       .allow_missing = true,
                       .force_init = true});
  EXPECT_TRUE(all_are(module->get_params().args.at("fc1_bias"), 3));
  EXPECT_TRUE(all_are(module->get_params().args.at("fc1_weight"), 1));
}

TEST(Contract, S36) {
  const auto module = bound();
  const NDArrayMap given = {{"fc1_weight", NDArray::full({4, 5}, 2)},
                            {"fc1_bias", NDArray::full({4}, 2)},
                            {"fc2_weight", NDArray::full({3, 4}, 2)},
                            {"fc2_bias", NDArray::full({3}, 2)}};
  module->set_params(given, {});
  EXPECT_TRUE(module->params_initialized());
  EXPECT_FALSE(module->params_dirty());
  const NDArray host = module->get_params().args.at("fc1_bias");
  const NDArrayMap one = {{"fc1_bias", NDArray::full({4}, 9)}};
  module->set_params(one, {}, {.allow_missing = true});
  EXPECT_TRUE(module->params_dirty());
  EXPECT_TRUE(all_are(host, 2)) << "the host's copy waits";
  EXPECT_TRUE(all_are(module->group()->param_arrays()[1][0], 9));
  EXPECT_TRUE(all_are(module->get_params().args.at("fc1_bias"), 9));
  EXPECT_FALSE(module->params_dirty());
  expect_error(
      ErrorKind::kName, [&] { module->set_params(one, {}); }, "is not presented");
  NDArrayMap extra = given;
  extra["nowhere"] = NDArray::ones({1});
  module->set_params(extra, {});  // ignored, as in MXNet
  expect_error(
      ErrorKind::kValue, [&] { module->set_params(extra, {}, {.allow_missing = true}); }, "nowhere",
      "allow_extra");
  module->set_params(extra, {}, {.allow_missing = true, .allow_extra = true});
}

TEST(Contract, S37) {
  const auto module = ready();
  EXPECT_EQ(module->optimizer()->rescale_grad, 1.0 / 8);
  EXPECT_EQ(module->kvstore(), nullptr);
  Optimizer::Names names;
  for (std::int64_t i = 0; i < 4; ++i)
    names[i] = module->param_names()[static_cast<std::size_t>(i)];
  EXPECT_EQ(module->optimizer()->idx2name(), names);
  {
    const CaptureLog log;
    module->init_optimizer({.optimizer = "adam"});
    EXPECT_THAT(log.lines(), ElementsAre("optimizer already initialized, ignoring..."));
  }
  EXPECT_EQ(module->optimizer()->class_name(), "SGD");

  const auto on_store = ready({.context = cpus(2)});
  EXPECT_TRUE(on_store->update_on_kvstore());
  EXPECT_EQ(on_store->optimizer()->idx2name(), names);
  {
    const settings::override_for_test beside_it("MXNET_UPDATE_ON_KVSTORE", "0");
    const auto beside = ready({.context = cpus(2)}, {.kvstore = "device"});
    EXPECT_FALSE(beside->update_on_kvstore());
    EXPECT_EQ(beside->kvstore()->type(), "device");
    Optimizer::Names by_device;
    for (std::int64_t i = 0; i < 8; ++i)
      by_device[i] = module->param_names()[static_cast<std::size_t>(i / 2)];
    EXPECT_EQ(beside->optimizer()->idx2name(), by_device);
  }
  EXPECT_EQ(ready({}, {.optimizer_params = {{"rescale_grad", 3.0}}})->optimizer()->rescale_grad, 3);
  const std::shared_ptr<Optimizer> made = create_optimizer("sgd", {{"learning_rate", 0.1}});
  {
    const CaptureLog log;
    ready({}, {.optimizer = made});
    ASSERT_EQ(log.lines().size(), 1u);
    EXPECT_THAT(log.lines()[0],
                HasSubstr("Optimizer created manually outside Module but rescale_grad is not "
                          "normalized to 1.0/batch_size/num_workers (1"));
    EXPECT_THAT(log.lines()[0], HasSubstr("vs. 0.125). Is this intended?"));
  }
  EXPECT_EQ(made->rescale_grad, 1);
  EXPECT_EQ(made->idx2name(), names) << "filled as it was empty";
}

/// As far as a module can tell, one of three workers.
struct DistSync : KVStore {
  std::string type() const override { return "dist_sync"; }
  void init(const Key&, const NDArray&) override {}
  void push(const Key&, const std::vector<NDArray>&, int) override {}
  void pull(const Key&, const std::vector<NDArray>&, int) override {}
  void assign(const Key&, const NDArray&) override {}
  void set_updater(StoreUpdate) override {}
  int num_workers() const override { return 3; }
};

TEST(Module, workers_share_the_batch) {
  const auto module = ready({}, {.kvstore = std::make_shared<DistSync>()});
  EXPECT_DOUBLE_EQ(module->optimizer()->rescale_grad, 1.0 / (8 * 3));
}

void expect_sgd_step(int devices, StoreArg store) {
  const auto module =
      ready({.context = cpus(devices)},
            {.kvstore = std::move(store), .optimizer_params = {{"learning_rate", 0.5}}});
  const auto before = numbers(module->get_params().args);
  module->forward_backward(batch());
  std::vector<std::vector<Floats>> grads;
  for (std::size_t p = 0; p < 4; ++p) grads.push_back(gradients(*module, p));
  EXPECT_FALSE(module->params_dirty());
  module->update();
  EXPECT_TRUE(module->params_dirty());
  const auto after = numbers(module->get_params().args);
  EXPECT_FALSE(module->params_dirty());
  for (std::size_t p = 0; p < 4; ++p) {
    const std::string& name = module->param_names()[p];
    expect_step(after.at(name), before.at(name), grads[p], 0.5 / 8, name);
    for (const NDArray& w : module->group()->param_arrays()[p])
      EXPECT_EQ(w.to_vector<float>(), after.at(name));
  }
}

TEST(Contract, S38) {
  expect_sgd_step(1, nullptr);
  expect_sgd_step(2, "local");
  expect_sgd_step(2, "device");
  {
    const settings::override_for_test beside("MXNET_UPDATE_ON_KVSTORE", "0");
    expect_sgd_step(2, "local");
  }
  // Where devices differ, the parameters are their mean.
  const auto module = ready({.context = cpus(2)});
  module->set_params({}, {}, {.allow_missing = true});  // dirty
  NDArray(module->group()->param_arrays()[1][0]).set(1.0);
  NDArray(module->group()->param_arrays()[1][1]).set(4.0);
  EXPECT_TRUE(all_are(module->get_params().args.at("fc1_bias"), 2.5));
}

TEST(Contract, S39) {
  const auto module = ready();
  const NDArray rows = HostTensor::formula({14, 5}, 5).array();
  DataBatch given;
  given.data = {rows.slice(0, 8)};
  module->forward(given, false);  // no labels: accepted
  const Floats eight = module->get_outputs()[0].to_vector<float>();
  given.data = {rows};
  module->forward(given, false);  // another size: reshaped
  EXPECT_EQ(module->data_shapes(), data_shapes(14));
  const Floats more = module->get_outputs()[0].to_vector<float>();
  ASSERT_EQ(more.size(), 14u * 3);
  for (std::size_t i = 0; i < eight.size(); ++i) EXPECT_NEAR(more[i], eight[i], 1e-6);
  given.data = {rows.slice(0, 3)};
  given.label = {NDArray::zeros({3})};
  given.provide_data = data_shapes(3);
  given.provide_label = label_shapes(3);
  module->forward(given);
  EXPECT_EQ(module->label_shapes(), label_shapes(3));
  module->backward();
  module->update();
  EXPECT_EQ(module->optimizer()->rescale_grad, 1.0 / 8) << "a reshape leaves it alone";
}

TEST(Contract, S40) {
  const auto module = bound({.context = cpus(2)}, {.inputs_need_grad = true});
  module->init_params({.initializer = Uniform(1)});
  module->forward_backward(batch());
  const auto joined = [](const DeviceArrays& parts) {
    Floats all;
    for (const NDArray& p : parts) {
      const Floats own = p.to_vector<float>();
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  };
  const ExecutorGroup& group = *module->group();
  EXPECT_EQ(module->get_outputs()[0].to_vector<float>(), joined(group.device_outputs()[0]));
  EXPECT_EQ(module->get_input_grads()[0].shape(), Shape({8, 5}));
  EXPECT_EQ(module->get_input_grads()[0].to_vector<float>(), joined(group.input_grad_arrays()[0]));
  const auto plain = ready();
  expect_error(
      ErrorKind::kState, [&] { plain->get_input_grads(); }, "inputs_need_grad=True");

  const Symbol out = Variable("data") + Variable("state");
  Module stateful(Group({out, out * 2.0}),
                  {.label_names = {}, .context = cpus(2), .state_names = {"state"}});
  stateful.bind({{.name = "data", .shape = {4, 3}}}, {}, {.for_training = false});
  stateful.init_params();
  DataBatch ones;
  ones.data = {NDArray::ones({4, 3})};
  EXPECT_EQ(stateful.get_states()[0][1].shape(), Shape({2, 3}));
  EXPECT_TRUE(all_are(stateful.get_states()[0][0], 0));
  stateful.set_states(3);
  stateful.forward(ones);
  EXPECT_TRUE(all_are(stateful.get_outputs()[0], 4));
  stateful.set_states({stateful.group()->device_outputs()[1]});
  stateful.forward(ones);
  EXPECT_TRUE(all_are(stateful.get_outputs()[0], 9));
  expect_error(
      ErrorKind::kValue, [&] { stateful.set_states(std::vector<DeviceArrays>{}); },
      "0 states were given, the module has 1");
}

TEST(Contract, S41) {
  const TemporaryFolder folder;
  const std::string prefix = folder / "net";
  const InitOptimizerOptions how = {
      .optimizer_params = {{"learning_rate", 0.5}, {"momentum", 0.9}}};
  const auto module = ready({}, how);
  const auto train = [](Module& m, std::uint64_t seed) {
    m.forward_backward(batch(8, seed));
    m.update();
  };
  for (std::uint64_t seed = 0; seed < 3; ++seed) train(*module, seed);
  {
    const CaptureLog log;
    module->save_checkpoint(prefix, 7, true);
    EXPECT_THAT(log.lines(),
                ElementsAre("Saved checkpoint to \"" + prefix + "-0007.params\"",
                            "Saved optimizer state to \"" + prefix + "-0007.states\""));
  }
  EXPECT_THAT(folder.files(), ElementsAre("net-0007.params", "net-0007.states", "net-symbol.json"));
  const auto again = Module::load(prefix, 7, true);
  EXPECT_TRUE(again->params_initialized());
  EXPECT_FALSE(again->binded() || again->optimizer_initialized());
  again->bind(data_shapes(), label_shapes());
  again->init_optimizer(how);
  EXPECT_EQ(numbers(again->get_params().args), numbers(module->get_params().args));
  train(*module, 9);
  train(*again, 9);
  EXPECT_EQ(numbers(again->get_params().args), numbers(module->get_params().args))
      << "the momentum continues";
  module->save_checkpoint(prefix, 8);
  EXPECT_THAT(folder.files(), testing::Not(testing::Contains("net-0008.states")));
}

TEST(Contract, S42) {
  const auto module = ready({.context = cpus(4)});
  const auto single = ready();
  module->forward_backward(batch());
  single->forward_backward(batch());
  std::vector<std::vector<Floats>> own;
  for (std::size_t p = 0; p < 4; ++p) {
    own.push_back(gradients(*module, p));
    ASSERT_EQ(own[p].size(), 4u);
    EXPECT_NE(own[p][0], own[p][1]) << "each device its own rows";
    const Floats whole = gradients(*single, p)[0];
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(own[p][0][i] + own[p][1][i] + own[p][2][i] + own[p][3][i], whole[i], 1e-5);
  }
  const auto before = numbers(module->get_params().args);
  module->update();
  const auto after = numbers(module->get_params().args);
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(gradients(*module, p), own[p]) << "the store leaves them where they are";
    const std::string& name = module->param_names()[p];
    expect_step(after.at(name), before.at(name), own[p], 0.5 / 8, name);
  }
}

}  // namespace
}  // namespace symbind
