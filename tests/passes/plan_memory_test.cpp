// Offsets in the arena. Random plans run on memory in which every byte holds the tensor that wrote
// it last: the inputs of a step must be intact, also after it has written its outputs and its
// workspace, except for an input whose memory an output may take.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "passes/lower.h"

namespace symbind {
namespace {

constexpr int kWorkspace = -2;

struct Memory {
  std::vector<int> owner;
  void write(std::size_t offset, std::size_t bytes, int who) {
    if (owner.size() < offset + bytes) owner.resize(offset + bytes, -1);
    std::fill_n(owner.begin() + static_cast<std::ptrdiff_t>(offset), bytes, who);
  }
  bool holds(std::size_t offset, std::size_t bytes, int who) const {
    return offset + bytes <= owner.size() &&
           std::all_of(owner.begin() + static_cast<std::ptrdiff_t>(offset),
                       owner.begin() + static_cast<std::ptrdiff_t>(offset + bytes),
                       [who](int o) { return o == who; });
  }
};

int add_tensor(Plan& plan, std::int64_t elements, Context context, Home home) {
  PlanTensor t;
  t.name = "t" + std::to_string(plan.tensors.size());
  t.desc.shape = {elements};
  t.context = context;
  t.home = home;
  plan.tensors.push_back(std::move(t));
  return static_cast<int>(plan.tensors.size()) - 1;
}

/// Steps with a few inputs among what was written before, and outputs of few different sizes, so
/// that memory is often taken over; some have a workspace, and some outputs are never read.
Plan random_plan(std::uint32_t seed, std::size_t devices) {
  std::mt19937 random(seed);
  const auto draw = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  constexpr std::int64_t kSizes[] = {1, 16, 17, 64, 64, 64, 200};
  Plan plan;
  for (std::size_t d = 0; d < devices; ++d) plan.contexts.push_back(cpu(static_cast<int>(d)));
  std::vector<int> written = {add_tensor(plan, 64, cpu(0), Home::kArgument)};
  const std::size_t steps = 5 + draw(40);
  for (std::size_t s = 0; s < steps; ++s) {
    PlanStep step;
    step.title = "step" + std::to_string(s);
    step.context = plan.contexts[draw(devices)];
    for (std::size_t i = 1 + draw(3); i > 0; --i) {
      const std::size_t back = std::min<std::size_t>(written.size(), 6);
      step.in.push_back(written[written.size() - 1 - draw(back)]);
    }
    for (std::size_t o = 1 + draw(2); o > 0; --o) {
      const Home home = draw(12) == 0   ? Home::kScratch
                        : draw(12) == 0 ? Home::kOutput
                                        : Home::kArena;
      step.out.push_back(add_tensor(plan, kSizes[draw(std::size(kSizes))], step.context, home));
    }
    const bool copies = std::ranges::any_of(step.in, [&](int t) {
      return plan.tensors[static_cast<std::size_t>(t)].context != step.context;
    });  // between devices: such operators have no in-place hints
    if (!copies && draw(2) == 0) step.inplace.emplace_back(0, 0);
    if (!copies && draw(3) == 0)
      step.inplace.emplace_back(-1, static_cast<int>(step.out.size()) - 1);
    if (draw(4) == 0) step.workspace_bytes = 1 + draw(900);
    for (const int t : step.out)
      if (plan.tensors[static_cast<std::size_t>(t)].home != Home::kScratch) written.push_back(t);
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

const PlanTensor& tensor(const Plan& plan, int t) {
  return plan.tensors[static_cast<std::size_t>(t)];
}

/// Whether an output of the step has, as it may, the memory of this input.
bool gives_its_memory(const Plan& plan, const PlanStep& step, int in) {
  for (const auto& [i, o] : step.inplace) {
    const int input = i < 0 ? static_cast<int>(step.in.size()) + i : i;
    const PlanTensor& out = tensor(plan, step.out[static_cast<std::size_t>(o)]);
    if (step.in[static_cast<std::size_t>(input)] == in && out.in_arena() &&
        out.context == tensor(plan, in).context && out.offset == tensor(plan, in).offset)
      return true;
  }
  return false;
}

void run_on_marked_memory(const Plan& plan) {
  std::vector<Memory> arenas(plan.contexts.size());
  const auto arena = [&](Context c) -> Memory& {
    return arenas[static_cast<std::size_t>(plan.slot_of(c))];
  };
  const auto whole = [&](int t) {
    const PlanTensor& p = tensor(plan, t);
    return !p.in_arena() || arena(p.context).holds(p.offset, p.desc.bytes(), t);
  };
  for (const PlanStep& step : plan.steps) {
    for (const int t : step.in) ASSERT_TRUE(whole(t)) << step.title << " reads t" << t;
    arena(step.context).write(step.workspace_offset, step.workspace_bytes, kWorkspace);
    for (const int t : step.out) {
      const PlanTensor& p = tensor(plan, t);
      if (!p.in_arena()) continue;
      ASSERT_EQ(p.offset % 64, 0u);
      ASSERT_LE(p.offset + p.desc.bytes(), plan.arena_bytes.at(plan.slot_of(p.context)));
      arena(p.context).write(p.offset, p.desc.bytes(), t);
    }
    for (const int t : step.out) ASSERT_TRUE(whole(t)) << step.title << " wrote t" << t;
    ASSERT_TRUE(arena(step.context).holds(step.workspace_offset, step.workspace_bytes, kWorkspace))
        << step.title;
    for (const int t : step.in)
      if (!gives_its_memory(plan, step, t)) {
        ASSERT_TRUE(whole(t)) << step.title << " wrote over its input t" << t;
      }
  }
}

TEST(PlanMemory, live_values_never_overlap) {
  int taken_over = 0;
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    Plan plan = random_plan(seed, 1 + seed % 3);
    plan_memory(plan, true);
    run_on_marked_memory(plan);
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_GE(plan.total_arena_bytes(), plan.max_live_bytes);
    for (const PlanStep& step : plan.steps)
      for (const int t : step.in) taken_over += gives_its_memory(plan, step, t) ? 1 : 0;
  }
  EXPECT_GT(taken_over, 300);
}

TEST(PlanMemory, without_reuse_nothing_is_written_over) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Plan plan = random_plan(seed, 1 + seed % 2);
    plan_memory(plan, false);
    run_on_marked_memory(plan);
    std::vector<Memory> arenas(plan.contexts.size());
    const auto arena = [&](const PlanTensor& p) -> Memory& {
      return arenas[static_cast<std::size_t>(plan.slot_of(p.context))];
    };
    for (const PlanStep& step : plan.steps)
      for (const int t : step.out)
        if (const PlanTensor& p = tensor(plan, t); p.home == Home::kArena)
          arena(p).write(p.offset, p.desc.bytes(), t);
    for (const PlanStep& step : plan.steps)
      for (const int t : step.out)
        if (const PlanTensor& p = tensor(plan, t); p.home == Home::kArena) {
          ASSERT_TRUE(arena(p).holds(p.offset, p.desc.bytes(), t)) << p.name;
        }
  }
}

/// x → a → b → c → d: each reads the one before.
Plan chain(bool inplace) {
  Plan plan;
  plan.contexts = {cpu()};
  int last = add_tensor(plan, 64, cpu(), Home::kArgument);
  for (int s = 0; s < 4; ++s) {
    PlanStep step;
    step.context = cpu();
    step.in = {last};
    step.out = {last = add_tensor(plan, 64, cpu(), Home::kArena)};
    if (inplace) step.inplace = {{0, 0}};
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

TEST(PlanMemory, a_chain_needs_two_places_or_one_in_place) {
  for (const bool inplace : {false, true}) {
    Plan plan = chain(inplace);
    plan_memory(plan, true);
    const std::size_t bytes = inplace ? 256 : 512;  // 64 floats are 256 bytes
    EXPECT_EQ(plan.max_live_bytes, bytes);
    EXPECT_EQ(plan.total_arena_bytes(), bytes);
  }
}

TEST(PlanMemory, a_workspace_lasts_for_its_step) {
  Plan plan = chain(true);
  plan.steps[2].workspace_bytes = 1000;
  plan_memory(plan, true);
  EXPECT_EQ(plan.max_live_bytes, 256u + 1024u);
  EXPECT_EQ(plan.steps[2].workspace_offset, 0u);  // the largest is placed first
  EXPECT_EQ(tensor(plan, plan.steps[2].out[0]).offset, 1024u);
}

}  // namespace
}  // namespace symbind
