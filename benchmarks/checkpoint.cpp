// Measures what saving adds to LeNet's training over 60,000 images: a checkpoint at the end of each
// epoch, written in the background, compared with none. Exit status 1 if it misses the target.
//
// Two runs of the same full epoch differ by more than a checkpoint takes. So short epochs with and
// without a checkpoint alternate. The difference, including the wait for the last byte, is divided
// by the time of a full epoch.
//
//   bench_checkpoint [PAIRS]

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <symbind/symbind.h>

#include "support/report.h"

namespace symbind::bench {
namespace {

constexpr std::int64_t kBatch = 64, kBatches = 938, kShort = 40;

/// Trains LeNet over the same images repeatedly, a few batches per short epoch.
struct Training {
  /// Seconds of one more short epoch, with its checkpoint if there is a prefix.
  double run(const std::string& prefix) {
    FitOptions o{.optimizer_params = {{"learning_rate", 0.01}, {"momentum", 0.9}},
                 .begin_epoch = epoch,
                 .num_epoch = epoch + 1};
    if (!prefix.empty()) o.checkpoint = CheckpointOptions{.prefix = prefix, .keep_last = 2};
    ++epoch;
    return time_once([&] { module.fit(data, o); });
  }

  Module module{models::lenet()};
  ResizeIter data{
      std::make_shared<NDArrayIter>(
          invoke("_random_uniform", {}, {}, {NDArray({kBatch * kBatches, 1, 28, 28})}).front(),
          NDArray::zeros({kBatch * kBatches}, cpu()),
          NDArrayIterOptions{.batch_size = kBatch, .shuffle = true}),
      kShort, false};
  int epoch = 0;
};

int run(int pairs) {
  set_log_sink([](LogLevel, std::string_view) {});
  const auto folder = std::filesystem::temp_directory_path() / "bench_checkpoint";
  std::filesystem::create_directories(folder);
  // One module for both: two modules differ by their memory layout more than by the checkpoint.
  Training training;
  training.run("");
  const std::string prefix = (folder / "lenet").string();
  const Ratio ratio = compare(
      pairs, [&] { return training.run(prefix); }, [&] { return training.run(""); });
  const double epoch = ratio.theirs * kBatches / kShort;
  const double added = (ratio.median - 1) * ratio.theirs;
  Report report;
  report.note("an epoch of LeNet: " + std::to_string(epoch) + " s; a checkpoint adds " +
              std::to_string(added * 1e3) + " ms");
  report.at_most("epoch with a background checkpoint / without", 1 + added / epoch, 1.01, "x");
  std::filesystem::remove_all(folder);
  return report.failed() ? 1 : 0;
}

}  // namespace
}  // namespace symbind::bench

int main(int argc, char** argv) {
  return symbind::bench::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 40);
}
