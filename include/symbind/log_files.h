#pragma once
// Machine-readable training logs: a line per event, in CSV or in JSON.
//
// A line is written in one piece before the call returns. An existing log is continued: a last line
// truncated by a crash is removed first, and a CSV's columns must be the same.

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace symbind {

/// One event: the progress of the training and what was measured.
struct LogEvent {
  std::string phase = "train";  ///< "train", "validation", or the caller's text
  int epoch = 0;
  int nbatch = 0;
  std::vector<std::pair<std::string, double>> values;
};

class LogFile {
 public:
  virtual ~LogFile() = default;
  /// Appends a line. A full disk causes one warning; it does not end a training.
  virtual void write(const LogEvent& event) = 0;
};

/// `time,phase,epoch,nbatch,<names>` with those names as the first line; an event with other names
/// throws (kValue). `path` must be a file of this kind or not exist.
std::unique_ptr<LogFile> make_csv_log(const std::string& path);
/// {"time": …, "phase": …, "epoch": …, "nbatch": …, "<name>": …} in each line; numbers that are not
/// finite are the texts "nan", "inf" and "-inf".
std::unique_ptr<LogFile> make_jsonl_log(const std::string& path);

}  // namespace symbind
