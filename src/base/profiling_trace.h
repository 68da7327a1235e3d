// The trace file: events in the JSON form that chrome://tracing and Perfetto read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/profiling.h"

namespace symbind::profiling {

struct Event {
  const Subject* subject = nullptr;
  /// X a stretch of a thread, b another stretch, C a counter, i a moment, M a thread's name
  char phase = 'X';
  char scope = 't';  ///< of a moment
  long thread = 0;
  std::int64_t start = 0, duration = 0;  ///< nanoseconds
  Cost cost = {};
  double value = 0;  ///< of a counter
};

/// The entries of a trace, one JSON object per line, commas between.
std::string trace_lines(const std::vector<Event>& events, long process);
/// What stands around them. `dropped` events did not fit into memory.
std::string trace_head(long process);
std::string trace_tail(std::uint64_t dropped);

/// A trace on disk that grows: valid JSON after every append.
class TraceFile {
 public:
  /// Replaces whatever `path` held.
  void write(const std::string& path, const std::string& head, const std::string& lines,
             const std::string& tail);
  /// Adds lines behind those written before to the same path. False where the file is not the one
  /// that was written: it was moved or shortened, or the path is another one.
  bool append(const std::string& path, const std::string& lines, const std::string& tail);

 private:
  std::string path_;
  std::int64_t end_of_lines_ = 0;
};

}  // namespace symbind::profiling
