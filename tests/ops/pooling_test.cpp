// Pooling: recorded, "same" and channels last by hand, and what is refused.

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(Pooling) {
  c.recorded([](OpCase& k) {
    if (k.name().find("ties") != std::string::npos) k.no_grad();  // kinks
  });
  c.add("same")
      .attr("kernel", "(3,)")
      .attr("stride", "(2,)")
      .attr("pooling_convention", "same")
      .in({1, 1, 5}, {1, 2, 3, 4, 5})
      .ref({2, 4, 5});
  c.add("channels last")
      .attr("kernel", "(2,)")
      .attr("layout", "NWC")
      .in({1, 3, 2}, {1, 6, 2, 5, 3, 4})
      .ref({2, 6, 3, 5});
  for (const int p : {1, 3}) {  // an odd p keeps signs
    c.add("lp of negative numbers, p " + std::to_string(p))
        .attr("kernel", "(2,)")
        .attr("stride", "(2,)")
        .attr("pool_type", "lp")
        .attr("p_value", p)
        .in({1, 1, 4}, {-2, 1, 3, -1})
        .ref(p == 1 ? std::vector<double>{-1, 2}
                    : std::vector<double>{-std::cbrt(7), std::cbrt(26)});
  }
  c.add("no kernel").in({1, 1, 4, 4}).raises("kernel is required");
  c.add("kernel of another rank").attr("kernel", "(2,)").in({1, 1, 4, 4}).raises("give (2, 2)");
  c.add("kernel (0, 0)").attr("kernel", "(0, 0)").in({1, 1, 4, 4}).raises("positive");
  c.add("lp without p")
      .attr("kernel", "(2, 2)")
      .attr("pool_type", "lp")
      .in({1, 1, 4, 4})
      .raises("p_value");
}

// MXNet's value there is the lowest finite one: infinity would make a softmax of it NaN.
TEST(Pooling, a_window_of_padding_alone_is_finite) {
  const AttrDict attrs = {
      {"kernel", "(3,)"}, {"stride", "(2,)"}, {"pad", "(2,)"}, {"pooling_convention", "full"}};
  const auto y = invoke("Pooling", {NDArray::ones({1, 1, 2})}, attrs)[0].to_vector<float>();
  EXPECT_EQ(y, (std::vector<float>{1, 1, std::numeric_limits<float>::lowest()}));
}

}  // namespace
}  // namespace symbind
