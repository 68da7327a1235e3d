#pragma once

#include "graph/node.h"

namespace symbind {

struct Schedule {
  std::vector<NodePtr> order;  ///< inputs before users; the forward phase first
  std::size_t num_forward = 0;
};

/// Needs: the heads of the forward graph and the gradients. Produces: the order of execution.
Schedule schedule(const NodeEntries& outputs, const NodeEntries& gradients);

}  // namespace symbind
