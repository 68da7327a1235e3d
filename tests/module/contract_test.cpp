// The behaviours S5 to S23 of docs/contract.md: names, devices, binding and memory of modules.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "module/nets.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Contract, S5) {
  const Symbol out = mlp(128, 10);
  EXPECT_EQ(out.str(), "<Symbol softmax>");
  const Module module(out);
  EXPECT_EQ(module.symbol().list_arguments(), kMlpArguments);
  EXPECT_EQ(module.output_names(), Names{"softmax_output"});
}

TEST(Contract, S6) {
  NDArrayIter train(NDArray::zeros({128, 3, 224, 224}), NDArray::zeros({128}), {.batch_size = 128});
  EXPECT_EQ(train.provide_data()[0].str(),
            "DataDesc[data,(128, 3, 224, 224),<class 'numpy.float32'>,NCHW]");
  EXPECT_EQ(train.provide_label()[0].str(),
            "DataDesc[softmax_label,(128,),<class 'numpy.float32'>,NCHW]");
  const Symbol pooled = Pooling("pool", Variable("data"),
                                {.kernel = {1, 1}, .pool_type = "avg", .global_pool = true});
  Module module(SoftmaxOutput("softmax", Flatten("flat", pooled)));
  module.bind(train.provide_data(), train.provide_label());
  EXPECT_EQ(module.data_shapes(), train.provide_data());
  EXPECT_EQ(module.label_shapes(), train.provide_label());
}

