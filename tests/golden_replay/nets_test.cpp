// Whole networks trained as MXNet 1.9.1 trained them: outputs, gradients, parameters and states
// after every step, each within a fraction of its largest magnitude.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden_replay/net_replay.h"

namespace symbind {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

void expect_equal(const NetReplay& replay, int steps) {
  const NetComparison c = replay_net(replay);
  EXPECT_EQ(c.steps, steps);
  EXPECT_GT(c.compared, 10 * steps);
  EXPECT_THAT(c.mismatches, IsEmpty());
}

TEST(GoldenNets, lenet) { expect_equal({.file = "lenet", .relative = 1e-4}, 10); }

// A shared weight, and gradients that are written, added and left out.
TEST(GoldenNets, resnet20_float64) {
  expect_equal({.file = "resnet20-float64", .relative = 1e-9}, 10);
}
TEST(GoldenNets, resnet20_float32) {
  expect_equal({.file = "resnet20-float32", .relative = 1e-3}, 3);
}

TEST(GoldenNets, resnet50) { expect_equal({.file = "resnet50", .relative = 1e-3}, 1); }

// The comparison sees a fault as small as these.
TEST(GoldenNets, another_momentum_is_noticed) {
  EXPECT_THAT(replay_net({.file = "lenet", .steps = 3, .momentum = "0.91"}).mismatches,
              Not(IsEmpty()));
  EXPECT_THAT(
      replay_net({.file = "resnet20-float32", .steps = 3, .relative = 1e-3, .momentum = "0.91"})
          .mismatches,
      Not(IsEmpty()));
}
// One of 25 (of 51) layers; the tighter the comparison, the smaller the change it sees.
TEST(GoldenNets, one_other_eps_is_noticed) {
  const std::string layer = "stage2_unit1_bn1";
  const NetReplay exact{.file = "resnet20-float64", .steps = 1, .relative = 1e-9, .eps_of = layer};
  EXPECT_THAT(replay_net(exact).mismatches, Not(IsEmpty()));
  for (const char* file : {"resnet20-float32", "resnet50"}) {
    const NetReplay coarse{
        .file = file, .steps = 1, .relative = 1e-3, .eps_of = layer, .eps = 0.01};
    EXPECT_THAT(replay_net(coarse).mismatches, Not(IsEmpty())) << file;
  }
}

}  // namespace
}  // namespace symbind
