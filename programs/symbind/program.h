#pragma once
// What the commands of `symbind` share: exit codes, errors, output, interrupts.
//
// A command returns a Result and prints nothing on stdout itself; main prints either the text or,
// with --json, the document. Progress and warnings go to stderr.

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <symbind/error.h>
#include <symbind/shape.h>
#include <symbind/terminal.h>

namespace symbind::program {

using Json = nlohmann::ordered_json;

enum ExitCode { kOk = 0, kFailed = 1, kUsage = 2, kInterrupted = 130 };

/// The command line or a config file is wrong: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a command prints on stdout: `text`, or `document` with --json.
struct Result {
  Json document = Json::object();
  std::string text;
  int exit_code = kOk;
};

/// Adds a command with --json and an example at the end of its help.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& summary,
                      const std::string& example);
/// Sets what the command does once its arguments are parsed.
void on_run(CLI::App* command, std::function<Result()> run);

void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_predict(CLI::App& app);
void add_inspect(CLI::App& app);
void add_convert(CLI::App& app);
void add_explain(CLI::App& app);
void add_doctor(CLI::App& app);

/// Throws Error of the given kind with a formatted message.
[[noreturn]] void fail(ErrorKind kind, const std::string& message);
/// A message as one line: what follows a line end is joined with "; ".
std::string one_line(std::string_view message);
/// " (did you mean 'epochs'?)" for a name close to one of `known`, else empty.
std::string nearest_hint(std::string_view name, const std::vector<std::string>& known);
/// The whole number, or UsageError; `what` names the argument.
std::int64_t parse_integer(std::string_view text, const std::string& what);
double parse_number(std::string_view text, const std::string& what);
/// "1,28,28", "(1, 28, 28)" or "1x28x28".
Shape parse_shape(std::string_view text, const std::string& what);
/// The parts of a comma-separated list, without spaces around them.
std::vector<std::string> split_list(std::string_view text, char separator = ',');

/// "12,345".
std::string grouped(std::int64_t number);
/// "1.234 GFLOP", "12.3 kB".
std::string amount(double value, const char* unit);
/// "1 array", "2 arrays".
std::string counted(std::int64_t number, const std::string& noun);
/// Rows as columns of equal width, two spaces between; columns of numbers are right-aligned.
std::string table(const std::vector<std::vector<std::string>>& rows);
Json shape_json(const Shape& shape);

/// Installs the handlers of SIGINT and SIGTERM: outside of the scopes below they end the process at
/// once with exit code 130.
void install_interrupts();
/// While one is alive an interrupt is only recorded. kSave: a second one ends the process. kWrite:
/// every one waits, so that temporary files are removed.
class DeferInterrupts {
 public:
  enum Why { kSave = 1, kWrite = 2 };
  explicit DeferInterrupts(Why why);
  ~DeferInterrupts();
  DeferInterrupts(const DeferInterrupts&) = delete;
  DeferInterrupts& operator=(const DeferInterrupts&) = delete;

 private:
  int before_;
};
/// Whether an interrupt was recorded.
bool interrupt_recorded();

}  // namespace symbind::program
