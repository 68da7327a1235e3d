#pragma once
// Runs a gradient graph over recorded arrays, node by node, each with the kernel that `invoke`
// would choose.

#include <unordered_map>

#include "autograd/tape.h"

namespace symbind::autograd {

/// The contents of the recorded nodes when backward began; another thread may free them meanwhile.
struct Snapshot {
  NodePtr node;  ///< a recorded one
  NodeEntries inputs;
  std::vector<Saved> outputs;
  std::string kernel;
  std::shared_ptr<const void> state;
};
using Snapshots = std::unordered_map<const Node*, Snapshot>;

/// The nodes that have to run for the entries, in order. It reads recorded nodes, so the caller
/// holds the tape's lock.
std::vector<NodePtr> steps_of(const NodeEntries& wanted, const Snapshots& recorded);

class GradientRun {
 public:
  explicit GradientRun(const Snapshots& recorded) : recorded_(recorded) {}

  /// Sets a variable of the gradient graph: a head gradient.
  void set(const Node* variable, NDArray value) { values_[variable] = {std::move(value)}; }
  /// The values of the entries, in order; undefined for an empty entry. While the thread records,
  /// they are recorded.
  std::vector<NDArray> run(const NodeEntries& wanted, const std::vector<NodePtr>& steps);

 private:
  Saved input(const NodeEntry& entry) const;
  void run_node(const Node& node);
  bool copy_between_devices(const Node& node, const std::vector<Saved>& in);
  void drop_inputs(const Node& node);

  const Snapshots& recorded_;
  std::unordered_map<const Node*, std::vector<NDArray>> values_;
  std::unordered_map<const Node*, std::vector<int>> readers_;  ///< by output, those still to come
};

}  // namespace symbind::autograd
