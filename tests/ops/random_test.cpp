// Samplers: bounds, moments, and tails.

#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

struct Moments {
  double mean = 0, deviation = 0, lowest = 0, highest = 0;
  explicit Moments(const HostTensor& x) : lowest(x[0]), highest(x[0]) {
    for (const double v : x.values) {
      mean += v;
      lowest = std::min(lowest, v);
      highest = std::max(highest, v);
    }
    mean /= static_cast<double>(x.size());
    for (const double v : x.values) deviation += (v - mean) * (v - mean);
    deviation = std::sqrt(deviation / static_cast<double>(x.size()));
  }
};

OP_CASES(_random_uniform) {
  c.add("bounds and moments")
      .attr("low", -2.0)
      .attr("high", 4.0)
      .attr("shape", "(100, 101)")
      .property([](const HostTensors&, const HostTensors& out) {
        const Moments m(out[0]);
        EXPECT_GE(m.lowest, -2);
        EXPECT_LT(m.highest, 4);
        EXPECT_NEAR(m.mean, 1, 0.1);
        EXPECT_NEAR(m.deviation, 6 / std::sqrt(12.0), 0.06);
      });
  c.add("float64")
      .attr("shape", "(1001,)")
      .attr("dtype", "float64")
      .property([](const HostTensors&, const HostTensors& out) {
        int fine = 0;  // a float would have at most 24 bits behind the point
        for (const double v : out[0].values) fine += std::fmod(v * 0x1p24, 1.0) != 0;
        EXPECT_GT(fine, 990);
        EXPECT_NEAR(Moments(out[0]).mean, 0.5, 0.05);
      });
  c.add("float16")
      .attr("shape", "(1000,)")
      .attr("dtype", "float16")
      .property([](const HostTensors&, const HostTensors& out) {
        EXPECT_NEAR(Moments(out[0]).mean, 0.5, 0.05);
      });
  c.add("an integer type").attr("shape", "(3,)").attr("dtype", "int32").raises("int32");
}
OP_CASES(_random_normal) {
  c.add("moments")
      .attr("loc", 3.0)
      .attr("scale", 0.5)
      .attr("shape", "(100, 101)")
      .property([](const HostTensors&, const HostTensors& out) {
        const Moments m(out[0]);
        EXPECT_NEAR(m.mean, 3, 0.02);
        EXPECT_NEAR(m.deviation, 0.5, 0.02);
        int beyond = 0;
        for (const double v : out[0].values) beyond += std::abs(v - 3) > 1;
        EXPECT_NEAR(beyond / 10100.0, 0.0455, 0.01);  // two deviations
      });
  c.add("float64")
      .attr("shape", "(1001,)")
      .attr("dtype", "float64")
      .property([](const HostTensors&, const HostTensors& out) {
        EXPECT_NEAR(Moments(out[0]).deviation, 1, 0.1);
      });
}

}  // namespace
}  // namespace symbind
