// The same graph compiled in different ways computes the same: fused, laid out and with memory
// reused, against the monitored plan without any of it, with and without oneDNN.

#include <cmath>

#include <gtest/gtest.h>

#include "base/settings.h"
#include "tests/properties/random_graph.h"

namespace symbind {
namespace {

Values run(const RandomGraph& g, bool monitored, const char* kernels, double scale = 1) {
  const settings::override_for_test forbid("SYMBIND_KERNELS", kernels);
  Executor e = g.symbol.simple_bind(cpu(), g.shapes);
  int shown = 0;
  if (monitored) e.set_monitor_callback([&](const std::string&, const NDArray&) { ++shown; });
  const Values found = train_once(e, scale);
  EXPECT_EQ(shown > 0, monitored);
  return found;
}

double distance(const HostTensor& a, const HostTensor& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// If an input is at a kink, rounding can change a gradient by a jump. So the tolerance includes how
// much the plain plan changes if its input changes by a few roundings.
void expect_equal_plans(std::uint64_t seed) {
  SCOPED_TRACE("random_graph(" + std::to_string(seed) + ")");
  const RandomGraph g = random_graph(seed);
  const Values plain = run(g, true, "-onednn");
  const Values moved = run(g, true, "-onednn", 1 + 0x1p-20);
  const struct {
    const char* name;
    Values values;
  } plans[] = {{"as users run it", run(g, false, "")},
               {"monitored", run(g, true, "")},
               {"without oneDNN", run(g, false, "-onednn")}};
  for (const auto& plan : plans) {
    ASSERT_EQ(plan.values.size(), plain.size()) << plan.name;
    for (const auto& [name, want] : plain) {
      const double jump = distance(moved.at(name), want);
      EXPECT_TRUE(near(plan.values.at(name), want, {1e-4, 2e-5 + 4 * jump}))
          << plan.name << ", " << name;
    }
  }
}

TEST(SlowPlans, random_graphs_compute_the_same_however_compiled) {
  for (std::uint64_t seed = 1; seed <= 120 && !HasFailure(); ++seed) expect_equal_plans(seed);
}

// The quick form of the above.
TEST(Plans, some_random_graphs_compute_the_same_however_compiled) {
  for (std::uint64_t seed = 1001; seed <= 1012; ++seed) expect_equal_plans(seed);
}

// Two runs of one executor, and of another with the same memory, leave the same bits.
TEST(Plans, runs_are_repeatable) {
  for (std::uint64_t seed = 2001; seed <= 2006; ++seed) {
    SCOPED_TRACE("random_graph(" + std::to_string(seed) + ")");
    const RandomGraph g = random_graph(seed);
    Executor first = g.symbol.simple_bind(cpu(), g.shapes);
    const Values want = train_once(first);
    Executor second = g.symbol.simple_bind(cpu(), g.shapes, {.shared_exec = &first});
    for (Executor* e : {&second, &first, &second}) {
      const Values got = train_once(*e);
      for (const auto& [name, value] : want) EXPECT_EQ(got.at(name).values, value.values) << name;
    }
  }
}

}  // namespace
}  // namespace symbind
