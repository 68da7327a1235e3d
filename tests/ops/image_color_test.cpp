// Colours changed, against recordings of MXNet where the amount is given, and by bounds where it is
// drawn.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_FAMILY(image_colours) {
  for (const char* change : {"brightness", "contrast", "saturation", "hue"}) {
    c.op(std::string("_image_random_") + change).recorded();
    c.add("four channels")
        .attr("min_factor", 1)
        .attr("max_factor", 1)
        .in({2, 2, 4})
        .raises("1 or 3 channels");
  }
  c.op("_image_random_brightness")
      .add("between the bounds")
      .attr("min_factor", 0.5)
      .attr("max_factor", 2)
      .in({1, 1, 3}, {1, 2, 3})
      .no_grad()
      .property([](const HostTensors&, const HostTensors& out) {
        const double factor = out[0][0];
        EXPECT_GE(factor, 0.5);
        EXPECT_LE(factor, 2);
        EXPECT_NEAR(out[0][2], 3 * factor, 0.05 * factor);
      });
}

OP_CASES(_image_random_color_jitter) {
  const auto amounts = [&](const std::string& name, double brightness, double hue) -> OpCase& {
    return c.add(name)
        .attr("brightness", brightness)
        .attr("contrast", 0)
        .attr("saturation", 0)
        .attr("hue", hue);
  };
  amounts("none of them", 0, 0)
      .in({1, 1, 3}, {1, 2, 3})
      .no_grad()
      .property([](const HostTensors& in, const HostTensors& out) {
        EXPECT_EQ(out[0].values, in[0].values);
      });
  amounts("brightness alone", 0.5, 0)
      .in({1, 1, 3}, {8, 16, 32})
      .no_grad()
      .property([](const HostTensors&, const HostTensors& out) {
        EXPECT_GE(out[0][0], 4);
        EXPECT_LE(out[0][0], 12);
        EXPECT_NEAR(out[0][2], 4 * out[0][0], 0.02 * out[0][2]);
      });
}

OP_CASES(_image_adjust_lighting) {
  c.recorded();
  c.add("two amounts").attr("alpha", "(1, 2)").in({2, 2, 3}).raises("it takes three");
  c.add("grey stays").attr("alpha", "(1, 2, 3)").in({2, 2, 1}).no_grad().ref([](double x) {
    return x;
  });
}

OP_CASES(_image_random_lighting) {
  c.add("along the principal colours")
      .attr("alpha_std", 0.1)
      .in({1, 2, 3}, {0, 0, 0, 64, 64, 64})
      .dtypes({DType::kFloat32, DType::kFloat64})
      .no_grad()
      .property([](const HostTensors&, const HostTensors& out) {
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_NEAR(out[0][i + 3] - out[0][i], 64, 1e-4);
          EXPECT_LT(std::abs(out[0][i]), 55.46 * 0.6 * 0.1 * 8);
        }
      });
}

}  // namespace
}  // namespace symbind
