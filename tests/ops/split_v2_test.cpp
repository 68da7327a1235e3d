// An array cut at given places.

#include <gtest/gtest.h>
#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_split_v2) {
  c.recorded();
  c.add("three parts")
      .attr("indices", "(0, 1, 3)")
      .in({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})
      .ref([](const HostTensors&) {
        return HostTensors{HostTensor(Shape{2, 1}, {1, 5}), HostTensor(Shape{2, 2}, {2, 3, 6, 7}),
                           HostTensor(Shape{2, 1}, {4, 8})};
      });
  c.add("not from the start").attr("indices", "(1, 2)").in({2, 4}).raises("must begin with 0");
  c.add("falling").attr("indices", "(0, 2, 1)").in({2, 4}).raises("must ascend");
  c.add("beyond the end").attr("indices", "(0, 9)").in({2, 4}).raises("begin at 9 and end at 4");
  c.add("unequal").attr("indices", "()").attr("sections", 3).in({2, 4}).raises("3 equal parts");
  c.add("too thick")
      .attr("indices", "(0, 1)")
      .attr("squeeze_axis", true)
      .in({2, 3})
      .raises("extent 1");
}

TEST(SplitV2, an_empty_part) {
  const auto parts = invoke("_split_v2", {NDArray::ones({2, 3})}, {{"indices", "(0, 1, 1)"}});
  EXPECT_EQ(parts[0].shape(), Shape({2, 1}));
  EXPECT_EQ(parts[1].shape(), Shape({2, 0}));
  EXPECT_EQ(parts[2].to_vector<float>(), (std::vector<float>{1, 1, 1, 1}));
}

}  // namespace
}  // namespace symbind
