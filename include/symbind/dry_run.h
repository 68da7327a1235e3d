#pragma once
// A dry run of a training: reports what a step costs and whether data, labels, metric and network
// fit together, without training.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <symbind/detail/executor_group.h>
#include <symbind/io.h>
#include <symbind/metric.h>

namespace symbind {

struct DryRunReport {
  std::int64_t parameters = 0,
               trained = 0;    ///< numbers in all weights, and in those with gradients
  std::int64_t auxiliary = 0;  ///< numbers in auxiliary states
  std::size_t weight_bytes = 0, gradient_bytes = 0;  ///< over all devices, as are those below
  std::size_t batch_bytes = 0;                       ///< inputs and outputs
  std::size_t arena_bytes = 0;                       ///< intermediates
  std::int64_t batch_size = 0;
  double seconds_per_step = 0;  ///< forward, backward, update and metric; the faster of two
  std::vector<std::pair<std::string, Shape>> outputs = {};
  std::vector<NameValue> train = {}, validation = {};  ///< the metric over the batch tried
  std::vector<std::string> notes = {};                 ///< what could not be tried or undone

  std::size_t total_bytes() const {
    return weight_bytes + gradient_bytes + batch_bytes + arena_bytes;
  }
  /// The report as readable text.
  std::string text() const;
};

/// The counts and bytes of these groups; shared memory is counted once.
DryRunReport measure(const std::vector<const ExecutorGroup*>& groups);

/// What `peek` calls: an iterator's methods.
struct PeekSource {
  std::function<bool()> next;  ///< fetches a batch that is not changed later
  std::function<void()> reset;
  std::function<std::optional<StateValue>()> state;
  std::function<void(const StateValue&)> set_state;
};
/// Fetches the next batch, or at the end of an epoch the first of the next, and restores the
/// iterator. An iterator without state is reset instead, and the note says so. kValue if there is
/// no batch.
std::optional<std::string> peek(const PeekSource& source);

/// What a dry run calls, over a copy of a module.
struct Trial {
  /// Fetches a batch and makes the copy ready to train.
  std::function<void()> begin;
  /// A step with that batch, over a metric that is reset first.
  std::function<void()> step;
  std::function<std::vector<const ExecutorGroup*>()> groups;
  std::function<std::vector<NameValue>()> train_values;
  /// The metric over a batch of the data to evaluate with; nothing without such data.
  std::function<std::vector<NameValue>()> evaluate;
  /// What could not be tried or undone.
  std::function<std::vector<std::string>()> notes;
};
/// Runs it and checks values as the setting SYMBIND_CHECK does. Restores the random state
/// afterwards.
DryRunReport try_training(const Trial& trial);

}  // namespace symbind
