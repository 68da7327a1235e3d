#include "base/nearest.h"

#include <gtest/gtest.h>

namespace symbind {
namespace {

const std::vector<std::string> kAttributes = {"num_hidden", "no_bias", "flatten", "num_filter"};

TEST(Nearest, one_letter_missing) {
  EXPECT_EQ(nearest_hint("num_hiden", kAttributes), "did you mean 'num_hidden'?");
}

TEST(Nearest, case_does_not_count) {
  EXPECT_EQ(nearest_hint("NUM_HIDDEN", kAttributes), "did you mean 'num_hidden'?");
  EXPECT_EQ(nearest_hint("Fully_connected", {"FullyConnected"}), "did you mean 'FullyConnected'?");
}

TEST(Nearest, neighbours_swapped) {
  EXPECT_EQ(nearest_hint("no_bais", kAttributes), "did you mean 'no_bias'?");
  EXPECT_EQ(nearest_hint("ab", {"ba"}), "did you mean 'ba'?");
}

TEST(Nearest, a_part_of_a_name) {
  EXPECT_EQ(nearest_hint("hidden", kAttributes), "did you mean 'num_hidden'?");
}

TEST(Nearest, at_most_three_best_first) {
  EXPECT_EQ(nearest_hint("fc1_weigth", {"fc2_weight", "fc1_weight", "fc3_weight", "fc4_weight"}),
            "did you mean 'fc1_weight', 'fc2_weight' or 'fc3_weight'?");
}

TEST(Nearest, nothing_close) {
  EXPECT_EQ(nearest_hint("temperature", kAttributes), "");
  EXPECT_EQ(nearest_hint("x", {"a", "b"}), "");
  EXPECT_EQ(nearest_hint("", kAttributes), "");
  EXPECT_EQ(nearest_hint("anything", {}), "");
  EXPECT_EQ(nearest_hint(std::string(100000, 'a'), {std::string(100000, 'a')}), "");
}

TEST(Nearest, equal_candidates_are_shown_once) {
  EXPECT_EQ(nearest_hint("dat", {"data", "data"}), "did you mean 'data'?");
}

}  // namespace
}  // namespace symbind
