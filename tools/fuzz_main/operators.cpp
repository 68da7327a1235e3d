// fuzz_operators: calls every public operator at random, under the sanitizers.
//
//   fuzz_operators --calls N [--seed S] [--only TEXT] [--findings DIR] [--base FILE]
//   fuzz_operators --replay FILE     the calls of a file, one a line; - is standard input
//   fuzz_operators --table           how often each operator ran, after --calls
//   fuzz_operators --seeds DIR       writes small networks of one operator, and a manifest: seeds
//   fuzz_operators --dictionary      libFuzzer's dictionary for fuzz_symbol
//
// Call number i is drawn from seed S + i and the known calls of --base alone. A child process makes
// the calls and the parent watches: when the child dies or takes more than 10 s for a call, the
// call's line and its output are kept in DIR, and the next child continues with the following call.
// Exit status 1 if there was a finding.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>

#include <symbind/error.h>

#include "fuzz/loaders.h"
#include "fuzz/mutate_symbol.h"
#include "fuzz/operator_call.h"

namespace symbind::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kSecondsPerCall = 10;
constexpr std::size_t kLineBytes = 1 << 16;
constexpr std::size_t kMostOps = 2048;

struct Options {
  std::uint64_t calls = 0, seed = 1;
  std::string only, findings = "fuzz-findings", replay, seeds, base;
  bool table = false, dictionary = false;
};

/// What the child leaves for its parent.
struct Shared {
  std::uint64_t at;  ///< number of the call that is running
  char line[kLineBytes];
  std::uint64_t outcomes[kMostOps][3];
};

void too_slow(int) {
  static constexpr char kText[] = "fuzz: HANG: the call took more than 10 s\n";
  static_cast<void>(::write(2, kText, sizeof(kText) - 1));
  std::abort();
}

Outcome run_watched(const OperatorCall& call) {
  ::alarm(kSecondsPerCall);
  try {
    const Outcome outcome = run_call(call);
    ::alarm(0);
    return outcome;
  } catch (const std::exception& error) {
    fmt::print(stderr, "fuzz: ESCAPED: an exception that is no symbind::Error: {}\n", error.what());
    std::abort();
  }
}

[[noreturn]] void run_child(const Options& options, const std::vector<std::string>& ops,
                            std::uint64_t first, Shared& shared) {
  std::signal(SIGALRM, too_slow);
  for (std::uint64_t i = first; i < options.calls; ++i) {
    shared.at = i;
    const std::size_t op = (options.seed + i) % ops.size();
    std::snprintf(shared.line, kLineBytes, "(while drawing: --calls 1 --only %s --seed %llu)",
                  ops[op].c_str(), static_cast<unsigned long long>(options.seed + i));
    const OperatorCall call = draw_call(ops[op], options.seed + i);
    std::snprintf(shared.line, kLineBytes, "%s", to_line(call).c_str());
    ++shared.outcomes[op][static_cast<int>(run_watched(call))];
  }
  std::exit(0);
}

/// The line that says what happened: equal ones are one finding.
std::string summary_of(const std::string& log) {
  std::ifstream file(log);
  std::string summary = "died without a word";
  for (std::string line; std::getline(file, line);) {
    for (const char* mark : {"runtime error: ", "SUMMARY: ", "ESCAPED: ", "HANG: "})
      if (const std::size_t at = line.find(mark); at != std::string::npos) {
        const bool where = std::strcmp(mark, "runtime error: ") == 0;
        std::string found = where ? line.substr(line.rfind('/', at) + 1) : line.substr(at);
        if (line.find("SUMMARY: UndefinedBehaviorSanitizer") == std::string::npos) summary = found;
        if (where || std::strcmp(mark, "SUMMARY: ") != 0) return summary;
      }
  }
  return summary;
}

void redirect_output(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) std::exit(3);
  ::dup2(file, 2);
  ::close(file);
}

void print_table(const std::vector<std::string>& ops, const Shared& shared) {
  for (std::size_t i = 0; i < ops.size(); ++i)
    fmt::print("{:44} {:8} ran {:8} refused {:6} skipped\n", ops[i], shared.outcomes[i][0],
               shared.outcomes[i][1], shared.outcomes[i][2]);
}

