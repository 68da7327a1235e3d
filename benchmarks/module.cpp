// Checks Module's performance targets (fit, several devices, buckets, saving); exits 1 on a miss.
//
//   bench_module [--serve N]
//
// Ratios come from runs that alternate. With --serve it answers each line of standard input with
// the seconds of one fit over N batches of the MLP: the C++ side of benchmarks/python/fit.py.

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <symbind/symbind.h>

#include "base/parallel.h"
#include "ndarray/storage.h"
#include "support/nets.h"
#include "support/report.h"

namespace symbind::bench {
namespace {

namespace fs = std::filesystem;

const OptimizerParams kSgd = {{"learning_rate", 1e-4}, {"momentum", 0.9}};

/// A module with random parameters and random data, and a bare loop that does only the computation.
struct Training {
  Module module;
  NDArrayIter data;
  std::int64_t batch;

  Training(const Symbol& net, const Shape& shape, std::int64_t batches,
           const std::vector<Context>& context = {cpu()})
      : module(net, {.context = context}),
        data(rows(shape, batches), NDArray::zeros({shape[0] * batches}), {.batch_size = shape[0]}),
        batch(shape[0]) {
    module.bind(data.provide_data(), data.provide_label());
    module.init_params({.initializer = Xavier()});
    module.init_optimizer({.optimizer_params = kSgd});
  }

  static NDArray rows(const Shape& shape, std::int64_t batches) {
    std::vector<std::int64_t> dims(shape.begin(), shape.end());
    dims[0] *= batches;
    return invoke("_random_uniform", {}, {{"shape", Shape(dims).str()}}).front();
  }

  double fit() {
    return time_once([&] { module.fit(data, {.optimizer_params = kSgd, .num_epoch = 1}); });
  }

