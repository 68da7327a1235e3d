// Convolution and its fused form: recorded, and against the definition at blocked sizes.

#include <gtest/gtest.h>
#include <symbind/executor.h>

#include "base/build.h"
#include "base/cpu_isa.h"
#include "base/settings.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// 3×3, padding 1, stride 1: y has the extents of x.
HostTensor convolve3x3(const HostTensors& in) {
  const HostTensor &x = in[0], &w = in[1];
  const std::int64_t images = x.shape[0], channels = x.shape[1], height = x.shape[2],
                     width = x.shape[3];
  const std::int64_t filters = w.shape[0];
  HostTensor y(Shape{images, filters, height, width});
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t n = 0; n < images; ++n)
    for (std::int64_t f = 0; f < filters; ++f)
      for (std::int64_t i = 0; i < height; ++i)
        for (std::int64_t j = 0; j < width; ++j) {
          double sum = 0;
          for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t a = -1; a <= 1; ++a)
              for (std::int64_t b = -1; b <= 1; ++b) {
                if (i + a < 0 || i + a >= height || j + b < 0 || j + b >= width) continue;
                sum += x[at(((n * channels + c) * height + i + a) * width + j + b)] *
                       w[at(((f * channels + c) * 3 + a + 1) * 3 + b + 1)];
              }
          y[at(((n * filters + f) * height + i) * width + j)] = sum;
        }
  return y;
}

HostTensor convolve_and_add(const HostTensors& in) {
  HostTensor y = convolve3x3(in);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += in.back()[i];
  return y;
}

OP_CASES(Convolution) {
  c.recorded();
  c.add("small")
      .attr("kernel", "(3, 3)")
      .attr("pad", "(1, 1)")
      .attr("num_filter", 2)
      .attr("no_bias", true)
      .in({1, 2, 4, 3})
      .in({2, 2, 3, 3})
      .recovers({1})
      .ref(convolve3x3);
  c.add("blocked, as Winograd likes it")
      .attr("kernel", "(3, 3)")
      .attr("pad", "(1, 1)")
      .attr("num_filter", 32)
      .attr("no_bias", true)
      .in({2, 32, 16, 16})
      .in({32, 32, 3, 3})
      .no_grad()
      .tolerance(DType::kFloat16, 1e-2, 1e-2)
      .tolerance(DType::kBFloat16, 6e-2, 6e-2)
      .ref(convolve3x3);
  c.add("kernel of another rank")
      .attr("kernel", "(3,)")
      .attr("num_filter", 8)
      .in({1, 2, 5, 5})
      .in({8, 2, 3, 3})
      .in({8})
      .raises("kernel (3,) is 1-D but the data has 2 spatial axes; give (3, 3)");
  c.add("kernel (0, 0)")
      .attr("kernel", "(0, 0)")
      .attr("num_filter", 8)
      .attr("no_bias", true)
      .in({1, 2, 5, 5})
      .in({8, 2, 1, 1})
      .raises("positive");
  c.add("negative stride")
      .attr("kernel", "(1, 1)")
      .attr("stride", "(-1, 1)")
      .attr("num_filter", 8)
      .attr("no_bias", true)
      .in({1, 2, 5, 5})
      .in({8, 2, 1, 1})
      .raises("positive");
  c.add("2^31 filters")
      .attr("kernel", "(1, 1)")
      .attr("num_filter", "2147483648")
      .attr("no_bias", true)
      .in({1, 2, 5, 5})
      .in({8, 2, 1, 1})
      .raises("num_filter");
  c.add("kernel larger than the data")
      .attr("kernel", "(7, 7)")
      .attr("num_filter", 1)
      .attr("no_bias", true)
      .in({1, 1, 5, 5})
      .in({1, 1, 7, 7})
      .raises("covers 7");
}

