// op_info finds all inputs and outputs that depend on attributes.

#include <symbind/detail/op_info.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symbind {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const OpDef& op(const char* name) { return OpRegistry::global().get(name); }

TEST(OpInfo, the_longest_list_of_inputs) {
  EXPECT_THAT(most_input_names(op("FullyConnected")), ElementsAre("data", "weight", "bias"));
  EXPECT_THAT(most_input_names(op("LeakyReLU")), ElementsAre("data", "gamma"));
  EXPECT_THAT(most_input_names(op("softmax")), ElementsAre("data", "length"));
  EXPECT_THAT(most_input_names(op("_zeros")), IsEmpty());
  EXPECT_THAT(most_input_names(op("Concat")), IsEmpty());
}

TEST(OpInfo, fewest_and_most_outputs) {
  EXPECT_THAT(visible_outputs(op("Convolution")), Pair(1, 1));
  EXPECT_THAT(visible_outputs(op("BatchNorm")), Pair(1, 3));
  EXPECT_THAT(visible_outputs(op("SliceChannel")), Pair(1, 2));
  EXPECT_THAT(visible_outputs(op("topk")), Pair(1, 2));
}

}  // namespace
}  // namespace symbind
