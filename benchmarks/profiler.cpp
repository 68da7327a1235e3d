// What the profiler costs: off, against a library without it; and on.
//
//   bench_profiler [--without LIBRARY_DIR]
//
// LIBRARY_DIR holds a libsymbind.so built from a commit before the profiler's: this same program is
// started over it and asked for the same work in turns. Without it, the bar is checked by
// arithmetic: how often the question is asked in a step, times what one question costs. Exit status
// 1 on a miss.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <symbind/profiler.h>

#include "base/profiling.h"
#include "support/nets.h"
#include "support/peer.h"
#include "support/report.h"
#include "support/training.h"

namespace symbind::bench {
namespace {

constexpr int kSteps = 300, kAdds = 20'000;

/// One training step of an MLP at batch 10, and one addition of 64 floats: seconds of each.
struct Work {
  Training mlp_b10 = make_training(mlp(), {10, 784}, 10);
  NDArray a = NDArray::zeros({64}), b = NDArray::zeros({64}), out = NDArray::zeros({64});

  double step() {
    return time_once([&] {
             for (int i = 0; i < kSteps; ++i) mlp_b10.step();
           }) /
           kSteps;
  }
  double add() {
    return time_once([&] {
             for (int i = 0; i < kAdds; ++i) invoke("elemwise_add", {a, b}, {}, {out});
           }) /
           kAdds;
  }
};

/// Answers "step" and "add" with seconds until its input ends.
int serve() {
  Work work;
  std::cout << "ready" << std::endl;
  for (std::string what; std::getline(std::cin, what);)
    std::cout << fmt::format("{:.12g}", what == "step" ? work.step() : work.add()) << std::endl;
  return 0;
}

void against_without(Report& report, Work& work, const std::string& self,
                     const std::string& directory) {
  Peer without({self, "--serve"}, {"LD_LIBRARY_PATH=" + directory});
  const auto theirs = [&](const char* what) {
    return [&without, what] { return std::stod(without.ask(what)); };
  };
  work.step(), theirs("step")(), work.add(), theirs("add")();
  const Ratio step = compare(
      41, [&] { return work.step(); }, theirs("step"));
  report.note(
      fmt::format("MLP b10 step: {:.2f} us, without a profiler {:.2f} us; worst quartile "
                  "{:.4f}",
                  1e6 * step.ours, 1e6 * step.theirs, step.worst_quartile));
  report.at_most("profiler off / no profiler, MLP b10 step", step.median, 1.01, "x");
  const Ratio add = compare(
      41, [&] { return work.add(); }, theirs("add"));
  report.note(
      fmt::format("add of 64 floats: {:.1f} ns, without a profiler {:.1f} ns; worst "
                  "quartile {:.4f}",
                  1e9 * add.ours, 1e9 * add.theirs, add.worst_quartile));
  report.at_most("profiler off / no profiler, nd add of 64 floats", add.median, 1.01, "x");
}

void by_arithmetic(Report& report, Work& work) {
  constexpr int kQuestions = 10'000'000;
  int asked = 0;
  const double each = time_once([&] {
                        for (int i = 0; i < kQuestions; ++i) {
                          asked += profiling::on(profiling::kSymbolic) ? 1 : 0;
                          asm volatile("" : "+r"(asked)::"memory");
                        }
                      }) /
                      kQuestions;
  const double step = work.step(), add = work.add();
  // A question per operator and update, and per call of the API: forward, backward, updates, step.
  const int questions = work.mlp_b10.executor.stats().steps + 6 + 4;
  report.note(fmt::format("one question: {:.2f} ns; {} of them in a step of {:.2f} us", 1e9 * each,
                          questions, 1e6 * step));
  report.at_most("questions of a step / MLP b10 step", 100 * questions * each / step, 1, "%");
  report.at_most("questions of a call / nd add of 64 floats", 100 * 2 * each / add, 1, "%");
}

void on_against_off(Report& report, Work& work) {
  const auto recorded = [&](auto&& run) {
    profiler::set_running(true);
    const double seconds = run();
    profiler::dump();  // into /dev/null
    return seconds;
  };
  profiler::set_config({{"profile_all", "true"}, {"filename", "/dev/null"}});
  const Ratio step = compare(
      11, [&] { return recorded([&] { return work.step(); }); }, [&] { return work.step(); });
  const Ratio add = compare(
      11, [&] { return recorded([&] { return work.add(); }); }, [&] { return work.add(); });
  report.note(fmt::format("recording everything: MLP b10 step {:.2f}x, nd add {:.2f}x", step.median,
                          add.median));
}

}  // namespace
}  // namespace symbind::bench

int main(int argc, char** argv) {
  using namespace symbind::bench;
  if (argc > 1 && std::strcmp(argv[1], "--serve") == 0) return serve();
  Report report;
  Work work;
  if (argc > 2 && std::strcmp(argv[1], "--without") == 0)
    against_without(report, work, argv[0], argv[2]);
  else
    report.note("no --without: the comparison with a library without profiler is left out");
  by_arithmetic(report, work);
  on_against_off(report, work);
  return report.failed() ? 1 : 0;
}
