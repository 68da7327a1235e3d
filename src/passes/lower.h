#pragma once
// The passes that turn a numbered graph into a Plan.

#include <symbind/runtime.h>

#include "passes/infer.h"
#include "passes/plan.h"

namespace symbind {

/// The device whose kernels run there: with SYMBIND_GPU_AS_CPU a GPU uses the kernels of the CPU.
inline DeviceType kernel_device(Context context) {
  return in_gpu_memory(context) ? DeviceType::kGpu : DeviceType::kCpu;
}

/// Shared by the lowering passes: the graph, what is known of it, and the owner of each entry.
struct Lowering {
  IndexedGraph graph;
  Inferred known;
  std::vector<Context> context;       ///< by node
  std::size_t num_forward_nodes = 0;  ///< nodes [0, n) are the forward phase
  struct Owner {
    Home home = Home::kArena;
    int index = -1;
  };
  std::vector<Owner> owner;  ///< by entry: bound variables
  struct Result {
    int entry;
    Owner owner;
  };
  std::vector<Result> results;  ///< heads: outputs and gradients, in the order of graph.heads
  bool training = false;
  bool exact = false;
  DType compute_dtype = DType::kFloat32;  ///< what kernels may round to
  bool monitored = false;
  std::vector<bool> constant;  ///< by entry: parameters without gradient
};

/// Needs: order, shapes, dtypes, places. Produces: Plan::tensors and Plan::steps with kernels
/// chosen among their offers, layouts passed from producer to consumer, and reorders where they
/// must change.
void choose_kernels(const Lowering& lowering, Plan& plan);

/// Gives every intermediate an offset in the arena of its device.
/// Needs: steps, tensors, in-place hints, workspaces. Produces: offsets, arena_bytes,
/// max_live_bytes.
void plan_memory(Plan& plan, bool reuse);

/// Checks the invariants of a finished plan; throws naming the one violated.
void verify(const Plan& plan);

}  // namespace symbind
