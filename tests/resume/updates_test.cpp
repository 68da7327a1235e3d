// The update policy is resumed too: accumulated batches and the EMA weights.
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include <symbind/symbind.h>

namespace symbind {
namespace {

struct Reached {
  std::vector<float> weight, average;
};

/// Two epochs of 7 batches, an update for every two; or what was reached before batch `stop_at`.
Reached train(const std::string& prefix, int stop_at, const std::string& resume) {
  seed(3);
  const NDArray rows({42, 4}), labels = NDArray::zeros({42});
  invoke("_random_normal", {}, {}, {rows});
  NDArrayIter data(rows, labels, {.batch_size = 6, .shuffle = true});
  Module module(SoftmaxOutput(
      "softmax",
      FullyConnected("fc", Dropout("drop", Variable("data"), {.p = 0.3}), {.num_hidden = 3})));
  module.fit(data, {.batch_end_callback =
                        [stop_at](const BatchEndParam& p) {
                          if (p.nbatch == stop_at) throw StopTraining("enough");
                        },
                    .optimizer_params = {{"learning_rate", 0.3}, {"momentum", 0.9}},
                    .initializer = Xavier(),
                    .num_epoch = 2,
                    .updates = {.accumulate = 2, .ema_decay = 0.9},
                    .checkpoint = CheckpointOptions{.prefix = prefix, .every_n_batches = 1},
                    .resume = resume});
  return {module.get_params().args.at("fc_weight").to_vector<float>(),
          module.get_ema_params().at("fc_weight").to_vector<float>()};
}

TEST(Resume, waiting_batches_and_the_average) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("symbind_resume_updates_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const Reached whole = train(folder / "whole", -1, "");
  const Reached before = train(folder / "cut", 5, "");  // one of five batches waits
  const Reached after = train(folder / "cut", -1, folder / "cut");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(after.weight, whole.weight);
  EXPECT_EQ(after.average, whole.average);
  EXPECT_NE(before.weight, whole.weight);
}

}  // namespace
}  // namespace symbind