OP_CASES(_fused_Convolution) {
  c.add("small")
      .attr("epilogue", "sum")
      .attr("kernel", "(3, 3)")
      .attr("pad", "(1, 1)")
      .attr("num_filter", 2)
      .attr("no_bias", true)
      .in({1, 2, 4, 3})
      .in({2, 2, 3, 3})
      .in({1, 2, 4, 3})
      .ref(convolve_and_add);
  c.add("blocked")
      .attr("epilogue", "sum")
      .attr("kernel", "(3, 3)")
      .attr("pad", "(1, 1)")
      .attr("num_filter", 16)
      .attr("no_bias", true)
      .in({1, 16, 4, 4})
      .in({16, 16, 3, 3})
      .in({1, 16, 4, 4})
      .no_grad()
      .tolerance(DType::kFloat16, 1e-2, 1e-2)
      .tolerance(DType::kBFloat16, 6e-2, 6e-2)
      .ref(convolve_and_add);
}

/// Output, data gradient and weight gradient of a convolution with 32 tiles.
std::vector<HostTensor> run_layer() {
  const Symbol net = make_symbol(
      "Convolution", "conv", std::vector{Variable("data")},
      {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "48"}, {"no_bias", "True"}});
  Executor exe = net.simple_bind(cpu(), {{"data", {2, 32, 16, 16}}});
  HostTensor::formula({2, 32, 16, 16}, 1).array().copy_to(exe.arg_dict()["data"]);
  HostTensor::formula({48, 32, 3, 3}, 2).array().copy_to(exe.arg_dict()["conv_weight"]);
  exe.forward(true);
  exe.backward({HostTensor::formula({2, 48, 16, 16}, 3).array()});
  return {HostTensor::from(exe.outputs()[0]), HostTensor::from(exe.grad_dict()["data"]),
          HostTensor::from(exe.grad_dict()["conv_weight"])};
}

TEST(Convolution, winograd_is_near_the_direct_kernel_and_exact_forbids_it) {
  const std::vector<HostTensor> usual = run_layer();
  const std::vector<HostTensor> forbidden = [] {
    const settings::override_for_test winograd("SYMBIND_KERNELS",
                                               "-native_winograd,-onednn_winograd");
    return run_layer();
  }();
  const settings::override_for_test exact("SYMBIND_EXACT", "1");
  const std::vector<HostTensor> direct = run_layer();
  const settings::override_for_test plain("SYMBIND_KERNELS", "-native,-onednn,-blas");
  const std::vector<HostTensor> reference = run_layer();
  for (std::size_t i = 0; i < usual.size(); ++i) {
    EXPECT_TRUE(near(usual[i], reference[i], {1e-5, 0})) << i;
    EXPECT_TRUE(near(direct[i], reference[i], {2e-6, 0})) << i;
    // There is no Winograd for SSE4: the direct kernel runs both times.
    const bool has_winograd = cpu_isa() != Isa::kSse41;
    EXPECT_EQ(usual[i].values != direct[i].values, has_winograd) << i;
    EXPECT_EQ(forbidden[i].values, direct[i].values) << i;
  }
}

TEST(Convolution, of_no_images_has_gradient_zero) {
  const Symbol conv = make_symbol("Convolution", "conv", std::vector<Symbol>{Variable("data")},
                                  {{"kernel", "(2, 2)"}, {"num_filter", "4"}});
  const NDArrayMap grads = {{"conv_weight", NDArray::ones({4, 3, 2, 2})},
                            {"conv_bias", NDArray::ones({4})}};
  Executor exe = conv.bind(cpu(),
                           NDArrayMap{{"data", NDArray({0, 3, 4, 4})},
                                      {"conv_weight", NDArray::ones({4, 3, 2, 2})},
                                      {"conv_bias", NDArray::ones({4})}},
                           {.args_grad = grads});
  exe.forward(true);
  exe.backward({NDArray({0, 4, 3, 3})});
  for (const auto& [name, grad] : grads) {
    EXPECT_EQ(HostTensor::from(grad).values, HostTensor(grad.shape()).values) << name;
  }
}

}  // namespace
}  // namespace symbind
