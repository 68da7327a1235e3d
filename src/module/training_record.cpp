// Decided here: where INFO lines are logged they report the epochs, and no others are written; a
// bar is drawn in a terminal unless the caller's own log writes there. A report that cannot be
// written is a warning: it does not end a training.

#include "module/training_record.h"

#include <algorithm>
#include <filesystem>

#include <symbind/terminal.h>

#include "base/files.h"
#include "base/profiling.h"
#include "base/settings.h"

namespace symbind {
namespace {

Progress::Options progress_options(Training& training, const SessionOptions& o) {
  using Display = Training::Display;
  const bool wanted = o.progress.value_or(settings::flag("SYMBIND_PROGRESS"));
  const Display display = o.progress ? Display::kFree : training.display();
  return {.bar = wanted && is_terminal() && display != Display::kForeignLog,
          .lines = wanted && display == Display::kFree,
          .epochs = o.num_epoch,
          .batch_size = training.batch_size(),
          .batches = training.batches_per_epoch()};
}

}  // namespace

TrainingRecord::TrainingRecord(Training& training, const SessionOptions& options)
    : training_(training),
      run_(options.run.value_or(RunOptions{})),
      progress_(progress_options(training, options)) {
  if (!options.run) return;
  folder_ = std::make_unique<RunFolder>(run_);
  if (const std::string aside = folder_->open(run_.restart); !aside.empty())
    training.info("the former run is now " + aside);
}

TrainingRecord::~TrainingRecord() {
  time_steps(false);
  progress_.end();
}

void TrainingRecord::begin(bool resumed) {
  if (!folder_) return;
  if (!resumed) {  // what a run without a checkpoint logged does not count
    std::error_code ignored;
    std::filesystem::remove(folder_->log_path(), ignored);
  }
  report_.begin(training_, run_);
  const std::string config = run_.config.empty() ? report_.config_text() : run_.config;
  report_.set_config(config);
  write_file_atomic(folder_->config_path(), [&](FileWriter& file) { file.write(config); });
  log_ = make_jsonl_log(folder_->log_path());
}

void TrainingRecord::begin_epoch(int epoch, int batches) {
  epoch_ = epoch;
  progress_.begin(epoch, batches);
}

void TrainingRecord::after_batch(int batches) {
  if (folder_) {
    if (timing_) ++timed_;
    time_steps(batches > 1 && timed_ < 10);  // the first batch prepares much
    if (run_.log_every > 0 && batches % run_.log_every == 0)
      write_log("interval", batches, training_.metric_values());
  }
  if (progress_.is_due(batches)) progress_.draw(batches, training_.metric_values());
}

void TrainingRecord::after_batches(int epoch, int batches) {
  time_steps(false);
  epoch_ = epoch;
  if (!folder_ && !progress_.is_on()) return;
  const std::vector<NameValue> values = training_.metric_values();
  progress_.trained(batches, values);
  if (folder_) write_log("train", batches, values);
}

void TrainingRecord::after_epoch(const std::vector<NameValue>& values, bool evaluated) {
  progress_.done(evaluated ? values : std::vector<NameValue>());
  if (!folder_) return;
  if (evaluated) log_->write({"validation", epoch_, 0, values});
  write_report("training");
}

void TrainingRecord::write_log(const char* phase, int batches, std::vector<NameValue> values) {
  if (const auto networks = training_.networks(); !networks.empty())
    values.emplace_back("learning_rate", networks.front()->optimizer().learning_rate());
  values.emplace_back("samples_per_second", progress_.samples_per_second(batches));
  values.emplace_back("seconds", progress_.seconds());
  log_->write({phase, epoch_, batches, values});
}

void TrainingRecord::end(const std::string& why) {
  if (is_over_) return;
  is_over_ = true;
  progress_.end();
  if (!folder_) return;
  try {
    report_.measure(training_);
  } catch (const Error& e) {
    training_.warn(std::string("the report has no confusion matrix: ") + e.what());
  }
  write_report(why.empty() ? "complete" : "complete: " + why);
}

void TrainingRecord::fail(const std::string& error) {
  if (is_over_) return;
  is_over_ = true;
  time_steps(false);
  progress_.end();
  if (folder_ && log_) write_report("stopped", error);
}

void TrainingRecord::write_report(const std::string& state, const std::string& error) {
  try {
    report_.write(*folder_, training_, state, error);
  } catch (const std::exception& e) {
    training_.warn(std::string("the report was not written: ") + e.what());
  }
}

void TrainingRecord::time_steps(bool on) {
  if (on == timing_) return;
  timing_ = on;
  profiling::set_times(on);
}

}  // namespace symbind
