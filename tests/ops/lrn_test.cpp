// LRN: recorded, and the norm a monitor sees.

#include <cmath>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

HostTensor normalise(const HostTensors& in) {
  const HostTensor& x = in[0];
  return from_coordinates(x.shape, [&](Coordinates at) {
    const double own = x.at(at);
    double sum = 0;
    const std::int64_t c = at[1];
    for (at[1] = std::max<std::int64_t>(0, c - 1); at[1] <= std::min(c + 1, x.shape[1] - 1);
         ++at[1])
      sum += x.at(at) * x.at(at);
    return own * std::pow(2 + 0.5 * sum / 3, -0.75);
  });
}

OP_CASES(LRN) {
  c.recorded();
  c.add("more positions than a tile")
      .attr("nsize", 3)
      .attr("alpha", 0.5)
      .in({1, 4, 300})
      .ref(normalise);
  c.add("a window beyond the channels")
      .attr("nsize", 3)
      .attr("alpha", 0.5)
      .in({2, 2, 2, 2})
      .ref(normalise);
  for (const std::int64_t channels : {8, 48})
    c.add("blocks of " + std::to_string(channels) + " channels")
        .attr("nsize", 3)
        .attr("alpha", 0.5)
        .in({2, channels, 3, 2})
        .ref(normalise);
  c.add("an even window").attr("nsize", 4).in({1, 4, 2, 2}).raises("odd");
}

TEST(LRN, a_monitor_sees_the_norm) {
  const Symbol net = make_symbol("LRN", "lrn", std::vector{Variable("data")}, {{"nsize", "3"}});
  Executor exe = net.simple_bind(cpu(), {{"data", {1, 3, 1, 1}}});
  std::vector<std::string> seen;
  exe.set_monitor_callback([&](const std::string& name, const NDArray&) { seen.push_back(name); });
  exe.forward(true);
  EXPECT_EQ(seen, (std::vector<std::string>{"lrn_output", "lrn_tmp_norm"}));
}

}  // namespace
}  // namespace symbind
