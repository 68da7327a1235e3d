// LeakyReLU: recorded; rrelu, which draws, by its properties.

#include <cmath>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/golden.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(LeakyReLU) {
  // Slopes left out are one per channel: those given otherwise are replayed elsewhere.
  for (const golden::Case& k : golden::cases_of("LeakyReLU")) {
    if (k.inputs.size() == 2 && k.inputs[1].shape != Shape{k.inputs[0].shape[1]}) continue;
    OpCase& recorded = c.add(k.name).recorded();
    // Zeros and minus zeros: no difference quotient shows a kink.
    if (k.name.find("over the range") != std::string::npos) recorded.no_grad();
  }
  c.add("leaky, negative slope").attr("slope", -0.5).in({3, 4}, -2, 2).ref([](double x) {
    return x > 0 ? x : -0.5 * x;
  });
  c.add("elu, negative slope")
      .attr("act_type", "elu")
      .attr("slope", -0.5)
      .in({3, 4}, -2, 2)
      .ref([](double x) { return x > 0 ? x : -0.5 * std::expm1(x); });
  for (const std::string name : {"elu", "gelu"}) {
    c.add(name + ", blocked sizes")
        .attr("act_type", name)
        .in({2, 16, 4, 4}, 0.25, 2)
        .ref([name](double x) {
          return name == "elu" ? x : x * std::erfc(-x / std::sqrt(2.0)) / 2;
        });
  }
  c.add("rrelu")
      .attr("act_type", "rrelu")
      .attr("lower_bound", 0.25)
      .attr("upper_bound", 0.75)
      .in({40, 50}, -1, -0.5)
      .property([](const HostTensors& in, const HostTensors& out) {
        double sum = 0;
        for (std::size_t i = 0; i < in[0].size(); ++i) {
          const double slope = out[0][i] / in[0][i];
          EXPECT_GE(slope, 0.24);
          EXPECT_LE(slope, 0.76);
          sum += slope;
        }
        EXPECT_NEAR(sum / static_cast<double>(in[0].size()), 0.5, 0.02);
      });
  c.add("rrelu, bounds crossed")
      .attr("act_type", "rrelu")
      .attr("lower_bound", 0.5)
      .in({2})
      .raises("lower_bound");
  for (const Shape& shape : {Shape{2, 16, 5, 7}, Shape{5, 16}, Shape{2, 3, 4}}) {
    const std::int64_t channels = shape[1], inner = shape.count(2);
    c.add("prelu, a slope per channel " + shape.str())
        .attr("act_type", "prelu")
        .in(shape, -2, 2)
        .in({channels}, 0.1, 0.9)
        .ref([channels, inner](const HostTensors& in) {
          HostTensor y = in[0];
          for (std::size_t i = 0; i < y.size(); ++i) {
            const auto channel = static_cast<std::int64_t>(i) / inner % channels;
            if (!(y[i] > 0)) y[i] *= in[1][static_cast<std::size_t>(channel)];
          }
          return y;
        });
  }
  c.add("prelu, slopes of another length")
      .attr("act_type", "prelu")
      .in({2, 3, 4})
      .in({4})
      .raises("gamma (4,)");
}

Symbol rrelu() {
  return make_symbol("LeakyReLU", "r", std::vector{Variable("data")}, {{"act_type", "rrelu"}});
}

TEST(LeakyReLU, rrelu_shows_one_output_and_takes_the_mean_slope_outside_of_training) {
  EXPECT_EQ(rrelu().list_outputs(), std::vector<std::string>{"r_output"});
  Executor exe = rrelu().simple_bind(cpu(), {{"data", {3}}});
  NDArray({-1, 0, 2}, {3}).copy_to(exe.arg_dict()["data"]);
  const std::vector<float> y = exe.forward(false).at(0).to_vector<float>();
  EXPECT_FLOAT_EQ(y[0], -(0.125f + 0.334f) / 2);
  EXPECT_EQ(y[2], 2);
}

TEST(LeakyReLU, the_gradient_of_rrelu_is_the_slope_that_was_drawn) {
  Executor exe = rrelu().simple_bind(cpu(), {{"data", {64}}});
  NDArray::full({64}, -1).copy_to(exe.arg_dict()["data"]);
  const std::vector<float> y = exe.forward(true).at(0).to_vector<float>();
  exe.backward({NDArray::ones({64})});
  const std::vector<float> dx = exe.grad_dict()["data"].to_vector<float>();
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(dx[i], -y[i]);
  EXPECT_NE(y[0], y[1]);
}

// Between other layers, where gradients take over one another's memory: MXNet 1.9.1 multiplies the
// slopes' gradient by the slopes there, having overwritten dy with dx.
TEST(LeakyReLU, slopes_between_layers_get_their_gradient) {
  const Symbol x = Variable("data") * 1.0;
  const Symbol net =
      make_symbol("LeakyReLU", "p", std::vector{x}, {{"act_type", "prelu"}}) * Variable("w");
  Executor exe = net.simple_bind(cpu(), {{"data", {2, 3}}, {"w", {2, 3}}, {"p_gamma", {3}}});
  NDArray::from_vector(std::vector<float>{-1, -2, 3, -4, 5, -6}, {2, 3})
      .copy_to(exe.arg_dict()["data"]);
  NDArray::from_vector(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}).copy_to(exe.arg_dict()["w"]);
  NDArray::from_vector(std::vector<float>{0.25, 0.5, 2}, {3}).copy_to(exe.arg_dict()["p_gamma"]);
  exe.forward(true);
  exe.backward({NDArray::ones({2, 3})});
  EXPECT_EQ(exe.grad_dict()["p_gamma"].to_vector<float>(), (std::vector<float>{-17, -4, -36}));
  EXPECT_EQ(exe.grad_dict()["data"].to_vector<float>(), (std::vector<float>{0.25, 1, 3, 1, 5, 12}));
}

TEST(LeakyReLU, slopes_start_at_a_quarter) {
  const Symbol net =
      make_symbol("LeakyReLU", "p", std::vector{Variable("data")}, {{"act_type", "prelu"}});
  EXPECT_EQ(net.attr_dict().at("p_gamma").at("__init__"), R"(["Constant", {"value": 0.25}])");
}

}  // namespace
}  // namespace symbind
