// Which tensor holds which bytes of an arena when: read from the finished plan, by the rules of
// passes/plan_memory.cpp, so that the picture shows what a run does.

#include <algorithm>

#include "explain/explanation.h"

namespace symbind {

std::vector<MemoryBlock> memory_blocks(const Plan& plan, int slot, bool reused) {
  const auto in_arena = [&](int tensor) {
    const PlanTensor& t = plan.tensors[static_cast<std::size_t>(tensor)];
    return t.in_arena() && plan.slot_of(t.context) == slot && t.bytes > 0;
  };
  std::vector<MemoryBlock> blocks;
  std::vector<int> block_of(plan.tensors.size(), -1);
  const int end = static_cast<int>(plan.steps.size()) - 1;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const PlanStep& step = plan.steps[s];
    const int now = static_cast<int>(s);
    for (const int t : step.in) {
      const int block = block_of[static_cast<std::size_t>(t)];
      if (block >= 0)
        blocks[static_cast<std::size_t>(block)].last =
            std::max(blocks[static_cast<std::size_t>(block)].last, now);
    }
    for (const int t : step.out) {
      if (!in_arena(t) || block_of[static_cast<std::size_t>(t)] >= 0) continue;
      const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(t)];
      block_of[static_cast<std::size_t>(t)] = static_cast<int>(blocks.size());
      const bool kept = !reused && tensor.home != Home::kScratch;
      blocks.push_back({t, now, kept ? end : now, tensor.offset, tensor.bytes});
    }
    if (step.workspace_bytes > 0 && plan.slot_of(step.context) == slot)
      blocks.push_back({-1, now, now, step.workspace_offset, step.workspace_bytes});
  }
  // An input whose memory an output of the same step takes over ends before it.
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const PlanStep& step = plan.steps[s];
    for (const int in : step.in) {
      const int block = block_of[static_cast<std::size_t>(in)];
      if (block < 0) continue;
      MemoryBlock& taken = blocks[static_cast<std::size_t>(block)];
      if (taken.last != static_cast<int>(s)) continue;
      for (const int out : step.out) {
        const int heir = block_of[static_cast<std::size_t>(out)];
        if (heir >= 0 && heir != block &&
            blocks[static_cast<std::size_t>(heir)].first == static_cast<int>(s) &&
            blocks[static_cast<std::size_t>(heir)].offset == taken.offset)
          taken.last = static_cast<int>(s) - 1;
      }
    }
  }
  return blocks;
}

}  // namespace symbind
