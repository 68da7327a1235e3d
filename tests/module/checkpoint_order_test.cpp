// The order of arrays in `.params`: MXNet's, so that the bytes of files are MXNet's too. The bytes
// are compared with files that MXNet 1.9.1 wrote (tools/oracle/mx_checkpoints.py); arguments by
// name would begin with bn1_beta.

#include <algorithm>
#include <fstream>
#include <iterator>

#include <symbind/sequential_module.h>

#include "support/golden.h"
#include "tests/module/nets.h"
#include "tests/module/recorded.h"

namespace symbind {
namespace {

const Names kOrder = {"arg:fc1_weight",    "arg:bn1_gamma", "arg:bn1_beta",
                      "arg:fc2_weight",    "arg:fc2_bias",  "aux:bn1_moving_mean",
                      "aux:bn1_moving_var"};

std::string prefix() { return golden::path_of("states/sgd-bn-name"); }

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string mxnets_bytes() { return bytes_of_file(checkpoint_path(prefix(), 5)); }

/// A module with MXNet's parameters that was not loaded from their file.
std::unique_ptr<Module> with_mxnets_params() {
  const Checkpoint saved = load_checkpoint(prefix(), 5);
  for (const recorded::Json& one : recorded::cases("states/cases.json")) {
    if (one.at("name") != "sgd-bn-name") continue;
    const Shape shape(one.at("data").get<std::vector<std::int64_t>>());
    auto module = std::make_unique<Module>(saved.symbol);
    module->bind({{"data", shape}}, Shapes{{"softmax_label", {shape[0]}}});
    module->init_params({.arg_params = saved.args, .aux_params = saved.aux});
    return module;
  }
  return nullptr;
}

TEST(GoldenCheckpointOrder, a_module_writes_mxnets_bytes) {
  const TemporaryFolder folder;
  const auto module = with_mxnets_params();
  ASSERT_EQ(mxnets_bytes().size(), 894u);
  module->save_checkpoint(folder / "net", 1);
  EXPECT_EQ(bytes_of_file(folder / "net-0001.params"), mxnets_bytes());
  module->save_params(folder / "alone.params");
  EXPECT_EQ(bytes_of_file(folder / "alone.params"), mxnets_bytes());
}

TEST(GoldenCheckpointOrder, parameters_by_name_are_written_in_the_symbols_order) {
  const TemporaryFolder folder;
  const Checkpoint saved = load_checkpoint(prefix(), 5);
  save_checkpoint(folder / "net", 1, saved.symbol, saved.args, saved.aux);
  EXPECT_EQ(bytes_of_file(folder / "net-0001.params"), mxnets_bytes());
}

TEST(GoldenCheckpointOrder, a_list_with_names_keeps_its_order) {
  const TemporaryFolder folder;
  save_in_order(folder / "list.params", load(checkpoint_path(prefix(), 5)));
  EXPECT_EQ(bytes_of_file(folder / "list.params"), mxnets_bytes());
}

TEST(CheckpointOrder, names_outside_the_symbol_follow_by_name) {
  const TemporaryFolder folder;
  const NDArrayMap args = {{"a", NDArray({1})},
                           {"fc1_bias", NDArray({4})},
                           {"fc1_weight", NDArray({4, 5})},
                           {"z", NDArray({1})}};
  save_checkpoint(folder / "net", 1, mlp(), args, {{"state", NDArray({1})}});
  EXPECT_EQ(load(folder / "net-0001.params").names,
            (Names{"arg:fc1_weight", "arg:fc1_bias", "arg:a", "arg:z", "aux:state"}));
}

TEST(CheckpointOrder, a_map_is_written_by_name) {
  const TemporaryFolder folder;
  save(folder / "map.params", NDArrayMap{{"b", NDArray({1})}, {"a", NDArray({1})}});
  EXPECT_EQ(load(folder / "map.params").names, (Names{"a", "b"}));
}

TEST(CheckpointOrder, a_chain_writes_its_modules_in_turn) {
  const TemporaryFolder folder;
  SequentialModule chain;
  chain
      .add(std::make_shared<Module>(FullyConnected("z", Variable("data"), {.num_hidden = 4}),
                                    ModuleOptions{.label_names = {}}))
      .add(std::make_shared<Module>(
               SoftmaxOutput("softmax", FullyConnected("a", Variable("in"), {.num_hidden = 3})),
               ModuleOptions{.data_names = {"in"}}),
           {.take_labels = true, .auto_wiring = true});
  chain.bind(data_shapes(), label_shapes());
  chain.init_params();
  chain.save_params(folder / "chain.params");
  EXPECT_EQ(load(folder / "chain.params").names,
            (Names{"arg:z_weight", "arg:z_bias", "arg:a_weight", "arg:a_bias"}));
}

TEST(CheckpointOrder, sets_of_fit_have_it_too) {
  const TemporaryFolder folder;
  const auto module = with_mxnets_params();
  const Shape shape = module->data_shapes().front().shape;
  NDArrayIter data(HostTensor::formula(shape, 1).array(), NDArray({shape[0]}),
                   {.batch_size = shape[0]});
  module->fit(data, {.num_epoch = 1, .checkpoint = CheckpointOptions{.prefix = folder / "net"}});
  EXPECT_EQ(load(folder / "net-0001.params").names, kOrder);
}

}  // namespace
}  // namespace symbind
