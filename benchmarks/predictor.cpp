// Serves ResNet-50 and measures three things: the overhead of a Predictor over a bare executor, the
// throughput gain of a second thread, and the cost of a new image size. Each thread uses one core;
// measurements alternate.
//   bench_predictor [PAIRS]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include <symbind/executor.h>
#include <symbind/predictor.h>

#include "support/nets.h"
#include "support/report.h"
#include "support/training.h"

namespace {

using namespace symbind;
using namespace symbind::bench;

constexpr int kClasses = 1000;

struct Served {
  Symbol net;
  NDArrayMap args, aux;
  NDArray image;
};

Served resnet() {
  Served s{.net = resnet50(), .args = {}, .aux = {}, .image = {}};
  const Training filled = make_training(s.net, {1, 3, 224, 224}, kClasses);
  s.args = filled.executor.arg_dict();
  s.aux = filled.executor.aux_dict();
  s.image = s.args.at("data");
  s.args.erase("data");
  s.args.erase("softmax_label");
  return s;
}

/// CPU seconds of the process; unlike wall time, other processes do not distort them.
double computed() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Predictions per second of `count` threads with `calls` calls each.
double throughput(const Predictor& predictor, const NDArray& image, int count, int calls) {
  std::vector<std::thread> threads;
  const double seconds = time_once([&] {
    for (int t = 0; t < count; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < calls; ++i) predictor.predict(image);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  return count * calls / seconds;
}

int measure(int pairs) {
  Report report;
  const Served s = resnet();
  const Predictor predictor(s.net, s.args, s.aux, {.threads = 1});

  NDArrayMap bound = s.args;
  bound["data"] = s.image.copy();
  bound["softmax_label"] = NDArray::zeros({1});
  Executor bare = s.net.bind(cpu(), bound, {.grad_req = "null", .aux_states = s.aux});
  const NDArrayMap feed{{"data", s.image}};
  for (int i = 0; i < 3; ++i) {
    bare.forward(false, feed);
    predictor.predict(s.image);
  }
  const auto few = [](const auto& work) {
    return [&work] {
      return time_once([&] {
        for (int i = 0; i < 4; ++i) work();
      });
    };
  };
  const auto predict = [&] { predictor.predict(s.image); };
  const auto forward = [&] { bare.forward(false, feed); };
  const Ratio latency = compare(pairs, few(predict), few(forward));
  const auto cost = [](const auto& work) {
    return [&work] {
      const double before = computed();
      for (int i = 0; i < 4; ++i) work();
      return computed() - before;
    };
  };
  std::printf("one call: predictor %.2f ms, bare executor %.2f ms\n", latency.ours * 250,
              latency.theirs * 250);
  report.note("CPU time over a bare executor's: " +
              std::to_string(compare(pairs, cost(predict), cost(forward)).median));
  report.at_most("latency over a bare executor's", latency.median, 1.01, "x");

  throughput(predictor, s.image, 2, 2);
  std::vector<double> gains, costs;
  for (int i = 0; i < pairs; ++i) {
    const double begin = computed();
    const double one = throughput(predictor, s.image, 1, 8);
    const double middle = computed();
    gains.push_back(throughput(predictor, s.image, 2, 8) / one);
    costs.push_back((computed() - middle) / 2 / (middle - begin));
  }
  std::printf(
      "two threads: %.2f times the throughput of one (median of %d, target: at least 1.8)\n",
      median(gains), pairs);
  report.note("CPU time of a call beside another, over one alone: " +
              std::to_string(median(costs)));
  report.at_most("throughput of one thread over half of two's", 2 / median(gains), 2 / 1.8, "x");

  std::vector<double> plans;
  const double begin = computed();
  for (int size = 160; size < 160 + 16 * std::min(pairs, 20); size += 16) {
    plans.push_back(1e3 * time_once([&] { predictor.prepare({{"data", {1, 3, size, size}}}); }));
  }
  report.note("CPU time of planning, mean: " +
              std::to_string(1e3 * (computed() - begin) / static_cast<double>(plans.size())) +
              " ms");
  report.at_most("planning a new size, median", median(plans), 50, "ms");
  report.at_most("planning a new size, worst", *std::ranges::max_element(plans), 50, "ms");
  return report.failed() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("SYMBIND_NUM_THREADS", "1", 1);  // the bare executor's calls too run on one core
  try {
    return measure(argc > 1 ? std::max(1, std::atoi(argv[1])) : 9);
  } catch (const symbind::Error& error) {
    std::fprintf(stderr, "bench_predictor: %s\n", error.what());
    return 2;
  }
}
