#pragma once
// A run: a training that is recorded in its own folder, with settings, log, checkpoints and a
// report.

#include <optional>
#include <string>

#include <symbind/checkpoint.h>

namespace symbind {

struct RunOptions {
  std::string name;             ///< letters, digits, '.', '_' and '-'
  std::string folder = "runs";  ///< of all runs
  bool restart = false;     ///< train from scratch; a former run is renamed to NAME.1, NAME.2, …
  int log_every = 0;        ///< batches between two lines of the log; 0: lines per epoch only
  std::string config = {};  ///< text of config.toml; empty: what fit was given
};

/// The folder of a run: config.toml, log.jsonl, report.html and the checkpoints model-*.
class RunFolder {
 public:
  /// Checks the name; creates nothing.
  explicit RunFolder(const RunOptions& options);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string prefix() const { return path_ + "/model"; }
  std::string log_path() const { return path_ + "/log.jsonl"; }
  std::string config_path() const { return path_ + "/config.toml"; }
  std::string report_path() const { return path_ + "/report.html"; }
  /// The newest checkpoint, if there is one.
  std::optional<CheckpointInfo> newest() const;

  /// Creates the folder and locks it until this is destroyed; kState if another process trains in
  /// it. `restart` renames a former run first. Returns its new name, or nothing.
  std::string open(bool restart);

 private:
  void lock();
  bool has_files() const;
  std::string path_;
  int lock_ = -1;
};

}  // namespace symbind
