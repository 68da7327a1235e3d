#pragma once
// Logs of a training that programs read: a line for every event, in CSV or in JSON.
//
// A line is written in one piece and is there when the call returns. A log that exists is
// continued: a last line that a crash cut short is taken off first, and a CSV's columns must be the
// same.

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace symbind {

/// One event: where the training stands and what was measured.
struct LogEvent {
  std::string phase = "train";  ///< "train", "validation", or what the user says
  int epoch = 0;
  int nbatch = 0;
  std::vector<std::pair<std::string, double>> values;
};

class LogFile {
 public:
  virtual ~LogFile() = default;
  /// Appends a line. A full disk is a warning, once: it does not end a training.
  virtual void write(const LogEvent& event) = 0;
};

/// `time,phase,epoch,nbatch,<names>` with those names as the first line; an event with others
/// throws (kValue). `path` must be a file of this kind, or none.
std::unique_ptr<LogFile> make_csv_log(const std::string& path);
/// {"time": …, "phase": …, "epoch": …, "nbatch": …, "<name>": …} in each line; numbers that are not
/// finite are the texts "nan", "inf" and "-inf".
std::unique_ptr<LogFile> make_jsonl_log(const std::string& path);

}  // namespace symbind
