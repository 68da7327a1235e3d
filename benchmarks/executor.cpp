// Checks the executor's performance targets (per-node overhead, MLP step, allocations, arena size,
// compile time, header cost, ResNet-50 against MXNet); exits 1 on a miss.
//
//   bench_executor [--mxnet PYTHON] [--only chain|mlp|steady|memory|include|resnet]
//
// Ratios come from runs that alternate with the peer's. Without --mxnet a note says that the
// comparison with MXNet is skipped.

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/parallel.h"
#include "passes/plan.h"
#include "support/heap_watch.h"
#include "support/nets.h"
#include "support/peer.h"
#include "support/report.h"
#include "support/straight_mlp.h"
#include "support/training.h"

#ifndef SYMBIND_SOURCE_DIR
#define SYMBIND_SOURCE_DIR "."
#endif

namespace symbind::bench {
namespace {

namespace fs = std::filesystem;

struct TempDir {
  fs::path path = fs::temp_directory_path() / fmt::format("symbind_bench_executor_{}", getpid());
  TempDir() { fs::create_directories(path); }
  ~TempDir() { fs::remove_all(path); }
};

void against_mxnet(Report& report, const std::string& python) {
  const TempDir dir;
  const std::string prefix = dir.path / "resnet50";
  Training ours = make_training(resnet50(), {8, 3, 224, 224}, 1000);
  ours.save(prefix);
  report.at_most("ResNet-50 b8: activation reorders a step", ours.executor.stats().reorders, 4, "");
  if (python.empty()) return report.note("no --mxnet: the comparison with MXNet 1.9.1 is skipped");
  Peer mxnet({python, SYMBIND_SOURCE_DIR "/benchmarks/peers/train_mxnet.py",
              prefix + "-symbol.json", prefix + ".params", prefix + ".data", "8"},
             {fmt::format("OMP_NUM_THREADS={}", num_threads())});
  const auto step_ours = [&] { return time_once([&] { ours.step(); }); };
  double loss = 0;
  const auto step_theirs = [&] {
    std::istringstream answer(mxnet.ask("1"));
    double seconds = 0;
    answer >> seconds >> loss;
    return seconds;
  };
  for (int i = 0; i < 2; ++i) step_ours(), step_theirs();  // warm-up
  const Ratio r = compare(15, step_ours, step_theirs);
  report.note(
      fmt::format("peer: {}; {} threads; ours {:.0f} ms, MXNet {:.0f} ms; worst quartile {:.3f}; "
                  "loss after 17 steps {:.5f} and {:.5f}",
                  mxnet.greeting(), num_threads(), 1e3 * r.ours, 1e3 * r.theirs, r.worst_quartile,
                  ours.loss(), loss));
  report.at_most("ResNet-50 v1.5 training b8, ours / MXNet 1.9.1", r.median, 1.05, "x");
  report.at_most("  relative difference of the losses", std::abs(ours.loss() - loss) / loss, 0.02,
                 "");
}

void mlp_against_gemms(Report& report) {
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    const VendorThreads vendor;
    Training ours = make_training(mlp(), {10, 784}, 10);
    StraightMlp straight(10);
    constexpr int kSteps = 500;
    const auto repeat = [](const std::function<void()>& f) {
      return [f] {
        return time_once([&] {
                 for (int i = 0; i < kSteps; ++i) f();
               }) /
               kSteps;
      };
    };
    const auto engine = repeat([&] { ours.executor.forward(true), ours.executor.backward(); });
    const auto loop = repeat([&] { straight.step(); });
    const auto gemms = repeat([&] { straight.gemms(); });
    engine(), loop(), gemms();
    const Ratio bare = compare(15, loop, gemms);
    const Ratio r = compare(21, engine, loop);
    report.note(fmt::format(
        "{} thread{}: executor {:.1f} us, loop {:.1f} us, GEMMs alone {:.1f} us", threads,
        threads > 1 ? "s" : "", 1e6 * r.ours, 1e6 * r.theirs, 1e6 * bare.theirs));
    report.at_most("MLP b10 forward + backward, executor / straight loop", r.median, 1.3, "x");
    report.at_most("  straight loop / its GEMMs", bare.median, 1.1, "x");
  }
  set_num_threads(0);
}

void chain_of_adds(Report& report) {
  constexpr int kLength = 1000;
  Executor e =
      add_chain(kLength).simple_bind(cpu(), {{"x", {64}}, {"y", {64}}}, {.grad_req = "null"});
  const int steps = e.stats().steps;
  std::vector<double> seconds;
  for (int i = 0; i < 200; ++i) seconds.push_back(time_once([&] { e.forward(); }));
  report.note(fmt::format("chain of {} adds: {} steps in the plan", kLength, steps));
  report.at_most("chain of adds on 64 floats, per add", 1e9 * median(seconds) / kLength, 100, "ns");
}

void steady_state(Report& report) {
  struct Case {
    const char* name;
    Symbol net;
    Shape data;
  };
  const Case cases[] = {{"MLP b10", mlp(), {10, 784}},
                        {"LeNet b16", lenet(), {16, 1, 28, 28}},
                        {"LSTM b32", lstm_language_model(), {32, 35}},
                        {"ResNet-50 b1", resnet50(), {1, 3, 224, 224}}};
  for (const Case& c : cases) {
    Training t = make_training(c.net, c.data, 10);
    for (int i = 0; i < 50; ++i) t.step();  // the heap that oneDNN uses grows for up to 30 steps
    const HeapCounts before = heap_counts();
    for (int i = 0; i < 100; ++i) t.step();
    const HeapCounts after = heap_counts();
    report.note(fmt::format("{}: {} allocations by libraries below in 100 steps", c.name,
                            after.all - before.all));
    report.at_most(fmt::format("{}: our allocations in 100 steps", c.name),
                   static_cast<double>(after.ours - before.ours), 0, "");
    report.at_most(fmt::format("{}: growth of live heap bytes", c.name),
                   static_cast<double>(std::abs(after.live - before.live)), 0, "");
    report.at_most(fmt::format("{}: page faults", c.name),
                   static_cast<double>(after.faults - before.faults), 0, "");
  }
}

// Compiling reads no data: shapes and types are enough.
BindSpec training_spec(const Symbol& net, const Shape& data) {
  BindSpec spec;
  spec.context = cpu();
  spec.arg_names = net.list_arguments();
  spec.aux_names = net.list_auxiliary_states();
  const InferredShapes shapes = net.infer_shape({{"data", data}});
  for (const Shape& s : shapes.args) spec.args.push_back({.shape = s});
  for (const Shape& s : shapes.aux) spec.aux.push_back({.shape = s});
  spec.arg_contexts.assign(spec.args.size(), cpu());
  spec.aux_contexts.assign(spec.aux.size(), cpu());
  for (const std::string& name : spec.arg_names) {
    spec.grad_req.push_back(name == "data" || name == "softmax_label" ? GradReq::kNull
                                                                      : GradReq::kWrite);
  }
  return spec;
}

void compile_and_memory(Report& report) {
  std::vector<double> seconds;
  std::shared_ptr<const Plan> plan;
  const Symbol net = resnet50();
  const BindSpec spec = training_spec(net, {32, 3, 224, 224});
  for (int i = 0; i < 3; ++i) seconds.push_back(time_once([&] { plan = compile(net, spec); }));
  const auto arena = static_cast<double>(plan->total_arena_bytes());
  report.at_most("ResNet-50 b32 training: arena", arena / 1e9, 3.0, "GB");
  report.at_most("  arena / max live", arena / static_cast<double>(plan->max_live_bytes), 1.05,
                 "x");
  report.at_most("compile of ResNet-50 (first of the process)", seconds.front(), 0.5, "s");
}

void include_time(Report& report) {
  const TempDir dir;
  const std::string source = dir.path / "include.cpp";
  std::ofstream(source) << "#include <symbind/symbind.h>\nint main() {}\n";
  std::vector<double> seconds;
  for (int i = 0; i < 3; ++i) {
    seconds.push_back(
        time_command({"g++", "-std=c++20", "-O0", "-c", "-I" SYMBIND_SOURCE_DIR "/include", source,
                      "-o", source + ".o"}));
  }
  report.at_most("#include <symbind/symbind.h> at -O0", median(seconds), 1.5, "s");
}

}  // namespace
}  // namespace symbind::bench

int main(int argc, char** argv) {
  using namespace symbind::bench;
  std::string python;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--mxnet" && i + 1 < argc) {
      python = argv[++i];
    } else if (option == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else {
      std::puts("bench_executor [--mxnet PYTHON] [--only chain|mlp|steady|memory|include|resnet]");
      return option == "--help" ? 0 : 2;
    }
  }
  Report report;
  const auto wanted = [&](const char* part) { return only.empty() || only == part; };
  if (wanted("chain")) chain_of_adds(report);
  if (wanted("mlp")) mlp_against_gemms(report);
  if (wanted("memory")) compile_and_memory(report);
  if (wanted("steady")) steady_state(report);
  if (wanted("resnet")) against_mxnet(report, python);
  if (wanted("include")) include_time(report);
  std::printf("%d targets missed\n", report.misses());
  return report.failed() ? 1 : 0;
}
