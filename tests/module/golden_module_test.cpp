// Modules train as MXNet 1.9.1 trained them (tools/oracle/record_module.py): every case by separate
// calls and by `step`, with the same results.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include <gtest/gtest.h>

#include <unistd.h>

#include <symbind/bucketing_module.h>
#include <symbind/executor.h>
#include <symbind/lr_scheduler.h>
#include <symbind/sequential_module.h>

#include "tests/module/recorded.h"
#include "tests/support/capture_log.h"
#include "tests/support/host_tensor.h"

namespace symbind {
namespace {

using recorded::Json;

GradReqArg grad_req(const Json& given) {
  if (given.is_string()) return given.get<std::string>();
  return given.get<std::map<std::string, std::string>>();
}

NDArrayMap gradients(const Module& module) {
  NDArrayMap named;
  const auto& arrays = module.group()->grad_arrays();
  for (std::size_t i = 0; i < arrays.size(); ++i)
    if (arrays[i].front().defined()) named[module.param_names()[i]] = arrays[i].front();
  return named;
}

std::unique_ptr<Module> make_module(const Json& one) {
  auto module = std::make_unique<Module>(
      recorded::symbol(one.at("net")),
      ModuleOptions{.context = recorded::contexts(one),
                    .work_load_list = one.at("work_load").is_null()
                                          ? std::vector<double>{}
                                          : one.at("work_load").get<std::vector<double>>(),
                    .fixed_param_names = one.at("fixed").get<std::vector<std::string>>(),
                    .compression_params = one.value("compression", AttrDict{})});
  const Shape shape(one.at("data").get<std::vector<std::int64_t>>());
  module->bind({{"data", shape}}, Shapes{{"softmax_label", {shape[0]}}},
               {.grad_req = grad_req(one.at("grad_req"))});
  module->init_params(
      {.arg_params = recorded::first(one, "params"), .aux_params = recorded::first(one, "aux")});
  setenv("MXNET_UPDATE_ON_KVSTORE", one.at("on_store").get<bool>() ? "1" : "0", 1);
  module->init_optimizer(
      {.kvstore = one.at("kvstore").is_null() ? StoreArg(nullptr)
                                              : StoreArg(one.at("kvstore").get<std::string>()),
       .optimizer = one.at("optimizer").get<std::string>(),
       .optimizer_params = recorded::optimizer_params(one.at("optimizer_params"))});
  unsetenv("MXNET_UPDATE_ON_KVSTORE");
  return module;
}

void train(const Json& one, bool fused) {
  SCOPED_TRACE(fused ? "by step" : "by verbs");
  const std::unique_ptr<Module> module = make_module(one);
  const MetricPtr metric = MetricArg{"acc", "ce"}.metric();
  const double tolerance = one.at("tolerance");
  const Json& seen = one.at("seen");
  for (std::size_t step = 0; step < one.at("steps"); ++step) {
    const DataBatch batch = recorded::batch(one, step);
    if (fused) {
      module->step(batch, *metric);
    } else {
      module->forward_backward(batch);
      module->update();
      module->update_metric(*metric, batch.label);
    }
    if (step > 0) continue;
    recorded::expect_near(recorded::outputs(*module), seen[0].at("outputs"), tolerance, "output");
    recorded::expect_near(gradients(*module), seen[0].at("grads"), tolerance, "gradient");
  }
  const ModelParams params = module->get_params();
  recorded::expect_near(recorded::outputs(*module), seen[1].at("outputs"), tolerance, "output");
  recorded::expect_near(params.args, seen[1].at("params"), tolerance, "parameter");
  if (seen[1].contains("aux"))
    recorded::expect_near(params.aux, seen[1].at("aux"), tolerance, "state");
  const std::vector<NameValue> values = metric->get_global();
  ASSERT_EQ(values.size(), one.at("metrics").size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i].second, one.at("metrics")[i].get<double>(), 1e-4) << values[i].first;
}

[[maybe_unused]] const bool kModules =
    recorded::add_tests("GoldenModule", "module/modules.json", [](const Json& one) {
      train(one, false);
      train(one, true);
    });

// ---- buckets

void train_buckets(const Json& one, bool fused) {
  SCOPED_TRACE(fused ? "by step" : "by verbs");
  BucketingModule module(
      [](std::int64_t key) {
        return BucketNetwork{.symbol = recorded::symbol("lstm-" + std::to_string(key))};
      },
      6,
      {.context = recorded::contexts(one),
       .compression_params = one.value("compression", AttrDict{})});
  const Shape shape(one.at("data").get<std::vector<std::int64_t>>());
  module.bind({{"data", shape}}, Shapes{{"softmax_label", shape}},
              {.grad_req = grad_req(one.at("grad_req"))});
  module.init_params({.arg_params = recorded::first(one, "params")});
  module.init_optimizer(
      {.kvstore = one.at("kvstore").get<std::string>(),
       .optimizer = one.at("optimizer").get<std::string>(),
       .optimizer_params = recorded::optimizer_params(one.at("optimizer_params"))});
  const MetricPtr metric = Accuracy();
  const Json& seen = one.at("seen");
  for (std::size_t step = 0; step < one.at("steps"); ++step) {
    const Json& given = one.at("batches")[step];
    DataBatch batch;
    batch.data = {recorded::array(given.at("data"))};
    batch.label = {recorded::array(given.at("label"))};
    batch.bucket_key = one.at("order")[step].get<std::int64_t>();
    batch.provide_data = {{"data", batch.data[0].shape()}};
    batch.provide_label = {{"softmax_label", batch.label[0].shape()}};
    if (fused) {
      module.step(batch, *metric);
    } else {
      module.forward_backward(batch);
      module.update();
    }
    recorded::expect_near(recorded::outputs(module), seen[step].at("outputs"), 1e-4, "output");
  }
  recorded::expect_near(module.get_params().args, seen.back().at("params"), 1e-4, "parameter");
}

[[maybe_unused]] const bool kBuckets =
    recorded::add_tests("GoldenBuckets", "module/buckets.json", [](const Json& one) {
      train_buckets(one, false);
      train_buckets(one, true);
    });

// ---- chains

[[maybe_unused]] const bool kChains =
    recorded::add_tests("GoldenChain", "module/chains.json", [](const Json& one) {
      const bool two = one.at("name") == "two modules";
      SequentialModule chain;
      chain.add(
          std::make_shared<Module>(recorded::symbol("features"), ModuleOptions{.label_names = {}}));
      ModuleOptions last{.data_names = {"features"}};
      if (!two) last.label_names = {};
      chain.add(std::make_shared<Module>(recorded::symbol(two ? "classes" : "scores"), last),
                {.take_labels = two, .auto_wiring = true});
      if (!two) {
        chain.add(std::make_shared<FunctionLossModule>(
                      [](const NDArray& scores, const NDArray& labels) { return scores - labels; }),
                  {.take_labels = true, .auto_wiring = true});
      }
      chain.bind({{"data", {12, 6}}}, Shapes{{"softmax_label", two ? Shape{12} : Shape{12, 4}}});
      chain.init_params({.arg_params = recorded::first(one, "params")});
      chain.init_optimizer(
          {.optimizer_params = recorded::optimizer_params(one.at("optimizer_params"))});
      const Json& seen = one.at("seen");
      for (std::size_t step = 0; step < one.at("steps"); ++step) {
        DataBatch batch;
        batch.data = {recorded::array(one.at("batches")[step].at("data"))};
        batch.label = {recorded::array(one.at("batches")[step].at("label"))};
        chain.forward_backward(batch);
        chain.update();
        recorded::expect_near(recorded::outputs(chain), seen[step].at("outputs"), 1e-4, "output");
      }
      recorded::expect_near(chain.get_params().args, seen.back().at("params"), 1e-4, "parameter");
    });

// ---- states

std::vector<NDArray> here(const DeviceArrays& arrays) {
  std::vector<NDArray> all;
  for (const NDArray& array : arrays) all.push_back(array.as_in_context(cpu()));
  return all;
}

NDArrayMap joined(const std::vector<std::string>& names, const std::vector<DeviceArrays>& states) {
  NDArrayMap all;
  for (std::size_t i = 0; i < names.size(); ++i)
    all[names[i]] = invoke("Concat", here(states[i]), {{"dim", "0"}}).front();
  return all;
}

[[maybe_unused]] const bool kStates =
    recorded::add_tests("GoldenStates", "module/states.json", [](const Json& one) {
      const auto names = one.at("names").get<std::vector<std::string>>();
      Module module(recorded::symbol("states"),
                    {.label_names = {}, .context = recorded::contexts(one), .state_names = names});
      module.bind({{"data", Shape(one.at("data").get<std::vector<std::int64_t>>())}}, {},
                  {.for_training = false});
      module.init_params({.arg_params = recorded::first(one, "params")});
      module.set_states(1);
      for (std::size_t step = 0; step < one.at("steps"); ++step) {
        const Json& seen = one.at("seen")[step];
        module.forward(recorded::batch(one, step));
        NDArrayMap outputs;
        for (const NDArray& output : module.get_outputs())
          outputs["output" + std::to_string(outputs.size())] = output;
        recorded::expect_near(outputs, seen.at("outputs"), 1e-4, "output");
        std::vector<DeviceArrays> next = module.group()->device_outputs();
        next.erase(next.begin());
        module.set_states(next);
        recorded::expect_near(joined(names, module.get_states()), seen.at("states"), 1e-4, "state");
      }
    });

// ---- a whole fit, as its log tells it

std::string masked(const std::string& line) {
  static const std::regex kSpeed("Speed: [0-9.inf]+ samples"), kTime("Time cost=[0-9.]+");
  return std::regex_replace(std::regex_replace(line, kSpeed, "Speed: * samples"), kTime,
                            "Time cost=*");
}

NDArrayIter rows_of(const Json& one, std::int64_t begin, std::int64_t end) {
  const NDArray data =
      HostTensor::formula({135, 6}, one.at("data_seed").get<std::uint64_t>()).array();
  const NDArray label = HostTensor({135}, one.at("labels").get<std::vector<double>>()).array();
  return NDArrayIter(data.slice(begin, end), label.slice(begin, end), {.batch_size = 10});
}

// As kinds.fit_options of tests/python/module_kinds.py.
FitOptions fit_options(const Json& one, Module& module) {
  FitOptions o;
  if (!one.at("more").get<bool>()) {
    o.eval_metric = {"acc", "ce"};
    o.num_epoch = 3;
    o.batch_end_callback = Speedometer(10, 3);
    o.epoch_end_callback = do_checkpoint("run");
    o.eval_end_callback = LogValidationMetricsCallback();
    return o;
  }
  o.eval_metric = "acc";
  o.validation_metric = MetricArg{"ce", "rmse"};
  o.begin_epoch = 1;
  o.num_epoch = 5;
  o.batch_end_callback = {Speedometer(10, 4, false), log_train_metric(5)};
  o.epoch_end_callback = [&module](int epoch, const Symbol&, const NDArrayMap&, const NDArrayMap&) {
    if ((epoch + 1) % 2 == 0) module.save_checkpoint("run", epoch + 1, true);
  };
  o.eval_batch_end_callback = Speedometer(10, 2);
  return o;
}

void fit(const Json& one, DataIter& train, DataIter& val, Module& module) {
  FitOptions o = fit_options(one, module);
  o.eval_data = &val;
  o.optimizer = one.at("optimizer").get<std::string>();
  o.optimizer_params = recorded::optimizer_params(one.at("optimizer_params"));
  o.optimizer_params.emplace(
      "lr_scheduler", FactorScheduler(one.at("step"), one.at("factor"), 1e-8,
                                      {.base_lr = one.at("optimizer_params").at("learning_rate")}));
  o.arg_params = recorded::first(one, "params");
  module.fit(train, o);
}

std::vector<std::string> files_here() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("."))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

