#pragma once
// Collects log lines while it lives.

#include <string>
#include <vector>

#include <symbind/log.h>

namespace symbind {

class CaptureLog {
 public:
  CaptureLog() {
    set_log_sink([this](LogLevel, std::string_view line) { lines_.emplace_back(line); });
  }
  ~CaptureLog() { set_log_sink({}); }
  CaptureLog(const CaptureLog&) = delete;
  CaptureLog& operator=(const CaptureLog&) = delete;
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

}  // namespace symbind
