#pragma once
// runs/NAME: config.toml, log.jsonl, checkpoints model-*, and later report.html.

#include <optional>
#include <string>

#include <symbind/checkpoint.h>

#include "config.h"

namespace symbind::program {

class RunFolder {
 public:
  /// Checks the name and reads what is there; nothing is created yet.
  RunFolder(const std::string& runs, const std::string& name);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string prefix() const { return path_ + "/model"; }
  std::string log_path() const { return path_ + "/log.jsonl"; }
  std::string config_path() const { return path_ + "/config.toml"; }
  /// The newest checkpoint, if there is one.
  std::optional<CheckpointInfo> newest() const;
  /// The config of the run that has a checkpoint.
  std::optional<Config> saved_config() const;

  /// Creates the folder and holds its lock until this is destroyed; kState if another process
  /// trains in it.
  void open();
  /// Renames the folder of a former run to NAME.1, NAME.2, …; the new name, empty if there was
  /// none. Call open() first: the lock moves along and is taken again.
  std::string set_aside();

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace symbind::program
