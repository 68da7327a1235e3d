// Dropout: recorded where nothing is drawn; the rest are properties.

#include <gtest/gtest.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(Dropout) {
  c.recorded();
  c.add("half")
      .attr("p", 0.5)
      .in({40, 50}, 0.5, 1)
      .property([](const HostTensors& in, const HostTensors& out) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < in[0].size(); ++i) {
          if (out[0][i] == 0) continue;
          ++kept;
          EXPECT_NEAR(out[0][i], 2 * in[0][i], 2e-2);
        }
        EXPECT_NEAR(static_cast<double>(kept), 1000, 120);
      });
  c.add("one mask along an axis")
      .attr("p", 0.5)
      .attr("axes", "(1,)")
      .in({64, 4}, 0.5, 1)
      .property([](const HostTensors&, const HostTensors& out) {
        for (std::size_t i = 0; i < out[0].size(); i += 4)
          for (std::size_t j = 1; j < 4; ++j) EXPECT_EQ(out[0][i] == 0, out[0][i + j] == 0);
      });
  c.add("p above 1").attr("p", 1.5).in({2}).raises("p");
}

}  // namespace
}  // namespace symbind