int run_many(const Options& options, const std::vector<std::string>& ops) {
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  Shared& shared = *static_cast<Shared*>(memory);
  fs::create_directories(options.findings);
  std::map<std::string, int> findings;
  for (std::uint64_t next = 0; next < options.calls; next = shared.at + 1) {
    const std::string log = fmt::format("{}/running-{}.log", options.findings, ::getpid());
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) return 3;
    if (child == 0) {
      redirect_output(log);
      run_child(options, ops, next, shared);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      fs::remove(log);
      break;
    }
    const std::string summary = summary_of(log);
    const std::string stem = fmt::format("{}/{}", options.findings, options.seed + shared.at);
    const bool is_new = ++findings[summary] == 1;
    if (is_new) fmt::print("finding {}.log: {}\n  {}\n", stem, summary, shared.line);
    std::ofstream(stem + ".json") << shared.line << "\n";
    fs::rename(log, stem + ".log");
    std::fflush(nullptr);
  }
  std::uint64_t sums[3] = {};
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (int k = 0; k < 3; ++k) sums[k] += shared.outcomes[i][k];
  if (options.table) print_table(ops, shared);
  int count = 0;
  for (const auto& [summary, times] : findings) count += times;
  fmt::print(
      "{} operators, {} calls: {} ran, {} refused with an Error, {} skipped; {} findings, {} "
      "different\n",
      ops.size(), options.calls, sums[0], sums[1], sums[2], count, findings.size());
  for (const auto& [summary, times] : findings) fmt::print("  {} times: {}\n", times, summary);
  return findings.empty() ? 0 : 1;
}

int replay(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) {
      fmt::print(stderr, "fuzz_operators: cannot read {}\n", path);
      return 2;
    }
  }
  std::istream& lines = path == "-" ? std::cin : file;
  std::signal(SIGALRM, too_slow);
  constexpr const char* kOutcomes[] = {"ran", "refused", "skipped"};
  for (std::string line; std::getline(lines, line);)
    if (!line.empty())
      fmt::print("{}: {}\n", kOutcomes[static_cast<int>(run_watched(from_line(line)))], line);
  return 0;
}

/// The first calls of every operator that run, as networks.
int write_seeds(const std::string& folder, const std::vector<std::string>& ops) {
  fs::create_directories(folder + "/symbol");
  fs::create_directories(folder + "/manifest");
  std::ofstream(folder + "/manifest/fit.json") << manifest_seed();
  for (const std::string& op : ops) {
    int written = 0;
    for (std::uint64_t seed = 1; seed < 200 && written < 3; ++seed) {
      OperatorCall call = draw_call(op, seed);
      std::size_t elements = 0;
      for (const CallInput& in : call.inputs)
        elements += static_cast<std::size_t>(std::abs(Shape(in.shape).size()));
      if (elements > 500) continue;
      call.way = "bind";
      call.unread = 0;
      if (run_watched(call) != Outcome::kRan) continue;
      std::ofstream(fmt::format("{}/symbol/{}-{}.json", folder, op, ++written))
          << to_symbol_json(call);
    }
  }
  return 0;
}

int usage() {
  fmt::print(
      "fuzz_operators --calls N [--seed S] [--only TEXT] [--findings DIR] [--base FILE] "
      "[--table] | "
      "--replay FILE | --seeds DIR | --dictionary\n");
  return 2;
}

int run(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (name == "--table" || name == "--dictionary") {
      (name == "--table" ? o.table : o.dictionary) = true;
      continue;
    }
    if (value == nullptr) return usage();
    ++i;
    if (name == "--calls")
      o.calls = std::strtoull(value, nullptr, 10);
    else if (name == "--seed")
      o.seed = std::strtoull(value, nullptr, 10);
    else if (name == "--only")
      o.only = value;
    else if (name == "--findings")
      o.findings = value;
    else if (name == "--base")
      o.base = value;
    else if (name == "--replay")
      o.replay = value;
    else if (name == "--seeds")
      o.seeds = value;
    else
      return usage();
  }
  prepare();
  if (o.dictionary) {
    fmt::print("{}", symbol_dictionary());
    return 0;
  }
  if (!o.replay.empty()) return replay(o.replay);
  if (!o.base.empty() && use_base(o.base) == 0) return usage();
  std::vector<std::string> ops = operators_to_call();
  std::erase_if(ops, [&](const std::string& op) { return op.find(o.only) == std::string::npos; });
  if (ops.size() > kMostOps) ops.resize(kMostOps);
  if (!o.seeds.empty()) return write_seeds(o.seeds, ops);
  if (o.calls == 0 || ops.empty()) return usage();
  return run_many(o, ops);
}

}  // namespace
}  // namespace symbind::fuzz

int main(int argc, char** argv) { return symbind::fuzz::run(argc, argv); }