// To the byte but for the last printed digit of a metric, which another CPU may round otherwise.
void expect_same_log(const std::vector<std::string>& lines,
                     const std::vector<std::string>& recorded) {
  static const std::regex number(R"([0-9]+\.[0-9]{6}\b)");
  ASSERT_EQ(lines.size(), recorded.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(std::regex_replace(lines[i], number, "#"),
              std::regex_replace(recorded[i], number, "#"));
    std::sregex_iterator a(lines[i].begin(), lines[i].end(), number), end;
    for (std::sregex_iterator b(recorded[i].begin(), recorded[i].end(), number);
         a != end && b != end; ++a, ++b)
      EXPECT_NEAR(std::stod(a->str()), std::stod(b->str()), 1.5e-6) << lines[i];
  }
}

[[maybe_unused]] const bool kFit =
    recorded::add_tests("GoldenFit", "module/fit.json", [](const Json& one) {
      namespace fs = std::filesystem;
      const fs::path home = fs::current_path();
      const fs::path folder =
          fs::temp_directory_path() / ("symbind_fit_" + std::to_string(getpid()));
      fs::create_directories(folder);
      fs::current_path(folder);
      Module module(recorded::symbol("mlp"), {.context = recorded::contexts(one)});
      NDArrayIter train = rows_of(one, 0, 100), val = rows_of(one, 100, 135);
      std::vector<std::string> lines;
      set_log_sink([&](LogLevel level, std::string_view line) {
        lines.push_back((level == LogLevel::kWarning ? "WARNING " : "INFO ") +
                        masked(std::string(line)));
      });
      fit(one, train, val, module);
      set_log_sink({});
      const std::vector<std::string> files = files_here();
      fs::current_path(home);
      fs::remove_all(folder);
      EXPECT_EQ(files, one.at("files").get<std::vector<std::string>>());
      expect_same_log(lines, one.at("lines").get<std::vector<std::string>>());
      recorded::expect_near(module.get_params().args, one.at("seen"), 1e-4, "parameter");
    });

}  // namespace
}  // namespace symbind
