#pragma once
// The tape: a graph of the same nodes as symbols have, each with the arrays its gradient reads.
//
// Decided here: arrays hold their node, nodes hold the nodes they read, and no node holds an array
// that is on the tape. So the tape exists as long as an array computed by it, and there are no
// cycles. One lock guards building and freeing. Arrays are removed from nodes under the lock and
// freed after it, because the memory of some belongs to an interpreter that may be waiting for the
// lock.

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
  std::string kernel;                 ///< that ran: only it can read opaque outputs
  std::shared_ptr<const void> state;  ///< of user code, kept as long as the node
  /// Of a constant that gradients read: it counts as recorded as long as a node that reads it
  /// exists.
  std::weak_ptr<const void> readers;
  std::vector<std::shared_ptr<const void>> reads;  ///< the constants this node keeps recorded
  bool is_marked = false;
  GradReq req = GradReq::kNull;  ///< of a marked variable
  NDArray gradient;
  std::atomic<bool> freed{false};
};

/// Held while nodes are made, read or freed.
std::mutex& tape_guard();

/// The node of an array; null if there is none, if it was freed, or if it is a constant that no
/// recorded node reads any more.
std::shared_ptr<const TapeNode> tape_node(const NDArray& array);

/// Recording sets this in thread_mode().
Recorder& tape();

/// A variable node for `array`, named `prefix` plus a number.
std::shared_ptr<TapeNode> make_leaf(const char* prefix, const NDArray& array, bool keep);

/// Clears all nodes but variables; their arrays leave the tape.
void free_nodes(const std::vector<NodePtr>& nodes);

}  // namespace symbind::autograd
