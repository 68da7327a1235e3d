#pragma once
// A training tried out: what a step costs and whether data, labels, metric and network fit, before
// anything is trained.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <symbind/executor_group.h>
#include <symbind/io.h>
#include <symbind/metric.h>

namespace symbind {

struct DryRunReport {
  std::int64_t parameters = 0,
               trained = 0;    ///< numbers in all weights, and in those with gradients
  std::int64_t auxiliary = 0;  ///< numbers in auxiliary states
  std::size_t weight_bytes = 0, gradient_bytes = 0;  ///< over all devices, as are those below
  std::size_t batch_bytes = 0;                       ///< inputs and outputs
  std::size_t arena_bytes = 0;                       ///< everything in between
  std::int64_t batch_size = 0;
  double seconds_per_step = 0;  ///< forward, backward, update and metric; the better of two
  std::vector<std::pair<std::string, Shape>> outputs = {};
  std::vector<NameValue> train = {}, validation = {};  ///< the metric over the batch tried
  std::vector<std::string> notes = {};                 ///< what could not be tried, or not undone

  std::size_t total_bytes() const {
    return weight_bytes + gradient_bytes + batch_bytes + arena_bytes;
  }
  /// All of it, for people.
  std::string text() const;
};

/// The counts and bytes of these groups; shared memory is counted once.
DryRunReport measure(const std::vector<const ExecutorGroup*>& groups);

/// The next batch, or at the end of an epoch the first of the next, after which the iterator stands
/// where it stood. One that cannot say where it stands is reset instead: false, and `note` says so.
/// kValue if there is no batch.
bool peek(DataIter& iterator, DataBatch& batch, std::string& note);

/// While it lives values are checked as with the setting SYMBIND_CHECK.
class CheckedValues {
 public:
  CheckedValues();
  ~CheckedValues();
  CheckedValues(const CheckedValues&) = delete;
  CheckedValues& operator=(const CheckedValues&) = delete;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

}  // namespace symbind
