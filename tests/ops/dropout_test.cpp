// Dropout: recorded where nothing is drawn; the rest are properties.

#include <gtest/gtest.h>

#include <symbind/executor.h>
#include <symbind/random.h>

#include "base/settings.h"
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

TEST(Dropout, the_mask_does_not_depend_on_the_layout) {
  // The convolution doubles its input. By itself it makes blocked tensors; without oneDNN and our
  // Winograd kernels they are plain.
  Symbol net = make_symbol("Convolution", "conv", std::vector{Variable("data")},
                           {{"num_filter", "32"}, {"kernel", "(1, 1)"}, {"no_bias", "True"}});
  net = make_symbol("Dropout", "drop", std::vector{net}, {{"p", "0.3"}});
  std::vector<HostTensor> outputs, gradients;
  for (const char* kernels : {"", "-onednn"}) {
    const settings::override_for_test setting("SYMBIND_KERNELS", kernels);
    Executor exe = net.simple_bind(cpu(), {{"data", {2, 32, 5, 7}}});
    EXPECT_EQ(exe.plan_text().find("blocked") != std::string::npos, *kernels == '\0');
    HostTensor weight(Shape{32, 32, 1, 1});
    for (std::size_t i = 0; i < 32; ++i) weight[33 * i] = 2;
    weight.array().copy_to(exe.arg_dict().at("conv_weight"));
    HostTensor::formula({2, 32, 5, 7}, 1, 0.5, 1).array().copy_to(exe.arg_dict().at("data"));
    seed(7);
    exe.forward(true);
    exe.backward({HostTensor::formula({2, 32, 5, 7}, 2, 0.5, 1).array()});
    outputs.push_back(HostTensor::from(exe.outputs()[0]));
    gradients.push_back(HostTensor::from(exe.grad_dict().at("data")));
  }
  EXPECT_TRUE(near(outputs[0], outputs[1], {1e-6, 0}));
  EXPECT_TRUE(near(gradients[0], gradients[1], {1e-6, 0}));
  std::size_t kept = 0;
  for (const double v : outputs[0].values) kept += v != 0;
  EXPECT_NEAR(static_cast<double>(kept), 0.7 * 2240, 100);
}

}  // namespace
}  // namespace symbind
