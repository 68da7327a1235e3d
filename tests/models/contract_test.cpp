// The behaviours S1 to S4 of docs/contract.md: ResNet-50 for ImageNet, as MXNet's users know it.

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <symbind/models.h>

namespace symbind {
namespace {

using Names = std::vector<std::string>;
using testing::ElementsAre;

Symbol resnet50() { return models::resnet({.num_classes = 1000, .num_layers = 50}); }

// The arguments that are neither data nor label, in their order.
Names parameters(const Symbol& net) {
  Names names = net.list_arguments();
  std::erase_if(names, [](const std::string& n) { return n == "data" || n == "softmax_label"; });
  return names;
}

Names part(const Names& names, std::ptrdiff_t first, std::ptrdiff_t last) {
  return {names.begin() + first, names.begin() + last + 1};
}

TEST(Contract, S1) {
  const Names names = parameters(resnet50());
  ASSERT_EQ(names.size(), 157U);
  EXPECT_THAT(
      part(names, 0, 11),
      ElementsAre("bn_data_gamma", "bn_data_beta", "conv0_weight", "bn0_gamma", "bn0_beta",
                  "stage1_unit1_bn1_gamma", "stage1_unit1_bn1_beta", "stage1_unit1_conv1_weight",
                  "stage1_unit1_bn2_gamma", "stage1_unit1_bn2_beta", "stage1_unit1_conv2_weight",
                  "stage1_unit1_bn3_gamma"));
  EXPECT_THAT(part(names, 151, 156),
              ElementsAre("stage4_unit3_bn3_beta", "stage4_unit3_conv3_weight", "bn1_gamma",
                          "bn1_beta", "fc1_weight", "fc1_bias"));
  for (const char* stage : {"stage1", "stage2", "stage3", "stage4"}) {
    const auto conv3 = std::ranges::find(names, std::string(stage) + "_unit1_conv3_weight");
    ASSERT_NE(conv3, names.end());
    EXPECT_EQ(*(conv3 + 1), std::string(stage) + "_unit1_sc_weight");
  }
}

TEST(Contract, S2) {
  const Names names = resnet50().list_auxiliary_states();
  ASSERT_EQ(names.size(), 102U);
  EXPECT_THAT(
      part(names, 0, 7),
      ElementsAre("bn_data_moving_mean", "bn_data_moving_var", "bn0_moving_mean", "bn0_moving_var",
                  "stage1_unit1_bn1_moving_mean", "stage1_unit1_bn1_moving_var",
                  "stage1_unit1_bn2_moving_mean", "stage1_unit1_bn2_moving_var"));
  EXPECT_THAT(part(names, 98, 101),
              ElementsAre("stage4_unit3_bn3_moving_mean", "stage4_unit3_bn3_moving_var",
                          "bn1_moving_mean", "bn1_moving_var"));
}

TEST(Contract, S3) {
  const Symbol net = resnet50();
  const Names arguments = net.list_arguments();
  EXPECT_EQ(arguments.size(), 159U);
  EXPECT_EQ(arguments.front(), "data");
  EXPECT_EQ(arguments.back(), "softmax_label");
  EXPECT_EQ(part(arguments, 1, 157), parameters(net));
}

TEST(Contract, S4) {
  const Symbol net = resnet50();
  EXPECT_EQ(net.num_outputs(), 1U);
  EXPECT_THAT(net.list_outputs(), ElementsAre("softmax_output"));
  const Names nodes = net.get_internals().list_outputs();
  for (const std::string& name : parameters(net)) {
    const std::size_t cut = name.rfind('_');
    EXPECT_THAT((Names{"weight", "bias", "gamma", "beta"}),
                testing::Contains(name.substr(cut + 1)));
    EXPECT_THAT(nodes, testing::Contains(name.substr(0, cut) + "_output")) << name;
  }
}

}  // namespace
}  // namespace symbind
