// CSV and JSONL logs.

#include <symbind/log_files.h>

#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "base/append_file.h"
#include "base/check.h"

namespace symbind {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{}", value);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string json_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      quoted += c;
  }
  return quoted + "\"";
}

/// The last line of a file if it has no newline: truncated by a crash.
std::string torn_line(const std::string& contents) {
  return contents.substr(contents.rfind('\n') + 1);
}

class CsvLog : public LogFile {
 public:
  explicit CsvLog(const std::string& path) : file_(path, AppendFile::Open::kContinue) {
    const std::string contents = file_.contents();
    const std::size_t end = contents.find('\n');
    const bool ours = contents.starts_with(kStart) ||
                      (end == contents.npos && std::string_view(kStart).starts_with(contents));
    check(ours, ErrorKind::kIo,
          "{} is not a log of this kind: its first line does not begin with '{}'\n  fix:  give "
          "another path, or move the file away",
          path, kStart);
    if (end != contents.npos) header_ = contents.substr(0, end);
    const std::string torn = torn_line(contents);
    if (!torn.empty()) file_.truncate(contents.size() - torn.size());
  }

  void write(const LogEvent& event) override {
    std::string header = kStart;
    for (const auto& [name, value] : event.values) header += "," + csv_cell(name);
    if (header_.empty()) {
      file_.append(header + "\n");
      header_ = header;
    }
    check(header == header_, ErrorKind::kValue,
          "{} has the columns '{}', but an event has '{}'\n  fix:  log each phase to a separate "
          "file, or use JSON lines",
          file_.path(), header_, header);
    std::string line =
        fmt::format("{:.6f},{},{},{}", now(), csv_cell(event.phase), event.epoch, event.nbatch);
    for (const auto& [name, value] : event.values) line += "," + number(value);
    file_.append(line + "\n");
  }

 private:
  static constexpr const char* kStart = "time,phase,epoch,nbatch";
  AppendFile file_;
  std::string header_;
};

class JsonLinesLog : public LogFile {
 public:
  explicit JsonLinesLog(const std::string& path) : file_(path, AppendFile::Open::kContinue) {
    const std::string contents = file_.contents();
    const std::string torn = torn_line(contents);
    check(contents.empty() || contents.front() == '{', ErrorKind::kIo,
          "{} is not a log of this kind: its first line is not a JSON object\n  fix:  give another "
          "path, "
          "or move the file away",
          path);
    if (!torn.empty()) file_.truncate(contents.size() - torn.size());
  }

  void write(const LogEvent& event) override {
    std::string line =
        fmt::format("{{\"time\": {:.6f}, \"phase\": {}, \"epoch\": {}, \"nbatch\": {}", now(),
                    json_text(event.phase), event.epoch, event.nbatch);
    for (const auto& [name, value] : event.values) {
      line += fmt::format(", {}: {}", json_text(name),
                          std::isfinite(value) ? number(value) : "\"" + number(value) + "\"");
    }
    file_.append(line + "}\n");
  }

 private:
  AppendFile file_;
};

}  // namespace

std::unique_ptr<LogFile> make_csv_log(const std::string& path) {
  return std::make_unique<CsvLog>(path);
}
std::unique_ptr<LogFile> make_jsonl_log(const std::string& path) {
  return std::make_unique<JsonLinesLog>(path);
}

}  // namespace symbind
