#pragma once
// Trainings that have everything a checkpoint must keep: dropout, a shuffled order, rows that roll
// over, moving averages that differ by device, a scheduler, a metric that is reset on the way.

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <symbind/bucketing_module.h>
#include <symbind/random.h>
#include <symbind/sentences.h>
#include <symbind/sequential_module.h>

#include "base/files.h"
#include "base/sha256.h"
#include "module/nets.h"

namespace symbind {

namespace fs = std::filesystem;

/// A folder of this test's own, gone with the object.
struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "symbind-resume-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string prefix(const std::string& name = "model") const { return path + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(path))
      all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }
  std::string path;
};

inline std::string file_hash(const std::string& path) { return sha256(read_file(path)); }

/// fc – BatchNorm – relu – dropout – fc – softmax.
inline Symbol dropout_net() {
  Symbol net = FullyConnected("fc1", Variable("data"), {.num_hidden = 16});
  net = BatchNorm("bn", net, {.fix_gamma = false});
  net = Activation("relu1", net, {.act_type = "relu"});
  net = Dropout("drop", net, {.p = 0.4});
  net = FullyConnected("fc2", net, {.num_hidden = 3});
  return SoftmaxOutput("softmax", net);
}

/// Rows of (5,) with three classes, shuffled; 100 rows in batches of 8 leave four that roll over.
inline std::unique_ptr<NDArrayIter> shuffled_rows() {
  const DataBatch all = batch(100, 11);
  return std::make_unique<NDArrayIter>(
      all.data[0], all.label[0],
      NDArrayIterOptions{
          .batch_size = 8, .shuffle = true, .last_batch_handle = "roll_over", .seed = 5});
}

inline FitOptions dropout_fit(const std::string& optimizer, int epochs) {
  OptimizerParams params = {
      {"learning_rate", 0.1}, {"wd", 0.01}, {"lr_scheduler", FactorScheduler(7, 0.9)}};
  if (optimizer == "sgd") params.emplace("momentum", 0.9);
  if (optimizer == "lbsgd") params.emplace("batch_scale", 3);  // checkpoints within a sum
  return {.eval_metric = {"acc", "ce"},
          .batch_end_callback = Speedometer(8, 5),
          .optimizer = optimizer,
          .optimizer_params = params,
          .initializer = Xavier(),
          .num_epoch = epochs};
}

/// SHA-256 of the parameters and of the optimizer's states.
inline std::string hash_of(Module& module, const std::string& prefix) {
  module.save_params(prefix + ".p");
  module.save_optimizer_states(prefix + ".s");
  return file_hash(prefix + ".p") + " " + file_hash(prefix + ".s");
}

struct StopHere {};

}  // namespace symbind
