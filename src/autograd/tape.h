#pragma once
// The tape: a graph of the nodes that symbols are made of, each with what its gradient reads.
//
// Decided here: arrays hold their node, nodes hold the nodes they read, and no node holds an array
// that stands on the tape, so the tape lives as long as an array that leads to it and there are no
// cycles. Building and freeing go under one lock; arrays leave nodes under it and die behind it,
// since the memory of some belongs to an interpreter that may be waiting for the lock.

#include <atomic>
#include <mutex>

#include "graph/node.h"
#include "ndarray/recorder.h"
#include "passes/plan.h"

namespace symbind::autograd {

/// One output of a recorded node.
struct Saved {
  NDArray array;  ///< undefined where no gradient reads it
  TensorDesc desc;
  Context context;
  bool opaque = false;
};

struct TapeNode : Node {
  std::vector<Saved> outputs;
  std::string kernel;                 ///< that ran: only its namesake reads what is opaque
  std::shared_ptr<const void> state;  ///< of users' code, which may live as long as the node
  /// Of a constant that gradients read: it counts as recorded as long as a node that reads it is.
  std::weak_ptr<const void> readers;
  std::vector<std::shared_ptr<const void>> reads;  ///< the constants this node keeps so
  bool is_marked = false;
  GradReq req = GradReq::kNull;  ///< of a marked variable
  NDArray gradient;
  std::atomic<bool> freed{false};
};

/// Held while nodes are made, read or freed.
std::mutex& tape_guard();

/// The node an array stands on; null if on none, on one that was freed, or on a constant that
/// nothing recorded reads any more.
std::shared_ptr<const TapeNode> tape_node(const NDArray& array);

/// Whoever records puts this into thread_mode().
Recorder& tape();

/// A variable node over `array`, numbered behind `prefix`.
std::shared_ptr<TapeNode> make_leaf(const char* prefix, const NDArray& array, bool keep);

/// Forgets what nodes that are no variables hold; their arrays leave the tape.
void free_nodes(const std::vector<NodePtr>& nodes);

}  // namespace symbind::autograd
