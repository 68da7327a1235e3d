#pragma once
// Converts the parts of a training to plain data (TrainingState::facts) and back. Used by both
// fits, the C++ one and Python's.

#include <map>

#include <symbind/checkpoint.h>
#include <symbind/detail/executor_group.h>
#include <symbind/detail/key.h>
#include <symbind/optimizer.h>

namespace symbind {

/// The generators of all devices.
StateValue random_facts();
void set_random_facts(const StateValue& facts);

/// Class, hyper-parameters, multipliers, counts of updates, and the scheduler with its own.
StateValue optimizer_config(Optimizer& optimizer);
/// kValue unless `facts` are from the same class of optimizer and scheduler.
void check_optimizer_config(const Optimizer& optimizer, const StateValue& facts,
                            const std::string& source);
/// Restores them. A warning names hyper-parameters that differ: the checkpoint's values win.
void set_optimizer_config(Optimizer& optimizer, const StateValue& facts, const std::string& source);

/// The sums of a metric and of those within it.
StateValue metric_facts(const EvalMetric& metric);
/// Restores them; returns false and changes nothing if they are from another metric.
bool set_metric_facts(EvalMetric& metric, const StateValue& facts);

/// Device state beyond the parameters: arrays that differ from them (each device has its own moving
/// averages), states, and gradients that add up.
StateValue device_facts(const ExecutorGroup& group, const NDArrayMap& args, const NDArrayMap& aux);
void set_device_facts(ExecutorGroup& group, const StateValue& facts);

/// Which kernels the plans of a group chose: a fingerprint and how often each occurs; with the
/// number of threads, on which some choices and sums depend.
StateValue kernel_facts(const ExecutorGroup& group);
/// Warns if they differ from those of a checkpoint: results may then differ in their last bits.
void compare_kernel_facts(const StateValue& now, const StateValue& saved);

/// States by key as plain data, with copied arrays.
StateValue states_facts(const std::map<Key, OptimizerState>& states);
/// kValue unless the bytes of a .states file fit these weights: lists keys that have none and
/// arrays of other shapes.
void check_states(const StateValue& states, const std::map<Key, NDArray>& weights,
                  const std::string& source);
/// kValue unless the parameters are exactly those needed: lists what is missing, extra, misshaped.
void check_resumed_params(const TrainingState& state, const NDArrayMap& args,
                          const NDArrayMap& aux);

}  // namespace symbind
