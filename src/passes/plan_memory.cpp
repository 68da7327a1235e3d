// Gives every intermediate an offset in the executor's arena.
//
// Greedy by size over live intervals: within a few percent of the lower bound on real nets, and
// short. A tensor is live from the step that writes it to the last step that reads it; a workspace
// is live during its step only, and so is an output that its kernel writes and nothing reads. An
// output reuses its input's memory if the operator allows it and nothing reads the input later.

#include <algorithm>
#include <numeric>

#include "passes/lower.h"

namespace symbind {
namespace {

constexpr std::size_t kAlign = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

struct Block {
  std::size_t bytes = 0;
  int first = -1, last = -1;  ///< steps
  int slot = 0;               ///< device
  std::size_t offset = 0;
};

class Planner {
 public:
  Planner(Plan& plan, bool reuse)
      : plan_(plan), reuse_(reuse), block_of_(plan.tensors.size(), -1) {}

  void run() {
    find_last_uses();
    make_blocks();
    for (std::size_t slot = 0; slot < plan_.contexts.size(); ++slot) place(static_cast<int>(slot));
    store();
  }

 private:
  void find_last_uses() {
    last_use_.assign(plan_.tensors.size(), -1);
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      for (const int t : plan_.steps[s].in)
        last_use_[static_cast<std::size_t>(t)] = static_cast<int>(s);
      for (const int t : plan_.steps[s].out) {
        last_use_[static_cast<std::size_t>(t)] =
            std::max(last_use_[static_cast<std::size_t>(t)], static_cast<int>(s));
      }
    }
    if (reuse_) return;
    for (std::size_t t = 0; t < last_use_.size(); ++t)
      if (plan_.tensors[t].home != Home::kScratch)
        last_use_[t] = static_cast<int>(plan_.steps.size());
  }

  // The block that output `out` may reuse: of an input last read in step s, of the same size; or
  // -1.
  int inherited(std::size_t s, int out, std::size_t bytes) const {
    const PlanStep& step = plan_.steps[s];
    for (const auto& [input, o] : step.inplace) {
      const int i = input < 0 ? static_cast<int>(step.in.size()) + input : input;
      if (!reuse_ || static_cast<std::size_t>(o) >= step.out.size() ||
          step.out[static_cast<std::size_t>(o)] != out ||
          static_cast<std::size_t>(i) >= step.in.size()) {
        continue;
      }
      const int in = step.in[static_cast<std::size_t>(i)];
      const int block = block_of_[static_cast<std::size_t>(in)];
      const auto taken = [&](int other) {  // an earlier output of this step reuses it
        return block_of_[static_cast<std::size_t>(other)] == block;
      };
      if (block < 0 || std::ranges::count(step.in, in) != 1 ||
          std::ranges::any_of(step.out, taken)) {
        continue;
      }
      const Block& b = blocks_[static_cast<std::size_t>(block)];
      if (b.last == static_cast<int>(s) &&
          last_use_[static_cast<std::size_t>(in)] == static_cast<int>(s) && b.bytes == bytes) {
        return block;
      }
    }
    return -1;
  }

  void make_blocks() {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      PlanStep& step = plan_.steps[s];
      for (const int out : step.out) {
        PlanTensor& t = plan_.tensors[static_cast<std::size_t>(out)];
        t.bytes = t.desc.bytes();
        if (!t.in_arena() || block_of_[static_cast<std::size_t>(out)] >= 0) continue;
        const std::size_t bytes = aligned(t.bytes);
        int block = inherited(s, out, bytes);
        if (block < 0) {
          block = static_cast<int>(blocks_.size());
          blocks_.push_back(
              {bytes, static_cast<int>(s), static_cast<int>(s), plan_.slot_of(step.context), 0});
        }
        Block& b = blocks_[static_cast<std::size_t>(block)];
        b.last = std::max(b.last, last_use_[static_cast<std::size_t>(out)]);
        block_of_[static_cast<std::size_t>(out)] = block;
      }
      if (step.workspace_bytes > 0) {
        workspace_block_.emplace_back(s, blocks_.size());
        blocks_.push_back({aligned(step.workspace_bytes), static_cast<int>(s), static_cast<int>(s),
                           plan_.slot_of(step.context), 0});
      }
    }
  }

  // Biggest first, each at the lowest offset that is free during its whole live interval.
  void place(int slot) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].slot == slot) order.push_back(i);
    }
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return blocks_[a].bytes > blocks_[b].bytes; });
    std::vector<Block> placed;  // sorted by offset
    std::size_t top = 0;
    const Block* previous = nullptr;
    for (const std::size_t i : order) {
      Block& block = blocks_[i];
      std::size_t offset = 0;
      auto from = placed.begin();
      // A block of the size and interval of the previous one starts its search after that one: all
      // lower offsets were too small. So a split into many parts takes linear time.
      if (previous != nullptr && previous->bytes == block.bytes && previous->first == block.first &&
          previous->last == block.last) {
        offset = previous->offset + previous->bytes;
        from = std::ranges::upper_bound(placed, previous->offset, {}, &Block::offset);
      }
      for (; from != placed.end(); ++from) {
        const Block& other = *from;
        if (other.last < block.first || block.last < other.first) continue;
        if (offset + block.bytes <= other.offset) break;
        offset = std::max(offset, other.offset + other.bytes);
      }
      block.offset = offset;
      top = std::max(top, offset + block.bytes);
      placed.insert(std::ranges::upper_bound(placed, offset, {}, &Block::offset), block);
      previous = &block;
    }
    plan_.arena_bytes[slot] = top;
    plan_.max_live_bytes += max_live(slot);
  }

  std::size_t max_live(int slot) const {
    std::vector<std::int64_t> change(plan_.steps.size() + 2, 0);
    for (const Block& b : blocks_) {
      if (b.slot != slot) continue;
      change[static_cast<std::size_t>(b.first)] += static_cast<std::int64_t>(b.bytes);
      change[static_cast<std::size_t>(b.last) + 1] -= static_cast<std::int64_t>(b.bytes);
    }
    std::int64_t live = 0, most = 0;
    for (const std::int64_t c : change) most = std::max(most, live += c);
    return static_cast<std::size_t>(most);
  }

  void store() {
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (block_of_[t] >= 0)
        plan_.tensors[t].offset = blocks_[static_cast<std::size_t>(block_of_[t])].offset;
    }
    for (const auto& [step, block] : workspace_block_)
      plan_.steps[step].workspace_offset = blocks_[block].offset;
  }

  Plan& plan_;
  bool reuse_;
  std::vector<int> last_use_, block_of_;
  std::vector<Block> blocks_;
  std::vector<std::pair<std::size_t, std::size_t>> workspace_block_;
};

}  // namespace

void plan_memory(Plan& plan, bool reuse) { Planner(plan, reuse).run(); }

}  // namespace symbind
