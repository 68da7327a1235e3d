// Training resumes from checkpoints with `.states` that MXNet 1.9.1 wrote (tools/oracle/
// mx_checkpoints.py); after five steps parameters and states equal MXNet's. The same holds after
// Symbind wrote the files again.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "tests/module/recorded.h"
#include "tests/support/golden.h"

namespace symbind {
namespace {

namespace fs = std::filesystem;
using recorded::Json;

constexpr int kSaved = 5;

void init_optimizer(Module& module, const Json& one) {
  OptimizerParams params = recorded::optimizer_params(one.at("optimizer_params"));
  if (one.at("schedule").get<bool>()) {
    params.emplace(
        "lr_scheduler",
        FactorScheduler(3, 0.5, 1e-8, {.base_lr = one["optimizer_params"]["learning_rate"]}));
  }
  setenv("MXNET_UPDATE_ON_KVSTORE", one.at("on_store").get<bool>() ? "1" : "0", 1);
  module.init_optimizer({.kvstore = one.at("kvstore").get<std::string>(),
                         .optimizer = one.at("optimizer").get<std::string>(),
                         .optimizer_params = params});
  unsetenv("MXNET_UPDATE_ON_KVSTORE");
}

std::unique_ptr<Module> taken_up(const Json& one, const std::string& folder) {
  auto module = Module::load(folder + "/" + one.at("name").get<std::string>(), kSaved, true,
                             {.context = recorded::contexts(one)});
  const Shape shape(one.at("data").get<std::vector<std::int64_t>>());
  module->bind({{"data", shape}}, Shapes{{"softmax_label", {shape[0]}}});
  init_optimizer(*module, one);
  return module;
}

void flatten(const std::string& name, const OptimizerState& state, NDArrayMap& into, int& count) {
  if (state.is_array()) into[name + std::to_string(count++)] = state.array();
  if (!state.is_sequence()) return;
  for (const OptimizerState& part : state.parts()) flatten(name, part, into, count);
}

NDArrayMap all_of(Module& module) {
  NDArrayMap all;
  const ModelParams params = module.get_params();
  for (const NDArrayMap* part : {&params.args, &params.aux})
    for (const auto& [name, array] : *part) all["param/" + name] = array;
  for (const auto& [key, state] : module.updater()->states()) {
    const auto* name = std::get_if<std::string>(&key);
    int count = 0;
    flatten("state/" + (name ? *name : std::to_string(std::get<std::int64_t>(key))) + "/", state,
            all, count);
  }
  return all;
}

void expect_goes_on(Module& module, const Json& one, bool fused) {
  const MetricPtr metric = Accuracy();
  for (std::size_t step = 0; step < one.at("labels").size(); ++step) {
    const DataBatch batch = recorded::batch(one, step);
    if (fused) {
      module.step(batch, *metric);
    } else {
      module.forward_backward(batch);
      module.update();
    }
  }
  const NDArrayMap found = all_of(module);
  const NamedArrays wanted =
      load(golden::path_of("states/continued/" + one.at("name").get<std::string>() + ".params"));
  EXPECT_EQ(found.size(), wanted.names.size());
  for (std::size_t i = 0; i < wanted.names.size(); ++i) {
    ASSERT_TRUE(found.contains(wanted.names[i])) << wanted.names[i];
    const NDArray& mine = found.at(wanted.names[i]);
    EXPECT_EQ(mine.dtype(), wanted.arrays[i].dtype()) << wanted.names[i];
    const double tolerance = mine.dtype() == DType::kFloat16 ? 1e-3 : 1e-5;
    EXPECT_TRUE(near(HostTensor::from(mine), HostTensor::from(wanted.arrays[i]), {tolerance, 0}))
        << wanted.names[i];
  }
}

[[maybe_unused]] const bool kTakenUp =
    recorded::add_tests("GoldenCheckpoint", "states/cases.json", [](const Json& one) {
      for (const bool fused : {false, true})
        expect_goes_on(*taken_up(one, golden::path_of("states")), one, fused);
    });

// A store keeps its weights; update counts continue unless an optimizer in the file sets them.
bool can_load_later(const Json& one) {
  const bool on_store = one.at("devices") > 1 && one.at("on_store").get<bool>();
  return !on_store && (one.at("optimizer") == "sgd" || one.at("dump").get<bool>());
}

// States loaded into a module that is training: the step wired over the old ones is not run.
[[maybe_unused]] const bool kLoadedLater = recorded::add_tests(
    "GoldenCheckpointLater", "states/cases.json",
    [](const Json& one) {
      const std::string prefix = golden::path_of("states/" + one.at("name").get<std::string>());
      const auto module = taken_up(one, golden::path_of("states"));
      const MetricPtr metric = Accuracy();
      for (std::size_t step = 0; step < 2; ++step)
        module->step(recorded::batch(one, step), *metric);
      const Checkpoint before = load_checkpoint(prefix, kSaved);
      module->load_optimizer_states(checkpoint_path(prefix, kSaved, "states"));
      module->set_params(before.args, before.aux);
      expect_goes_on(*module, one, true);
    },
    can_load_later);

[[maybe_unused]] const bool kWrittenAgain =
    recorded::add_tests("GoldenCheckpointAgain", "states/cases.json", [](const Json& one) {
      const fs::path folder =
          fs::temp_directory_path() / ("symbind_again_" + std::to_string(getpid()));
      fs::create_directories(folder);
      const std::string prefix = folder / one.at("name").get<std::string>();
      const auto first = taken_up(one, golden::path_of("states"));
      first->save_checkpoint(prefix, kSaved, true);
      const auto bytes = [&](const std::string& of) {
        std::ifstream file(checkpoint_path(of, kSaved), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
      };
      const std::string params = bytes(prefix);
      EXPECT_GT(params.size(), 100u);
      EXPECT_EQ(params, bytes(golden::path_of("states/" + one.at("name").get<std::string>())));
      if (one.at("dump").get<bool>())
        write_file(checkpoint_path(prefix, kSaved, "states"), first->updater()->get_states(true));
      expect_goes_on(*taken_up(one, folder), one, false);
      fs::remove_all(folder);
    });

}  // namespace
}  // namespace symbind
