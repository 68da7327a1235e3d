#pragma once
// A small network, batches of seeded numbers, and what tests of modules ask over and over.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <symbind/module.h>
#include <symbind/ops.h>

#include "support/host_tensor.h"

namespace symbind {

using Floats = std::vector<float>;
using Names = std::vector<std::string>;

/// fc1 – relu1 – fc2 – softmax.
inline Symbol mlp(int hidden = 4, int classes = 3) {
  Symbol net = FullyConnected("fc1", Variable("data"), {.num_hidden = hidden});
  net = Activation("relu1", net, {.act_type = "relu"});
  net = FullyConnected("fc2", net, {.num_hidden = classes});
  return SoftmaxOutput("softmax", net);
}

inline const Names kMlpArguments = {"data",       "fc1_weight", "fc1_bias",
                                    "fc2_weight", "fc2_bias",   "softmax_label"};

inline std::vector<Context> cpus(int n) {
  std::vector<Context> all;
  for (int i = 0; i < n; ++i) all.push_back(cpu(i));
  return all;
}

inline Shapes data_shapes(std::int64_t rows = 8) { return {{.name = "data", .shape = {rows, 5}}}; }
inline Shapes label_shapes(std::int64_t rows = 8) {
  return {{.name = "softmax_label", .shape = {rows}}};
}

inline DataBatch batch(std::int64_t rows = 8, std::uint64_t seed = 3) {
  DataBatch made;
  made.data = {HostTensor::formula({rows, 5}, seed).array()};
  Floats labels;
  for (std::int64_t i = 0; i < rows; ++i) labels.push_back(static_cast<float>((i + 1) % 3));
  made.label = {NDArray::from_vector(labels, {rows})};
  return made;
}

/// An MLP over data (8, 5), bound.
inline std::unique_ptr<Module> bound(const ModuleOptions& options = {},
                                     const ModuleBindOptions& how = {}) {
  auto module = std::make_unique<Module>(mlp(), options);
  module->bind(data_shapes(), label_shapes(), how);
  return module;
}

/// Parameters of the formula, the same on every run.
inline NDArrayMap seeded(const NDArrayMap& like, std::uint64_t seed = 1) {
  NDArrayMap made;
  for (const auto& [name, array] : like)
    made[name] = HostTensor::formula(array.shape(), seed++).array();
  return made;
}

/// The same, its parameters of the formula and with an optimizer.
inline std::unique_ptr<Module> ready(const ModuleOptions& options = {},
                                     const InitOptimizerOptions& how = {
                                         .optimizer_params = {{"learning_rate", 0.5}}}) {
  auto module = bound(options);
  module->init_params({.initializer = One()});
  const ModelParams params = module->get_params();
  module->set_params(seeded(params.args), {});
  module->init_optimizer(how);
  return module;
}

inline std::map<std::string, Floats> numbers(const NDArrayMap& arrays) {
  std::map<std::string, Floats> all;
  for (const auto& [name, array] : arrays) all[name] = array.to_vector<float>();
  return all;
}

inline bool all_are(const NDArray& array, float value) {
  for (const float v : array.to_vector<float>())
    if (v != value) return false;
  return true;
}

/// Runs `call`, which must throw an Error of this kind with all these parts in its text.
template <class F, class... Parts>
std::string expect_error(ErrorKind kind, F&& call, const Parts&... parts) {
  try {
    call();
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_EQ(e.kind(), kind) << text;
    for (const std::string& part : std::vector<std::string>{parts...})
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in:\n" << text;
    return text;
  }
  ADD_FAILURE() << "no error";
  return {};
}

/// A folder that is gone at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = testing::TempDir() + "module-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  Names files() const {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

 private:
  std::string path_;
};

}  // namespace symbind
