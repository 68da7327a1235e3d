#pragma once
// Graphs of convolution nets drawn at random: branches, joins, shared tensors, several heads.

#include <symbind/executor.h>

#include "tests/support/host_tensor.h"

namespace symbind {

struct RandomGraph {
  Symbol symbol;
  ShapeMap shapes;  ///< of the data
};
/// Equal seeds draw equal graphs.
RandomGraph random_graph(std::uint64_t seed);

/// What a run of a graph leaves, by name: outputs, gradients, states.
using Values = std::map<std::string, HostTensor>;
/// Loads formula numbers into all arrays (`scale` times them into the data), then forward,
/// backward.
Values train_once(Executor& executor, double scale = 1);

}  // namespace symbind
