#pragma once
// How far a training is: a bar in a terminal, one line per epoch elsewhere, both on stderr.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <symbind/metric.h>

#include "program.h"

namespace symbind::program {

/// "accuracy 0.8721  cross-entropy 0.3512".
std::string values_text(const std::vector<NameValue>& values);
/// "1:02:03", "0:07".
std::string clock_text(double seconds);

class Progress {
 public:
  Progress(int epochs, std::int64_t batches, std::int64_t batch_size)
      : epochs_(epochs), batches_(batches), batch_size_(batch_size) {}

  /// After batch `number` (from 0) of an epoch (from 0).
  void batch(int epoch, int number, const std::vector<NameValue>& values);
  /// After an epoch, before it is validated.
  void epoch_trained(int epoch, const std::vector<NameValue>& values);
  void epoch_validated(const std::vector<NameValue>& values);
  /// Prints the line of an epoch that is complete.
  void epoch_done();

  double samples_per_second() const { return samples_per_second_; }
  double epoch_seconds() const { return epoch_seconds_; }
  const std::vector<NameValue>& train_values() const { return train_; }
  const std::vector<NameValue>& validation_values() const { return validation_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::string status(int epoch, int number, const std::vector<NameValue>& values) const;

  int epochs_;
  std::int64_t batches_, batch_size_;
  int epoch_ = -1;
  bool has_line_ = false;
  Clock::time_point begin_{}, drawn_{};
  int first_batch_ = 0;
  double samples_per_second_ = 0, epoch_seconds_ = 0;
  std::vector<NameValue> train_, validation_;
};

}  // namespace symbind::program
