// Callbacks that write machine-readable logs: event files, CSV, JSON lines.

#include <memory>

#include <fmt/format.h>

#include <symbind/callback.h>
#include <symbind/event_file.h>
#include <symbind/log_files.h>

#include "base/check.h"

namespace symbind {
namespace {

BatchEndCallback log_to(std::shared_ptr<LogFile> file, const FileLogOptions& o) {
  check(o.period > 0, "a log's period is {}; it counts batches and must be > 0", o.period);
  return [file = std::move(file), o](const BatchEndParam& p) {
    if (p.eval_metric == nullptr || p.nbatch % o.period != 0) return;
    file->write(
        {.phase = o.phase, .epoch = p.epoch, .nbatch = p.nbatch, .values = p.eval_metric->get()});
  };
}

}  // namespace

BatchEndCallback log_to_csv(const std::string& path, const FileLogOptions& options) {
  return log_to(make_csv_log(path), options);
}
BatchEndCallback log_to_jsonl(const std::string& path, const FileLogOptions& options) {
  return log_to(make_jsonl_log(path), options);
}

BatchEndCallback LogMetricsCallback(const std::string& logging_dir, const std::string& prefix) {
  return [file = std::make_shared<EventFile>(logging_dir), prefix](const BatchEndParam& p) {
    if (p.eval_metric == nullptr) return;
    for (const auto& [name, value] : p.eval_metric->get())
      file->add_scalar(prefix.empty() ? name : fmt::format("{}-{}", prefix, name), value, p.epoch);
  };
}

}  // namespace symbind