  /// The same executor: copies the batch and runs the updates that are wired into the step.
  double bare() {
    Executor& executor = module.group()->execs().front();
    const NDArray& x = module.group()->data_arrays().front().front().array;
    const NDArray& y = module.group()->label_arrays().front().front().array;
    data.reset();
    const double seconds = time_once([&] {
      DataBatch b;
      while (data.next(b)) {
        b.data.front().copy_to(x);
        b.label.front().copy_to(y);
        executor.step();
      }
    });
    data.reset();
    return seconds;
  }
};

void fit_against_bare_loop(Report& report) {
  {
    Training mlp_run(mlp(), {100, 784}, 400);
    mlp_run.fit(), mlp_run.bare();
    const Ratio r = compare(
        15, [&] { return mlp_run.fit(); }, [&] { return mlp_run.bare(); });
    report.note(fmt::format("MLP b100: fit {:.1f} us a batch, bare loop {:.1f} us",
                            r.ours / 400 * 1e6, r.theirs / 400 * 1e6));
    report.at_most("MLP b100: fit against the bare loop", r.median, 1.03, "x");
  }
  Training resnet(models::resnet({.num_classes = 1000, .num_layers = 18}), {16, 3, 224, 224}, 2);
  resnet.fit(), resnet.bare();
  const Ratio r = compare(
      7, [&] { return resnet.fit(); }, [&] { return resnet.bare(); });
  report.note(fmt::format("ResNet-18 b16: fit {:.1f} ms a batch", r.ours / 2 * 1e3));
  report.at_most("ResNet-18 b16: fit against the bare loop", r.median, 1.005, "x");
}

void two_devices(Report& report) {
  if (num_threads() < 2) return report.note("two devices: needs two threads");
  Training one(lenet(), {64, 1, 28, 28}, 30), two(lenet(), {64, 1, 28, 28}, 30, {cpu(0), cpu(1)});
  one.fit(), two.fit();
  const Ratio r = compare(
      11, [&] { return two.fit(); }, [&] { return one.fit(); });
  report.note(fmt::format("LeNet b64: one device {:.2f} ms a batch, two {:.2f} ms",
                          r.theirs / 30 * 1e3, r.ours / 30 * 1e3));
  report.at_most("LeNet b64: two devices of one core against one of two", r.median, 1 / 0.9, "x");
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Bytes of the buckets' executors: arrays, each counted once, and the shared arena.
double held_bytes(const BucketingModule& module) {
  std::set<const Storage*> seen;
  double bytes = 0;
  std::size_t arena = 0;
  for (const auto& [key, bucket] : module.buckets()) {
    const Executor& executor = bucket->group()->execs().front();
    arena = std::max(arena, executor.stats().arena_bytes);
    for (const auto* arrays : {&executor.arg_arrays(), &executor.grad_arrays(),
                               &executor.aux_arrays(), &executor.outputs()}) {
      for (const NDArray& a : *arrays)
        if (a.defined() && seen.insert(a.storage().get()).second)
          bytes += static_cast<double>(a.storage()->bytes());
    }
  }
  return bytes + static_cast<double>(arena);
}

constexpr std::int64_t kSentences = 32, kHidden = 512;

DataBatch bucket_batch(std::int64_t length) {
  DataBatch b;
  b.bucket_key = length;
  const auto input = [&](const std::string& name, const Shape& shape) {
    b.provide_data.push_back({.name = name, .shape = shape, .layout = "NT"});
    b.data.push_back(NDArray::zeros(shape));
  };
  input("data", {kSentences, length});
  b.provide_label.push_back(
      {.name = "softmax_label", .shape = {kSentences, length}, .layout = "NT"});
  b.label.push_back(NDArray::zeros({kSentences, length}));
  return b;
}

void buckets(Report& report) {
  const double before = resident_bytes();
  BucketingModule module(
      [](std::int64_t length) {
        return BucketNetwork{.symbol = models::lstm({.seq_len = static_cast<int>(length),
                                                     .vocab_size = 10000,
                                                     .num_layers = 2,
                                                     .num_hidden = kHidden,
                                                     .num_embed = 256})};
      },
      50);
  const DataBatch largest = bucket_batch(50);
  module.bind(largest.provide_data, largest.provide_label);
  module.init_params();
  module.init_optimizer({.optimizer_params = kSgd});
  const MetricPtr metric = Perplexity(std::nullopt);
  module.step(largest, *metric);
  const double alone = held_bytes(module), resident = resident_bytes() - before;
  for (const std::int64_t length : {10, 20, 30, 40}) module.step(bucket_batch(length), *metric);
  report.at_most("five buckets: memory against the largest alone", held_bytes(module) / alone, 1.02,
                 "x");
  report.note(fmt::format("  the process with its compiled plans: {:.3f}x of {:.0f} MB",
                          (resident_bytes() - before) / resident, resident / 1e6));
  const double seconds = time_once([&] {
    for (int i = 0; i < 500; ++i) module.switch_bucket(10, {}), module.switch_bucket(20, {});
  });
  report.at_most("switch of buckets", seconds / 1000 * 1e6, 20, "us");
}

void saving(Report& report) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("symbind_module_{}", getpid());
  fs::create_directories(folder);
  Module module(models::resnet({.num_classes = 1000, .num_layers = 50}));
  module.bind({{.name = "data", .shape = {1, 3, 224, 224}}},
              Shapes{{.name = "softmax_label", .shape = {1}}}, {.for_training = false});
  module.init_params({.initializer = Xavier()});
  const std::string path = folder / "resnet-0001.params";
  module.save_params(path);
  std::vector<char> bytes(fs::file_size(path));
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<long>(bytes.size()));
  const auto plain = [&] {
    return time_once([&] {
      const int file = open((folder / "plain").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      std::size_t done = 0;
      while (done < bytes.size()) {
        const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
      }
      fsync(file);
      close(file);
    });
  };
  const Ratio r = compare(
      9, [&] { return time_once([&] { module.save_params(path); }); }, plain);
  report.note(fmt::format("ResNet-50: saving {:.0f} ms, the same bytes {:.0f} ms", r.ours * 1e3,
                          r.theirs * 1e3));
  report.at_most("saving ResNet-50 against writing the same bytes", r.median, 1.3, "x");
  fs::remove_all(folder);
}

void serve(int batches) {
  Training run(mlp(), {100, 784}, batches);
  run.fit();
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << run.fit() << std::endl;
}

}  // namespace
}  // namespace symbind::bench

int main(int argc, char** argv) {
  using namespace symbind::bench;
  symbind::set_log_sink([](symbind::LogLevel, std::string_view) {});
  if (argc == 3 && std::strcmp(argv[1], "--serve") == 0) {
    serve(std::atoi(argv[2]));
    return 0;
  }
  Report report;
  fit_against_bare_loop(report);
  two_devices(report);
  buckets(report);
  saving(report);
  return report.failed() ? 1 : 0;
}
