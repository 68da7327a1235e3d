#pragma once
// What the workers of a distributed training do together besides summing gradients.

#include <optional>
#include <string>
#include <vector>

#include <symbind/checkpoint.h>
#include <symbind/detail/training_session.h>
#include <symbind/detail/workers.h>

namespace symbind {

/// Checks that all workers train the same networks, and gives them the parameters of worker 0.
void begin_together(Workers& workers, Training& training);
/// The parameters become their mean over the workers, as over devices.
void average_params(Workers& workers, Training& training, int epoch, int batches);
/// Those of worker 0, on which all base their decisions.
std::vector<NameValue> values_of_first(Workers& workers, const std::vector<NameValue>& values);
std::optional<std::string> stop_of_first(Workers& workers, const std::optional<std::string>& why);
std::string text_of_first(Workers& workers, const std::string& what, const std::string& text);

/// Adds the facts of every worker to the state that worker 0 saves.
void gather_facts(Workers& workers, TrainingState& state);
/// Makes the facts of a loaded state those of this worker. A state of another number of workers
/// fits only between two epochs; then facts that belong to a worker are dropped.
void take_own_facts(Workers* workers, int rank, TrainingState& state);

}  // namespace symbind
