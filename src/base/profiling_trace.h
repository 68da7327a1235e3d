// The trace file: events in the JSON form that chrome://tracing and Perfetto read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/profiling.h"

namespace symbind::profiling {

struct Event {
  const Subject* subject = nullptr;
  /// X a span of a thread, b another span, C a counter, i an instant, M a thread's name
  char phase = 'X';
  char scope = 't';  ///< of an instant
  long thread = 0;
  std::int64_t start = 0, duration = 0;  ///< nanoseconds
  Cost cost = {};
  double value = 0;  ///< of a counter
};

/// The entries of a trace, one JSON object per line, commas between.
std::string trace_lines(const std::vector<Event>& events, long process);
/// The text before and after them. `dropped` events did not fit into memory.
std::string trace_head(long process);
std::string trace_tail(std::uint64_t dropped);

/// A trace on disk that grows: valid JSON after every append.
class TraceFile {
 public:
  /// Replaces whatever `path` held.
  void write(const std::string& path, const std::string& head, const std::string& lines,
             const std::string& tail);
  /// Appends lines to those written before to the same path. False if the file is not the one that
  /// was written: it was moved or shortened, or the path differs.
  bool append(const std::string& path, const std::string& lines, const std::string& tail);

 private:
  std::string path_;
  std::int64_t end_of_lines_ = 0;
};

}  // namespace symbind::profiling
