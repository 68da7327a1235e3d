// Measures the profiler's overhead: switched off, against a library without it; and switched on.
//
//   bench_profiler [--without LIBRARY_DIR]
//
// LIBRARY_DIR holds a libsymbind.so built from a commit before the profiler's. bench_profiler_peer
// runs once with it and once with the current library, and both do the same work in turns. Without
// LIBRARY_DIR the target is checked by arithmetic: the number of is-it-on checks in a step times
// the cost of one check. Exit status 1 on a miss.

#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <symbind/profiler.h>

#include "base/profiling.h"
#include "support/peer.h"
#include "support/report.h"
#include "support/small_work.h"

namespace symbind::bench {
namespace {

void against_without(Report& report, const std::string& self, const std::string& directory) {
  Peer with({self + "_peer"}, {}), without({self + "_peer"}, {"LD_LIBRARY_PATH=" + directory});
  for (const char* what : {"step", "add"}) {
    const auto ours = [&] { return std::stod(with.ask(what)); };
    const auto theirs = [&] { return std::stod(without.ask(what)); };
    ours(), theirs();  // warm-up
    const Ratio r = compare(61, ours, theirs);
    report.note(fmt::format("{}: {:.1f} ns, without a profiler {:.1f} ns; worst quartile {:.4f}",
                            what, 1e9 * r.ours, 1e9 * r.theirs, r.worst_quartile));
    report.at_most(fmt::format("profiler off / no profiler, {}", what), r.median, 1.01, "x");
  }
}

void by_arithmetic(Report& report, SmallWork& work) {
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
  // One check per operator and update, and one per API call: forward, backward, updates, step.
  const int questions = work.mlp_b10.executor.stats().steps + 6 + 4;
  report.note(fmt::format("one check: {:.2f} ns; {} of them in a step of {:.2f} us", 1e9 * each,
                          questions, 1e6 * step));
  report.at_most("checks of a step / MLP b10 step", 100 * questions * each / step, 1, "%");
  report.at_most("checks of a call / nd add of 64 floats", 100 * 2 * each / add, 1, "%");
}

void on_against_off(Report& report, SmallWork& work) {
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
  Report report;
  SmallWork work;
  if (argc > 2 && std::strcmp(argv[1], "--without") == 0)
    against_without(report, argv[0], argv[2]);
  else
    report.note("no --without: the comparison with a library without profiler is skipped");
  by_arithmetic(report, work);
  on_against_off(report, work);
  return report.failed() ? 1 : 0;
}