TEST(Contract, S7) {
  Module module(mlp(16, 1000), {.context = cpus(4)});
  module.bind({{.name = "data", .shape = {128, 12}}},
              Shapes{{.name = "softmax_label", .shape = {128}}});
  module.init_params({.initializer = Uniform(1)});
  const ExecutorGroup& group = *module.group();
  EXPECT_THAT(group.options().work_load, ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(group.execs().size(), 4u);
  const std::vector<BatchSlice> slices = {{0, 32}, {32, 64}, {64, 96}, {96, 128}};
  EXPECT_EQ(group.slices(), slices);
  DataBatch rows;
  rows.data = {HostTensor::formula({128, 12}, 7).array()};
  rows.label = {NDArray::zeros({128})};
  module.forward(rows, false);
  const std::vector<DeviceArrays> nested = group.device_outputs();
  ASSERT_EQ(nested.size(), 1u);
  for (int d = 0; d < 4; ++d) {
    EXPECT_EQ(nested[0][static_cast<std::size_t>(d)].shape(), Shape({32, 1000}));
    EXPECT_EQ(nested[0][static_cast<std::size_t>(d)].context(), cpu(d));
  }
  const HostTensor merged = HostTensor::from(module.get_outputs()[0]);
  EXPECT_EQ(merged.shape, Shape({128, 1000}));
  for (std::size_t r = 0; r < 128; ++r) {
    const auto begin = merged.values.begin() + static_cast<std::ptrdiff_t>(r * 1000);
    EXPECT_NEAR(std::accumulate(begin, begin + 1000, 0.0), 1, 1e-5);
  }
}

TEST(Contract, S8) {
  EXPECT_THAT(bound()->group()->options().work_load, ElementsAre(1));
  EXPECT_THAT(bound()->group()->contexts(), ElementsAre(cpu()));
  EXPECT_THAT(bound({.context = cpus(3)})->group()->options().work_load, ElementsAre(1, 1, 1));
  const auto uneven = bound({.context = cpus(2), .work_load_list = {1, 3}});
  const std::vector<BatchSlice> slices = {{0, 2}, {2, 8}};
  EXPECT_EQ(uneven->group()->slices(), slices);
  expect_error(
      ErrorKind::kState,
      [] {
        Module(mlp(), {.context = cpus(2), .work_load_list = {1, 1, 1}});
      },
      "3 work loads for 2 contexts");
}

TEST(Contract, S9) {
  EXPECT_EQ(Module(mlp()).param_names(),
            (Names{"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"}));
  EXPECT_EQ(Module(mlp(), {.label_names = {}, .state_names = {"fc1_bias"}}).param_names(),
            (Names{"fc1_weight", "fc2_weight", "fc2_bias", "softmax_label"}));
  EXPECT_EQ(Module(mlp(), {.data_names = {}, .label_names = {}}).param_names(), kMlpArguments);
}

TEST(Contract, S10) {
  const char* text = "input with name 'nowhere' is not found in symbol.list_arguments()";
  expect_error(
      ErrorKind::kName, [] { Module(mlp(), {.data_names = {"nowhere"}}); }, text);
  expect_error(
      ErrorKind::kName, [] { Module(mlp(), {.state_names = {"nowhere"}}); }, text);
  expect_error(
      ErrorKind::kName, [] { Module(mlp(), {.fixed_param_names = {"nowhere"}}); }, text);
  const CaptureLog log;
  const Module module(mlp(), {.label_names = {"nowhere"}});
  ASSERT_EQ(log.lines().size(), 1u);
  EXPECT_THAT(log.lines()[0], HasSubstr(text));
}

TEST(Contract, S11) {
  const Module module(mlp());
  EXPECT_EQ(module.group(), nullptr);
  EXPECT_EQ(module.optimizer(), nullptr);
  EXPECT_EQ(module.kvstore(), nullptr);
  EXPECT_EQ(module.updater(), nullptr);
  EXPECT_FALSE(module.update_on_kvstore() || module.params_dirty());
  EXPECT_FALSE(module.binded() || module.for_training() || module.inputs_need_grad() ||
               module.params_initialized() || module.optimizer_initialized());
}

using Reqs = std::map<std::string, std::string>;

Reqs reqs(const ModuleBindOptions& how) { return bound({}, how)->group()->grad_req(); }

TEST(Contract, S12) {
  EXPECT_EQ(reqs({.grad_req = "add"}), (Reqs{{"data", "null"},
                                             {"fc1_weight", "add"},
                                             {"fc1_bias", "add"},
                                             {"fc2_weight", "add"},
                                             {"fc2_bias", "add"},
                                             {"softmax_label", "null"}}));
  EXPECT_EQ(reqs({.inputs_need_grad = true}).at("data"), "write");
  const Names listed = {"null", "write", "add", "null", "write", "null"};
  const Reqs resolved = reqs({.grad_req = listed});
  for (std::size_t i = 0; i < listed.size(); ++i)
    EXPECT_EQ(resolved.at(kMlpArguments[i]), listed[i]);
  expect_error(
      ErrorKind::kState, [] { reqs({.grad_req = Names{"write"}}); },
      "1 grad_req entries for 6 arguments");
  EXPECT_EQ(reqs({.grad_req = Reqs{{"fc1_weight", "add"}, {"data", "write"}}}),
            (Reqs{{"data", "write"},
                  {"fc1_weight", "add"},
                  {"fc1_bias", "write"},
                  {"fc2_weight", "write"},
                  {"fc2_bias", "write"},
                  {"softmax_label", "null"}}));
  for (const auto& [name, req] : reqs({.for_training = false, .grad_req = listed}))
    EXPECT_EQ(req, "null") << name;
}

TEST(Contract, S13) {
  const auto module = ready({.fixed_param_names = {"fc1_weight", "fc2_bias"}});
  const auto& grads = module->group()->grad_arrays();
  EXPECT_FALSE(grads[0][0].defined());
  EXPECT_TRUE(grads[1][0].defined());
  EXPECT_TRUE(grads[2][0].defined());
  EXPECT_FALSE(grads[3][0].defined());
  const auto before = numbers(module->get_params().args);
  module->forward_backward(batch());
  module->update();
  const auto after = numbers(module->get_params().args);
  EXPECT_EQ(before.at("fc1_weight"), after.at("fc1_weight"));
  EXPECT_EQ(before.at("fc2_bias"), after.at("fc2_bias"));
  EXPECT_NE(before.at("fc2_weight"), after.at("fc2_weight"));
}

TEST(Contract, S14) {
  const auto module = ready({.context = cpus(2)});
  EXPECT_EQ(module->group()->shared_data_arrays().size(), 2u);
  Module other(mlp(), {.context = cpus(2)});
  other.bind(data_shapes(4), label_shapes(4), {.shared_module = module.get()});
  EXPECT_EQ(&other.group()->shared_data_arrays(), &module->group()->shared_data_arrays());
}

TEST(Contract, S15) {
  const auto module = bound({.context = cpus(2)});
  ExecutorGroup& group = *module->group();
  const Executor first = group.execs()[0];
  group.reshape(data_shapes(16), label_shapes(16));
  EXPECT_EQ(group.batch_size(), 16);
  EXPECT_EQ(group.slices(), (std::vector<BatchSlice>{{0, 8}, {8, 16}}));
  EXPECT_EQ(group.execs()[0].outputs()[0].shape(), Shape({8, 3}));
  EXPECT_EQ(first.outputs()[0].shape(), Shape({4, 3})) << "the first ones stay";
  EXPECT_TRUE(
      group.execs()[0].arg_dict().at("fc1_weight").aliases(first.arg_dict().at("fc1_weight")));
  Module wrong(mlp());
  expect_error(
      ErrorKind::kState, [&] { wrong.bind(data_shapes(8), label_shapes(6)); },
      "all data must have the same batch size", "batch_size = 8", "softmax_label has shape (6,)");
  EXPECT_FALSE(wrong.binded());
}

TEST(Contract, S16) {
  Symbol net = BatchNorm("bn", Variable("data"));
  net = SoftmaxOutput("softmax", FullyConnected("fc", net, {.num_hidden = 3}));
  net = net.with_attr("__layout__", "NC");
  const ExecutorGroup group(net, cpus(2),
                            {.data_shapes = data_shapes(),
                             .label_shapes = label_shapes(),
                             .param_names = {"bn_gamma", "bn_beta", "fc_weight", "fc_bias"},
                             .inputs_need_grad = true});
  const std::vector<BatchSlice> rows = {{0, 4}, {4, 8}};
  for (std::size_t d = 0; d < 2; ++d) {
    EXPECT_EQ(group.data_arrays()[0][d].rows, rows[d]);
    EXPECT_EQ(group.data_arrays()[0][d].array.shape(), Shape({4, 5}));
    EXPECT_EQ(group.label_arrays()[0][d].rows, rows[d]);
    EXPECT_EQ(group.label_arrays()[0][d].array.shape(), Shape({4}));
    const std::vector<Shape> shapes = {{5}, {5}, {3, 5}, {3}};
    for (std::size_t p = 0; p < shapes.size(); ++p) {
      EXPECT_EQ(group.param_arrays()[p][d].shape(), shapes[p]);
      EXPECT_EQ(group.grad_arrays()[p][d].shape(), shapes[p]);
      EXPECT_EQ(group.param_arrays()[p][d].context(), cpu(static_cast<int>(d)));
    }
    EXPECT_EQ(group.aux_arrays()[0][d].shape(), Shape({5}));
    EXPECT_EQ(group.aux_arrays()[1][d].shape(), Shape({5}));
    EXPECT_EQ(group.input_grad_arrays()[0][d].shape(), Shape({4, 5}));
  }
  EXPECT_TRUE(group.state_arrays().empty());
  EXPECT_THAT(group.output_layouts(), ElementsAre(0));
  EXPECT_TRUE(bound({}, {.for_training = false})->group()->grad_arrays().empty());
  EXPECT_TRUE(bound()->group()->input_grad_arrays().empty());
}

TEST(Contract, S17) {
  Symbol net = FullyConnected("fc", BatchNorm("bn", Variable("data")), {.num_hidden = 3});
  Module module(SoftmaxOutput("softmax", net));
  module.bind(data_shapes(), label_shapes());
  module.init_params({.initializer = One()});
  const ModelParams params = module.get_params();
  Names args, aux;
  for (const auto& [name, array] : params.args) args.push_back(name);
  for (const auto& [name, array] : params.aux) aux.push_back(name);
  EXPECT_THAT(args, ElementsAre("bn_beta", "bn_gamma", "fc_bias", "fc_weight"));
  EXPECT_THAT(aux, ElementsAre("bn_moving_mean", "bn_moving_var"));
  const NDArrayMap bound_args = module.group()->execs()[0].arg_dict();
  EXPECT_TRUE(bound_args.contains("data") && bound_args.contains("softmax_label"));
  for (const auto& [name, array] : params.args)
    EXPECT_FALSE(array.aliases(bound_args.at(name))) << name;
}

TEST(Contract, S18) {
  const auto module = bound({.context = cpus(2)});
  const ExecutorGroup& group = *module->group();
  std::vector<NDArray> arrays;
  for (const auto* rows : {&group.data_arrays(), &group.label_arrays()})
    for (const SlicedArray& a : rows->front()) arrays.push_back(a.array);
  for (const auto* rows : {&group.param_arrays(), &group.grad_arrays()})
    for (const DeviceArrays& row : *rows) arrays.insert(arrays.end(), row.begin(), row.end());
  EXPECT_EQ(arrays.size(), 4u + 16u);
  for (const NDArray& a : arrays) EXPECT_TRUE(all_are(a, 0));
  NDArray given({1, 2, 3, 4}, {4});
  module->init_params({.initializer = Xavier(),
                       .arg_params = NDArrayMap{{"fc1_bias", given}},
                       .allow_missing = true});
  given.set(0.0);
  for (const NDArray& a : group.param_arrays()[0]) EXPECT_FALSE(all_are(a, 0));
  for (const NDArray& a : group.param_arrays()[1])
    EXPECT_EQ(a.to_vector<float>(), (Floats{1, 2, 3, 4})) << "it was copied";
}

TEST(Contract, S19) {
  const auto module = bound({.context = cpus(4)});
  const ExecutorGroup& group = *module->group();
  ASSERT_EQ(group.grad_arrays().size(), group.param_arrays().size());
  for (std::size_t p = 0; p < group.grad_arrays().size(); ++p) {
    ASSERT_EQ(group.grad_arrays()[p].size(), 4u);
    for (std::size_t d = 0; d < 4; ++d) {
      EXPECT_EQ(group.grad_arrays()[p][d].shape(), group.param_arrays()[p][d].shape());
      EXPECT_EQ(group.grad_arrays()[p][d].context(), cpu(static_cast<int>(d)));
    }
  }
}

TEST(Contract, S20) {
  const auto module = ready({.context = cpus(2)});
  const ExecutorGroup& group = *module->group();
  const std::vector<DeviceArrays> held = group.grad_arrays();
  EXPECT_TRUE(all_are(held[2][1], 0));
  module->forward_backward(batch());
  for (std::size_t p = 0; p < held.size(); ++p) {
    for (std::size_t d = 0; d < 2; ++d) {
      EXPECT_FALSE(all_are(held[p][d], 0));
      const NDArrayMap grads = group.execs()[d].grad_dict();
      EXPECT_TRUE(held[p][d].aliases(grads.at(group.options().param_names[p])));
    }
  }
}

TEST(Contract, S21) {
  const auto module = bound();
  ExecutorGroup* group = module->group();
  {
    const CaptureLog log;
    module->bind(data_shapes(2), label_shapes(2));
    EXPECT_THAT(log.lines(), ElementsAre("Already bound, ignoring bind()"));
  }
  EXPECT_EQ(module->group(), group);
  EXPECT_EQ(module->data_shapes(), data_shapes());
  module->bind(data_shapes(2), label_shapes(2), {.force_rebind = true});  // no parameters yet
  EXPECT_EQ(module->data_shapes(), data_shapes(2));
  module->init_params({.initializer = Uniform(1)});
  const auto before = numbers(module->get_params().args);
  module->bind(data_shapes(), label_shapes(), {.force_rebind = true});
  EXPECT_EQ(numbers(module->get_params().args), before);
  Module fresh(mlp());
  expect_error(
      ErrorKind::kState,
      [&] {
        fresh.bind(data_shapes(), label_shapes(),
                   {.for_training = false, .inputs_need_grad = true});
      },
      "inputs_need_grad", "for_training");
  EXPECT_FALSE(fresh.binded());
  fresh.bind(data_shapes());
  EXPECT_TRUE(fresh.binded() && fresh.for_training());
  EXPECT_TRUE(fresh.label_shapes().empty());
}

TEST(Contract, S22) {
  const auto lender = bound();
  Module taker(mlp());
  const auto share = [](Module& m, const Module& from) {
    m.bind(data_shapes(4), label_shapes(4), {.shared_module = &from});
  };
  expect_error(
      ErrorKind::kState, [&] { share(taker, *lender); }, "shared_module", "parameters initialised");
  const Module unbound(mlp());
  expect_error(
      ErrorKind::kState, [&] { share(taker, unbound); }, "shared_module", "bound");
  EXPECT_FALSE(taker.binded());
  lender->init_params({.initializer = Uniform(1)});
  share(taker, *lender);
  EXPECT_TRUE(taker.params_initialized());
  EXPECT_FALSE(taker.optimizer_initialized());
  EXPECT_TRUE(
      taker.get_params().args.at("fc1_bias").aliases(lender->get_params().args.at("fc1_bias")));
  lender->init_optimizer({.optimizer_params = {{"learning_rate", 0.5}}});
  Module other(mlp());
  share(other, *lender);
  EXPECT_TRUE(other.optimizer_initialized());
  EXPECT_EQ(other.optimizer(), lender->optimizer());
  EXPECT_EQ(other.updater(), lender->updater());
  const auto before = numbers(lender->get_params().args);
  other.forward_backward(batch(4));
  other.update();
  EXPECT_NE(numbers(lender->get_params().args), before) << "one set of weights";
}

TEST(Contract, S23) {
  const auto module = ready();
  module->forward_backward(batch());
  module->update();
  const NDArrayMap before = module->group()->execs()[0].arg_dict();
  NDArrayMap learned;
  for (const std::string& name : module->param_names()) learned[name] = before.at(name);
  const auto trained = numbers(learned);
  module->bind(data_shapes(2), {}, {.for_training = false, .force_rebind = true});
  const NDArrayMap args = module->group()->execs()[0].arg_dict();
  for (const auto& [name, values] : trained)
    EXPECT_EQ(args.at(name).to_vector<float>(), values) << name;
  const Symbol half =
      FullyConnected("fc", Variable("data", {.dtype = DType::kFloat16}), {.num_hidden = 3});
  Module typed(half, {.label_names = {}});
  typed.bind({{.name = "data", .shape = {8, 5}, .dtype = DType::kFloat16}});
  typed.init_params({.initializer = nullptr});
  const NDArray weight = typed.get_params().args.at("fc_weight");
  EXPECT_EQ(weight.dtype(), DType::kFloat16);
  EXPECT_EQ(weight.shape(), Shape({3, 5}));
  EXPECT_TRUE(all_are(weight, 0));
}

}  // namespace
}  // namespace symbind
