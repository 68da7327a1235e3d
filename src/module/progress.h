#pragma once
// How far a training is, on stderr: a bar in a terminal, a line per epoch elsewhere.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <symbind/metric.h>

namespace symbind {

/// "accuracy 0.8721  cross-entropy 0.3512".
std::string values_text(const std::vector<NameValue>& values);

class Progress {
 public:
  struct Options {
    bool bar = false, lines = false;
    int epochs = 0;
    std::int64_t batch_size = 1;
    std::optional<std::int64_t> batches = {};  ///< of an epoch, if known; else as the first had
  };
  explicit Progress(Options options) : o_(options) {}

  /// An epoch begins, or resumes after `batches` batches.
  void begin(int epoch, int batches);
  /// Whether anything is shown.
  bool is_on() const { return o_.bar || o_.lines; }
  /// After `batches` batches of the epoch: whether the bar is to be redrawn now.
  bool is_due(int batches);
  void draw(int batches, const std::vector<NameValue>& values);
  /// After the last batch of the epoch.
  void trained(int batches, const std::vector<NameValue>& values);
  /// After its evaluation, if it had one: writes the epoch's line.
  void done(const std::vector<NameValue>& validation);
  /// Removes the bar.
  void end();

  /// Of this epoch so far; 0 before its second batch.
  double samples_per_second(int batches) const;
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string status(int batches, const std::vector<NameValue>& values) const;

  Options o_;
  int epoch_ = 0;
  int first_ = 0;  ///< batches done when measuring began; the first may include binding
  bool measuring_ = false;
  Clock::time_point begin_{}, drawn_{};
  double trained_seconds_ = 0, speed_ = 0;
  std::vector<NameValue> values_;
};

}  // namespace symbind
