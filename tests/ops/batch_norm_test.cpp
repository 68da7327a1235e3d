// BatchNorm and its fusion with relu: recorded, and the fused form against the two in a row.

#include <cmath>

#include <gtest/gtest.h>

#include <symbind/executor.h>
#include <symbind/operator.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// Batch statistics, gamma 1 unless given, then relu.
HostTensor normalise_relu(const HostTensors& in) {
  const HostTensor& x = in[0];
  const std::int64_t images = x.shape[0], channels = x.shape[1], inner = x.shape.count(2);
  HostTensor y(x.shape);
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    const double m = static_cast<double>(images * inner);
    const auto each = [&](auto f) {
      for (std::int64_t n = 0; n < images; ++n)
        for (std::int64_t i = 0; i < inner; ++i)
          f(static_cast<std::size_t>((n * channels + c) * inner + i));
    };
    each([&](std::size_t i) { sum += x[i]; });
    each([&](std::size_t i) { squares += (x[i] - sum / m) * (x[i] - sum / m); });
    const double scale =
        in[1][static_cast<std::size_t>(c)] / std::sqrt(squares / m + static_cast<double>(1e-3f));
    each([&](std::size_t i) {
      y[i] = std::max(0.0, (x[i] - sum / m) * scale + in[2][static_cast<std::size_t>(c)]);
    });
  }
  return y;
}

OP_CASES(BatchNorm) {
  c.recorded([](OpCase& recorded) {
    // Mean and deviation as outputs pass no gradient back, though the data moves them.
    if (recorded.name() == "output_mean_var") recorded.no_grad();
  });
}

OP_CASES(_fused_BatchNorm_relu) {
  c.add("plain")
      .attr("fix_gamma", false)
      .in({3, 2, 2, 3})
      .in({2}, 0.5, 1.5)
      .in({2}, -0.5, 0.5)
      .in({2})
      .in({2}, 0.5, 1.5)
      .ref(normalise_relu);
  c.add("blocked")
      .attr("fix_gamma", false)
      .in({2, 16, 3, 3})
      .in({16}, 0.5, 1.5)
      .in({16}, -0.5, 0.5)
      .in({16})
      .in({16}, 0.5, 1.5)
      .ref(normalise_relu);
}

TEST(BatchNorm, its_older_names_are_read) {
  for (const char* name : {"BatchNorm_v1", "CuDNNBatchNorm"})
    EXPECT_EQ(OpRegistry::global().get(name).name, "BatchNorm") << name;
}

TEST(BatchNorm, moving_statistics_change_in_backward) {
  const Symbol net =
      make_symbol("BatchNorm", "bn", std::vector{Variable("data")}, {{"momentum", "0.5"}});
  Executor exe = net.simple_bind(cpu(), {{"data", {2, 1}}});
  NDArray({1, 3}, {2, 1}).copy_to(exe.arg_dict()["data"]);
  exe.forward(true);
  EXPECT_EQ(exe.aux_dict()["bn_moving_mean"].to_vector<float>()[0], 0);
  exe.backward({NDArray::ones({2, 1})});
  EXPECT_FLOAT_EQ(exe.aux_dict()["bn_moving_mean"].to_vector<float>()[0], 1);
  EXPECT_FLOAT_EQ(exe.aux_dict()["bn_moving_var"].to_vector<float>()[0], 0.5);
}

}  // namespace
}  // namespace symbind
