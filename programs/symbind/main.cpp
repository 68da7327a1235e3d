// symbind: train, evaluate and look into networks from the command line.
//
// Decided here: exit codes (0 ok, 1 the work failed, 2 wrong usage, 130 interrupted), one line per
// error on stderr, and with --json one document on stdout in every case.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include <symbind/interrupt.h>
#include <symbind/log.h>
#include <symbind/runtime.h>

#include "program.h"

namespace symbind::program {
namespace {

struct Command {
  std::function<Result()> run;
  bool json = false;
};

std::map<std::string, Command>& commands() {
  static std::map<std::string, Command> all;
  return all;
}

void print_stdout(const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return;
  const std::string reason = std::generic_category().message(errno);
  std::fclose(stdout);  // nothing more is tried at exit
  fail(ErrorKind::kIo, "cannot write to stdout: " + reason + "; free space or use another file");
}

int report(const std::string& command, const std::string& message, int code, bool json) {
  write_line(fmt::format("symbind{}{}: {}", command.empty() ? "" : " ", command, message));
  if (!json) return code;
  const Json document = {{"command", command}, {"error", message}, {"exit_code", code}};
  try {
    print_stdout(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const std::exception&) {
    return kFailed;
  }
  return code;
}

/// Breaks descriptions into lines, so that help fits 80 columns.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kNames); }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(CLI::Formatter::make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream out;
    CLI::detail::format_help(out, "  " + command->get_name(), wrapped(command->get_description()),
                             kNames);
    return out.str();
  }

 private:
  static constexpr std::size_t kNames = 30, kText = 50;
  static std::string wrapped(const std::string& text) {
    std::string result, line;
    for (const std::string& word : split_list(text, ' ')) {
      if (!line.empty() && line.size() + 1 + word.size() > kText) {
        result += line + "\n";
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    }
    return result + line;
  }
};

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
  }
  return flags;
}

/// CLI11's reason, unless a command or flag is unknown: then the nearest one.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error, int argc,
                          char** argv) {
  const auto chosen = app.get_subcommands();
  const CLI::App& where = chosen.empty() ? app : *chosen.front();
  const std::string help =
      fmt::format("; see symbind{} --help", chosen.empty() ? "" : " " + where.get_name());
  const std::vector<std::string> flags = flags_of(where);
  bool first = true;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], flag = word.substr(0, word.find('='));
    if (word == "--") break;
    if (word.starts_with("--") && std::ranges::find(flags, flag) == flags.end())
      return fmt::format("unknown flag '{}'{}{}", flag, nearest_hint(flag, flags), help);
    if (first && chosen.empty() && !word.starts_with('-')) {
      std::vector<std::string> names;
      for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
      return fmt::format("unknown command '{}'{}{}", word, nearest_hint(word, names), help);
    }
    first = false;
  }
  return one_line(error.what()) + help;
}

int run_command(const std::string& name, const Command& command) {
  try {
    const Result result = command.run();
    draw_status("");
    std::string text = result.text;
    if (command.json)
      text = result.document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    print_stdout(text);
    return result.exit_code;
  } catch (const UsageError& error) {
    return report(name, one_line(error.what()) + "; see symbind " + name + " --help", kUsage,
                  command.json);
  } catch (const Interrupted&) {
    return report(name, "interrupted", kInterrupted, command.json);
  } catch (const std::bad_alloc&) {
    return report(name, "out of memory; use a smaller batch size or less data", kFailed,
                  command.json);
  } catch (const std::exception& error) {
    return report(name, one_line(error.what()), kFailed, command.json);
  }
}

bool has_flag(int argc, char** argv, std::string_view flag) {
  for (int i = 1; i < argc; ++i)
    if (argv[i] == flag) return true;
  return false;
}

int run(int argc, char** argv) {
  CLI::App app("Trains, evaluates, converts and inspects networks of MXNet 1.x.", "symbind");
  app.set_version_flag("--version", "symbind " + version());
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(
      "Exit codes: 0 ok, 1 the work failed, 2 wrong usage, 130 interrupted.\n"
      "Example:\n"
      "  symbind train --network lenet --data fashion-mnist --epochs 3 --run first");
  add_train(app);
  add_eval(app);
  add_predict(app);
  add_inspect(app);
  add_convert(app);
  add_explain(app);
  add_doctor(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text, unused;
    app.exit(success, text, unused);
    print_stdout(text.str());
    return kOk;
  } catch (const CLI::ParseError& error) {
    if (argc == 1) {
      write_line(app.help());
      return kUsage;
    }
    const auto chosen = app.get_subcommands();
    return report(chosen.empty() ? "" : chosen.front()->get_name(),
                  usage_message(app, error, argc, argv), kUsage, has_flag(argc, argv, "--json"));
  }
  const std::string name = app.get_subcommands().front()->get_name();
  return run_command(name, commands().at(name));
}

}  // namespace

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& summary,
                      const std::string& example) {
  CLI::App* command = app.add_subcommand(name, summary);
  command->footer("Exit codes: 0 ok, 1 the work failed, 2 wrong usage, 130 interrupted.\n" +
                  std::string("Example:\n") + example);
  command->add_flag("--json", commands()[name].json, "Print one JSON document on stdout");
  return command;
}

void on_run(CLI::App* command, std::function<Result()> run) {
  commands()[command->get_name()].run = std::move(run);
}

}  // namespace symbind::program

int main(int argc, char** argv) {
  using namespace symbind;
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit becomes a write error with a message
  program::install_interrupts();
  set_log_sink([](LogLevel level, std::string_view text) {
    if (level < LogLevel::kWarning) return;
    const char* kind = level == LogLevel::kWarning ? "warning: " : "error: ";
    write_line(kind + program::one_line(text));
  });
  try {
    return program::run(argc, argv);
  } catch (const std::exception& error) {
    write_line(std::string("symbind: ") + program::one_line(error.what()));
    return program::kFailed;
  }
}
