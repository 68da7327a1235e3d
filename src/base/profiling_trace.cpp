#include "base/profiling_trace.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/files.h"

namespace symbind::profiling {
namespace {

// Names are user input: quotes, control characters and broken UTF-8 must not break the file.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string arguments(const Event& e) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", name, value);
  };
  const auto add_text = [&](const char* name, const std::string& value) {
    if (!value.empty()) add(name, quoted(value));
  };
  add_text("node", e.subject->node);
  add_text("kernel", e.subject->kernel);
  add_text("device", e.subject->device);
  add_text("shapes", e.subject->shapes);
  if (e.cost.flops >= 0) add("FLOPs", fmt::format("{:.0f}", e.cost.flops));
  if (e.cost.bytes >= 0) add("bytes", fmt::format("{:.0f}", e.cost.bytes));
  return text.empty() ? "" : ", \"args\": {" + text + "}";
}

double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

void append_event(std::string& text, const Event& e, long process, std::uint64_t number) {
  const auto common = [&](char phase, std::int64_t at) {
    return fmt::format(
        "{{\"name\": {}, \"cat\": {}, \"ph\": \"{}\", \"ts\": {:.3f}, \"pid\": {}, \"tid\": {}",
        quoted(e.subject->name), quoted(e.subject->category), phase, microseconds(at), process,
        e.thread);
  };
  switch (e.phase) {
    case 'X':
      text += common('X', e.start) +
              fmt::format(", \"dur\": {:.3f}{}}}", microseconds(e.duration), arguments(e));
      break;
    case 'b':
      text += common('b', e.start) + fmt::format(", \"id\": {}}},\n", number) +
              common('e', e.start + e.duration) + fmt::format(", \"id\": {}}}", number);
      break;
    case 'C':
      text += common('C', e.start) +
              fmt::format(", \"args\": {{{}: {:.0f}}}}}", quoted(e.subject->name), e.value);
      break;
    case 'i': text += common('i', e.start) + fmt::format(", \"s\": \"{}\"}}", e.scope); break;
    default:  // M
      text += fmt::format(
          "{{\"name\": \"thread_name\", \"ph\": \"M\", \"ts\": 0, \"pid\": {}, \"tid\": {}, "
          "\"args\": {{\"name\": {}}}}}",
          process, e.thread, quoted(e.subject->name));
  }
}

}  // namespace

std::string trace_lines(const std::vector<Event>& events, long process) {
  static std::atomic<std::uint64_t> numbers{0};
  std::string text;
  for (const Event& e : events) {
    if (!text.empty()) text += ",\n";
    append_event(text, e, process, ++numbers);
  }
  return text;
}

std::string trace_head(long process) {
  return fmt::format(
      "{{\"traceEvents\": [\n{{\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0, \"pid\": {}, "
      "\"tid\": 0, \"args\": {{\"name\": \"symbind\"}}}}",
      process);
}

std::string trace_tail(std::uint64_t dropped) {
  return fmt::format("\n],\n\"displayTimeUnit\": \"ms\", \"dropped\": {}}}\n", dropped);
}

void TraceFile::write(const std::string& path, const std::string& head, const std::string& lines,
                      const std::string& tail) {
  std::string text = head;
  if (!lines.empty()) text += ",\n" + lines;
  write_file_atomic(path, [&](FileWriter& file) {
    file.write(text);
    file.write(tail);
  });
  path_ = path;
  end_of_lines_ = static_cast<std::int64_t>(text.size());
}

// In place: earlier contents are neither read nor rewritten.
bool TraceFile::append(const std::string& path, const std::string& lines, const std::string& tail) {
  if (path != path_) return false;
  if (lines.empty()) return true;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  if (!file) return false;
  file.seekg(0, std::ios::end);
  if (file.tellg() < end_of_lines_) return false;
  file.seekp(end_of_lines_);
  const std::string text = ",\n" + lines;
  file << text << tail;
  file.flush();
  check(file.good(), ErrorKind::kIo, "the trace cannot be written to {}: {}", path,
        std::strerror(errno));
  end_of_lines_ += static_cast<std::int64_t>(text.size());
  return true;
}

}  // namespace symbind::profiling
