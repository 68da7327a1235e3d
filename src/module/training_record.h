#pragma once
// What people see of a training: the progress display, and with a run its log and its report.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <symbind/detail/training_session.h>
#include <symbind/log_files.h>
#include <symbind/run.h>

#include "module/progress.h"
#include "module/run_report.h"

namespace symbind {

class TrainingRecord {
 public:
  /// Opens the run, if there is one.
  TrainingRecord(Training& training, const SessionOptions& options);
  ~TrainingRecord();
  /// The folder of the run, or null.
  const RunFolder* folder() const { return folder_.get(); }
  /// The training begins, or resumes: the log of a run is opened, its config.toml written.
  void begin(bool resumed);

  void begin_epoch(int epoch, int batches);
  /// After the callbacks of a batch; `batches` of the epoch are done.
  void after_batch(int batches);
  void after_batches(int epoch, int batches);
  /// `values`: of the evaluation if there was one.
  void after_epoch(const std::vector<NameValue>& values, bool evaluated);
  /// The training is complete; `why` if a callback ended it early.
  void end(const std::string& why);
  /// It ends with an error.
  void fail(const std::string& error);

 private:
  void write_log(const char* phase, int batches, std::vector<NameValue> values);
  void write_report(const std::string& state, const std::string& error = {});
  void time_steps(bool on);

  Training& training_;
  const RunOptions run_;
  std::unique_ptr<RunFolder> folder_;
  std::unique_ptr<LogFile> log_;
  RunReport report_;
  Progress progress_;
  int epoch_ = 0;
  int timed_ = 0;  ///< steps whose kernels were timed
  bool timing_ = false, is_over_ = false;
};

}  // namespace symbind
