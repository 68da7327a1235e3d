// What saving costs a training: epochs of LeNet with a checkpoint each, written in the background,
// beside epochs without. Runs alternate; exit status 1 above the bar.
//
//   bench_checkpoint [PAIRS] [BATCHES]

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <symbind/symbind.h>

#include "support/report.h"

namespace symbind::bench {
namespace {

constexpr std::int64_t kBatch = 64;
constexpr int kEpochs = 2;

/// LeNet over the same images again and again.
struct Training {
  explicit Training(std::int64_t batches)
      : data(invoke("_random_uniform", {}, {}, {NDArray({kBatch * batches, 1, 28, 28})}).front(),
             NDArray::zeros({kBatch * batches}, cpu()),
             NDArrayIterOptions{.batch_size = kBatch, .shuffle = true}) {}

  /// Seconds of a few more epochs, with their checkpoints and the wait for the last of them.
  double run(const std::string& prefix) {
    FitOptions o{.optimizer_params = {{"learning_rate", 0.01}, {"momentum", 0.9}},
                 .begin_epoch = epoch,
                 .num_epoch = epoch + kEpochs};
    if (!prefix.empty()) o.checkpoint = CheckpointOptions{.prefix = prefix, .keep_last = 2};
    epoch += kEpochs;
    return time_once([&] { module.fit(data, o); });
  }

  Module module{models::lenet()};
  NDArrayIter data;
  int epoch = 0;
};

int run(int pairs, std::int64_t batches) {
  set_log_sink([](LogLevel, std::string_view) {});
  const auto folder = std::filesystem::temp_directory_path() / "bench_checkpoint";
  std::filesystem::create_directories(folder);
  // One module in turn: two of them lie differently in memory, which is more than the difference.
  Training training(batches);
  training.run("");
  const std::string prefix = (folder / "lenet").string();
  const Ratio ratio = compare(
      pairs, [&] { return training.run(prefix); }, [&] { return training.run(""); });
  Report report;
  report.note("epoch of LeNet, " + std::to_string(batches) + " batches of " +
              std::to_string(kBatch) + ": " + std::to_string(ratio.theirs / kEpochs) +
              " s, with a checkpoint " + std::to_string(ratio.ours / kEpochs) + " s");
  report.at_most("a checkpoint in the background, beside none", ratio.median, 1.01, "x");
  std::filesystem::remove_all(folder);
  return report.failed() ? 1 : 0;
}

}  // namespace
}  // namespace symbind::bench

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  const int batches = argc > 2 ? std::max(1, std::atoi(argv[2])) : 938;  // 60,000 images
  return symbind::bench::run(pairs, batches);
}
