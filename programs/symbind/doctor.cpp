// symbind doctor: what this machine and this build are, what limits them, and what to do about it.

#include "doctor.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <symbind/context.h>
#include <symbind/libraries.h>
#include <symbind/runtime.h>

namespace symbind::program {
namespace {

namespace fs = std::filesystem;
using State = Finding::State;

struct DoctorOptions {
  std::string runs = "runs";
  double seconds = 5;
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The value of a line "key : value" of /proc/cpuinfo or /proc/meminfo.
std::string proc_value(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon != std::string::npos) return split_list(line.substr(colon + 1), '\n').front();
  }
  return {};
}

struct Cores {
  int all = 1, allowed = 1;
  double quota = 0;  ///< of a container; 0: none
};

Cores count_cores() {
  Cores cores;
  cores.all = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t set;
  CPU_ZERO(&set);
  cores.allowed = ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : cores.all;
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (file >> quota >> period && quota != "max" && period > 0)
    cores.quota = std::atof(quota.c_str()) / period;
  return cores;
}

void check_cpu(std::vector<Finding>& findings, Json& document) {
  const Cores cores = count_cores();
  const int threads = cpu_threads();
  const std::string model = cpu_model();
  document["cpu"] = {{"model", model},
                     {"cores", cores.all},
                     {"allowed_cores", cores.allowed},
                     {"quota", cores.quota > 0 ? Json(cores.quota) : Json()},
                     {"instructions", cpu_instructions()},
                     {"threads", threads}};
  findings.push_back({State::kOk, "CPU", fmt::format("{}, {} cores", model, cores.all)});

  const std::string isa_limit = environment("ONEDNN_MAX_CPU_ISA");
  Finding isa{State::kOk, "instructions", cpu_instructions()};
  if (!isa_limit.empty()) {
    isa.state = State::kNote;
    isa.what += fmt::format(", limited by ONEDNN_MAX_CPU_ISA={}", isa_limit);
    isa.fix = "unset ONEDNN_MAX_CPU_ISA";
  }
  findings.push_back(isa);

  Finding use{State::kOk, "threads", fmt::format("{} of {} cores are used", threads, cores.all)};
  std::string limits;
  for (const char* name : {"OMP_NUM_THREADS", "SYMBIND_NUM_THREADS", "MXNET_OMP_MAX_THREADS"})
    if (const std::string value = environment(name); !value.empty())
      limits += fmt::format("{}{}={}", limits.empty() ? "" : ", ", name, value);
  if (threads < cores.allowed) {
    use.state = State::kNote;
    use.what += limits.empty() ? "" : ", limited by " + limits;
    use.fix = fmt::format("unset it or set OMP_NUM_THREADS={}", cores.allowed);
  } else if (cores.allowed < cores.all) {
    use.state = State::kNote;
    use.what += fmt::format(", this process may run on {}", cores.allowed);
    use.fix = "start it without taskset, or give the container more cores";
  } else if (cores.quota > 0 && threads > cores.quota + 0.5) {
    use.state = State::kNote;
    use.what += fmt::format(", the container has the time of {:.1f}", cores.quota);
    use.fix = fmt::format("set OMP_NUM_THREADS={:.0f}", std::max(1.0, cores.quota));
  }
  findings.push_back(use);

  double load = 0;
  if (::getloadavg(&load, 1) == 1) {
    document["cpu"]["load"] = load;
    Finding busy{State::kOk, "load", fmt::format("{:.1f} on {} cores", load, cores.all)};
    if (load > cores.all * 0.7) {
      busy.state = State::kNote;
      busy.what += ": other processes use the CPU";
      busy.fix = "the speeds below are too low; run this again when the machine is idle";
    }
    findings.push_back(busy);
  }
}

void check_libraries(std::vector<Finding>& findings, Json& document) {
  document["libraries"] = Json::array();
  bool has_onednn = false;
  for (const LibraryInfo& library : libraries()) {
    document["libraries"].push_back(
        {{"name", library.name}, {"version", library.version}, {"build", library.build}});
    has_onednn = has_onednn || library.name == "oneDNN";
    Finding finding{State::kOk, library.name, library.version};
    if (library.name == "OpenBLAS" && library.build.find("USE_OPENMP") == std::string::npos) {
      finding.state = State::kNote;
      finding.what += ", not the OpenMP build: it starts threads besides ours";
      finding.fix = "install libopenblas0-openmp";
    }
    findings.push_back(finding);
  }
  if (!has_onednn)
    findings.push_back({State::kNote, "oneDNN", "this build does not use it: convolutions are slow",
                        "install libdnnl-dev and build again"});
}

void check_gpus(std::vector<Finding>& findings, Json& document) {
  bool built = false;
  for (const auto& [name, there] : features()) built = built || (name == "CUDA" && there);
  std::vector<std::string> cards;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", ignored))
    cards.push_back(proc_value((entry.path() / "information").c_str(), "Model"));
  const int usable = num_gpus();
  document["gpus"] = {{"cuda_build", built}, {"usable", usable}, {"cards", cards}};
  Finding finding{State::kOk, "GPUs",
                  built ? fmt::format("{} usable", usable) : "none used: this is a CPU build"};
  if (!cards.empty()) finding.what += fmt::format(" ({})", fmt::join(cards, ", "));
  if (!built && !cards.empty()) {
    finding.state = State::kNote;
    finding.fix = "build with the preset cuda";
  } else if (built && usable == 0) {
    finding.state = State::kNote;
    finding.fix = cards.empty() ? "install the NVIDIA driver if this machine has a GPU"
                                : "CUDA_VISIBLE_DEVICES may hide them, or the driver is too old";
  }
  findings.push_back(finding);
}

void check_space(const DoctorOptions& o, std::vector<Finding>& findings, Json& document) {
  std::error_code ignored;
  const std::string folder = fs::is_directory(o.runs, ignored) ? o.runs : ".";
  struct statvfs disk {};
  const bool known = ::statvfs(folder.c_str(), &disk) == 0;
  const double free_bytes =
      known ? static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) : 0;
  document["disk"] = {{"folder", o.runs}, {"free_bytes", free_bytes}};
  Finding space{State::kOk, "disk", fmt::format("{} free for {}", amount(free_bytes, "B"), o.runs)};
  if (::access(folder.c_str(), W_OK) != 0) {
    space.state = State::kNote;
    space.what += ", but the folder cannot be written";
    space.fix = "choose another folder with --runs";
  } else if (free_bytes < 1e9) {
    space.state = State::kNote;
    space.fix = "free space: a checkpoint that does not fit ends a training";
  }
  findings.push_back(space);
  const double memory = 1024 * std::atof(proc_value("/proc/meminfo", "MemAvailable").c_str());
  document["memory"] = {{"available_bytes", memory}};
  Finding ram{State::kOk, "memory", amount(memory, "B") + " available"};
  if (memory > 0 && memory < 5e8) {
    ram.state = State::kNote;
    ram.fix = "end other programs, or train with a smaller batch size";
  }
  findings.push_back(ram);
}

