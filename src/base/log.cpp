// Decided here: a sink is called without our lock on the sink held, so that it may log or replace
// the sink; calls are made one at a time through a second, recursive lock.
#include "base/log_sink.h"

#include <memory>
#include <mutex>
#include <new>
#include <string>

#include <symbind/terminal.h>

namespace symbind {
namespace {

struct Output {
  std::mutex guard;               // of `sink`
  std::recursive_mutex one_call;  // held while a message is delivered
  std::shared_ptr<const LogSink> sink;
};

// Never destroyed: messages may come from other threads and destructors while the process ends.
Output& output() {
  static Output* const the_output = new Output;
  return *the_output;
}

void write_to_stderr(LogLevel level, std::string_view text) noexcept {
  const char* prefix = "";
  if (level == LogLevel::kWarning) prefix = "warning: ";
  if (level == LogLevel::kError) prefix = "error: ";
  try {
    write_line(std::string(prefix).append(text));
  } catch (const std::bad_alloc&) {
    write_line(text);
  }
}

}  // namespace

void set_log_sink(LogSink sink) {
  auto next = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  std::lock_guard lock(output().guard);
  output().sink.swap(next);
}

bool has_log_sink() {
  std::lock_guard lock(output().guard);
  return output().sink != nullptr;
}

void log_message(LogLevel level, std::string_view text) noexcept {
  try {
    std::shared_ptr<const LogSink> sink;
    {
      std::lock_guard lock(output().guard);
      sink = output().sink;
    }
    std::lock_guard lock(output().one_call);
    if (sink) {
      (*sink)(level, text);
      return;
    }
  } catch (...) {
    // fall through: a message is never lost and never throws
  }
  write_to_stderr(level, text);
}

}  // namespace symbind
