// FullyConnected against its definition in double, at sizes that every kernel takes.

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// Rows are everything but the last `features` elements.
HostTensor affine(const HostTensors& in, Shape out) {
  const std::int64_t hidden = in[1].shape[0], features = in[1].shape[1];
  HostTensor y(out);
  const std::int64_t rows = out.size() / hidden;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < hidden; ++j) {
      double sum = in.size() > 2 ? in[2][static_cast<std::size_t>(j)] : 0;
      for (std::int64_t k = 0; k < features; ++k)
        sum += in[0][static_cast<std::size_t>(i * features + k)] *
               in[1][static_cast<std::size_t>(j * features + k)];
      y[static_cast<std::size_t>(i * hidden + j)] = sum;
    }
  return y;
}

OP_CASES(FullyConnected) {
  c.recorded();
  c.add("flatten")
      .attr("num_hidden", 3)
      .in({2, 2, 3})
      .in({3, 6})
      .in({3})
      .recovers({1, 2})
      .ref([](const HostTensors& in) {
        return affine(in, Shape{2, 3});
      });
  c.add("the fewest rows for oneDNN")
      .attr("num_hidden", 96)
      .attr("no_bias", true)
      .in({16, 144})
      .in({96, 144})
      .no_grad()
      .ref([](const HostTensors& in) {
        return affine(in, Shape{16, 96});
      });
  for (const std::int64_t rows : {1, 2, 8})
    c.add("too few rows for oneDNN, large enough for two threads")
        .attr("num_hidden", 96)
        .in({rows, 1100})
        .in({96, 1100})
        .in({96})
        .no_grad()
        .ref([rows](const HostTensors& in) {
          return affine(in, Shape{rows, 96});
        });
  c.add("many rows, large enough for oneDNN")
      .attr("num_hidden", 40)
      .in({40, 72})
      .in({40, 72})
      .in({40})
      .no_grad()
      .tolerance(DType::kFloat16, 8e-3, 2e-3)
      .ref([](const HostTensors& in) {
        return affine(in, Shape{40, 40});
      });
  c.add("an output beyond the L2 cache")
      .attr("num_hidden", 4100)
      .in({260, 9})
      .in({4100, 9})
      .in({4100})
      .no_grad()
      .ref([](const HostTensors& in) {
        return affine(in, Shape{260, 4100});
      });
  c.add("no hidden nodes").attr("num_hidden", 0).in({2, 2}).in({1, 2}).in({1}).raises("num_hidden");
}

/// The layer, then + the last input, then max(0, …).
HostTensor affine_sum_relu(HostTensors in, const Shape& out) {
  const HostTensor more = in.back();
  in.pop_back();
  HostTensor y = affine(in, out);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::max(0.0, y[i] + more[i]);
  return y;
}

OP_CASES(_fused_FullyConnected) {
  c.add("small")
      .attr("num_hidden", 3)
      .attr("epilogue", "sum,relu")
      .in({2, 5})
      .in({3, 5})
      .in({3})
      .in({2, 3})
      .no_grad()
      .ref([](const HostTensors& in) {
        return affine_sum_relu(in, Shape{2, 3});
      });
  c.add("rows for the packed product")
      .attr("num_hidden", 37)
      .attr("epilogue", "sum,relu")
      .in({19, 21})
      .in({37, 21})
      .in({37})
      .in({19, 37})
      .no_grad()
      .ref([](const HostTensors& in) {
        return affine_sum_relu(in, Shape{19, 37});
      });
  c.add("large enough for oneDNN")
      .attr("num_hidden", 96)
      .attr("no_bias", true)
      .attr("epilogue", "sum,relu")
      .in({8, 144})
      .in({96, 144})
      .in({8, 96})
      .no_grad()
      .tolerance(DType::kFloat16, 1e-2, 1e-2)
      .tolerance(DType::kBFloat16, 6e-2, 6e-2)
      .ref([](const HostTensors& in) {
        return affine_sum_relu(in, Shape{8, 96});
      });
}

// The harness has no constant weights; a plan that predicts does.
TEST(FullyConnected, constant_weights_are_packed_for_small_and_large_outputs) {
  for (const Shape& y : {Shape{19, 37}, Shape{70, 4100}}) {
    SCOPED_TRACE(y.str());
    const Shape x{y[0], 21}, w{y[1], 21}, b{y[1]};
    Symbol net = make_symbol("FullyConnected", "fc", std::vector{Variable("data")},
                             {{"num_hidden", std::to_string(y[1])}});
    net = make_symbol("Activation", "relu", std::vector{net}, {{"act_type", "relu"}});
    Executor exe = net.simple_bind(cpu(), {{"data", x}}, {.grad_req = "null"});
    EXPECT_NE(exe.plan_text().find("_fused_FullyConnected 'relu' [native]"), std::string::npos);
    const HostTensors in{HostTensor::formula(x, 1), HostTensor::formula(w, 2),
                         HostTensor::formula(b, 3)};
    const char* names[] = {"data", "fc_weight", "fc_bias"};
    for (std::size_t i = 0; i < in.size(); ++i) in[i].array().copy_to(exe.arg_dict().at(names[i]));
    HostTensor expected = affine(in, y);
    for (double& v : expected.values) v = std::max(0.0, v);
    EXPECT_TRUE(near(HostTensor::from(exe.forward(false)[0]), expected, {1e-5, 1e-5}));
    HostTensor::formula(b, 4).array().copy_to(exe.arg_dict().at("fc_bias"));  // packed again
    expected = affine({in[0], in[1], HostTensor::formula(b, 4)}, y);
    for (double& v : expected.values) v = std::max(0.0, v);
    EXPECT_TRUE(near(HostTensor::from(exe.forward(false)[0]), expected, {1e-5, 1e-5}));
  }
}

}  // namespace
}  // namespace symbind