void check_numbers(const DoctorOptions& o, std::vector<Finding>& findings, Json& document) {
  if (is_terminal()) write_line(fmt::format("self test: {:.3g} seconds …", o.seconds));
  const SelfTest test = run_self_test(o.seconds);
  constexpr double kExact = 0, kRounding = 1e-2;  // Winograd may round; sums are up to 576
  document["self_test"] = {{"gemm_gflops", test.gemm_gflops},
                           {"gemm_error", test.gemm_error},
                           {"convolution_gflops", test.convolution_gflops},
                           {"convolution_error", test.convolution_error}};
  const auto add = [&](const char* topic, double gflops, double error, double most) {
    Finding finding{State::kOk, topic, fmt::format("{:.1f} GFLOP/s, numbers are right", gflops)};
    if (error > most) {
      finding.state = State::kProblem;
      finding.what = fmt::format("the result differs from the known one by {:.3g}", error);
      finding.fix =
          "set ONEDNN_MAX_CPU_ISA=AVX2 or SYMBIND_KERNELS=-onednn and test again; report "
          "the output of symbind doctor --json";
    }
    findings.push_back(finding);
  };
  add("product", test.gemm_gflops, test.gemm_error, kExact);
  add("convolution", test.convolution_gflops, test.convolution_error, kRounding);
}

Result run_doctor(const DoctorOptions& o) {
  Result result;
  Json& document = result.document;
  document = {{"command", "doctor"}, {"version", version()}};
  std::vector<Finding> findings;
  check_cpu(findings, document);
  check_libraries(findings, document);
  check_gpus(findings, document);
  check_space(o, findings, document);
  check_numbers(o, findings, document);
  document["findings"] = Json::array();
  int notes = 0, problems = 0;
  std::vector<std::vector<std::string>> rows;
  for (const Finding& f : findings) {
    const char* state = f.state == State::kOk ? "ok" : f.state == State::kNote ? "note" : "problem";
    notes += f.state == State::kNote ? 1 : 0;
    problems += f.state == State::kProblem ? 1 : 0;
    document["findings"].push_back(
        {{"state", state}, {"topic", f.topic}, {"what", f.what}, {"fix", f.fix}});
    rows.push_back({state, f.topic, f.what});
    if (!f.fix.empty()) rows.push_back({"", "", "-> " + f.fix});
  }
  document["ok"] = problems == 0;
  result.text = fmt::format("symbind {}\n", version()) + table(rows);
  result.text += problems > 0
                     ? fmt::format("{}, {}\n", counted(problems, "problem"), counted(notes, "note"))
                     : fmt::format("no problems, {}\n", counted(notes, "note"));
  result.exit_code = problems > 0 ? kFailed : kOk;
  return result;
}

}  // namespace

void add_doctor(CLI::App& app) {
  CLI::App* command =
      add_command(app, "doctor", "Checks this machine and this build, and says what to do",
                  "  symbind doctor\n"
                  "  symbind doctor --seconds 1 --json");
  const auto o = std::make_shared<DoctorOptions>();
  command->add_option("--runs", o->runs, "Folder of runs, for free disk space [runs]");
  command->add_option("--seconds", o->seconds, "Length of the self test [5]")
      ->check(CLI::Range(0.0, 600.0));
  on_run(command, [o] { return run_doctor(*o); });
}

}  // namespace symbind::program
