#pragma once
// What a training is made of, as plain data and back: the words TrainingState::facts is written in.
// fit puts them together; both fits do, the C++ one and Python's.

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
StateValue optimizer_facts(Optimizer& optimizer);
/// kValue unless `facts` are of the same class of optimizer and scheduler.
void check_optimizer_facts(const Optimizer& optimizer, const StateValue& facts,
                           const std::string& source);
/// Takes them. Hyper-parameters that were others are named in a warning: the checkpoint's count.
void set_optimizer_facts(Optimizer& optimizer, const StateValue& facts, const std::string& source);

/// The sums of a metric and of those within it.
StateValue metric_facts(const EvalMetric& metric);
/// Takes them; false, and nothing changes, if they are of another metric.
bool set_metric_facts(EvalMetric& metric, const StateValue& facts);

/// What the devices hold that the parameters do not say: arrays that differ from them (each device
/// has its own moving averages), states, and gradients that add up.
StateValue device_facts(const ExecutorGroup& group, const NDArrayMap& args, const NDArrayMap& aux);
void set_device_facts(ExecutorGroup& group, const StateValue& facts);

/// Which kernels the plans of a group chose: a fingerprint and how often each occurs; with the
/// number of threads, on which some choices and sums depend.
StateValue kernel_facts(const ExecutorGroup& group);
/// Warns when they are others than those of a checkpoint: bits may differ then.
void compare_kernel_facts(const StateValue& now, const StateValue& saved);

/// States by key as plain data, with arrays of their own.
StateValue states_facts(const std::map<Key, OptimizerState>& states);
/// kValue unless the bytes of a .states file fit these weights: lists keys that have none and
/// arrays of other shapes.
void check_states(const StateValue& states, const std::map<Key, NDArray>& weights,
                  const std::string& source);
/// kValue unless the parameters are exactly those needed: lists what is missing, extra, misshaped.
void check_resumed_params(const TrainingState& state, const NDArrayMap& args,
                          const NDArrayMap& aux);

}  // namespace symbind
