// The regression losses: recorded, and what is made of labels.

#include <cmath>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_FAMILY(regressions) {
  const struct {
    const char* name;
    double (*value)(double);
    double (*slope)(double);
  } rows[] = {
      {"LinearRegressionOutput", [](double x) { return x; }, [](double d) { return d; }},
      {"LogisticRegressionOutput", [](double x) { return 1 / (1 + std::exp(-x)); },
       [](double d) { return d; }},
      {"MAERegressionOutput", [](double x) { return x; },
       [](double d) { return d > 0 ? 1.0 : -1.0; }},
  };
  for (const auto& r : rows) {
    c.op(r.name).recorded();
    c.add("label (N,) of a column")
        .in({3, 1}, -2, 2)
        .in({3}, -2, 2)
        .recovers({1})
        .ref([r](const HostTensors& in) {
          HostTensor y = in[0];
          for (double& v : y.values) v = r.value(v);
          return y;
        })
        .grad_ref([r](const HostTensors& in) {
          HostTensor d = in[0];
          for (std::size_t i = 0; i < d.size(); ++i) d[i] = r.slope(r.value(d[i]) - in[1][i]);
          return HostTensors{d, HostTensor(in[1].shape)};
        });
    c.add("labels of another number").in({2, 3}).in({2, 2}).raises("as many samples");
  }
}

// MXNet 1.9.1 prints -0.25 0.25 -0.25 -0.25.
TEST(RegressionOutput,
     the_gradient_of_mae_is_negative_where_the_data_equals_the_label_and_for_nan) {
  const Symbol net = make_symbol("MAERegressionOutput", "loss", std::vector{Variable("data")});
  Executor exe = net.simple_bind(cpu(), {{"data", {1, 4}}}, {.grad_req = "write"});
  NDArray({1, 2, std::nan(""), 3}, {1, 4}).copy_to(exe.arg_dict()["data"]);
  NDArray({1, 1, 1, 4}, {1, 4}).copy_to(exe.arg_dict()["loss_label"]);
  exe.forward(true);
  exe.backward();
  EXPECT_EQ(exe.grad_dict()["data"].to_vector<float>(),
            (std::vector<float>{-0.25, 0.25, -0.25, -0.25}));
}

TEST(RegressionOutput, gradients_add_up) {
  const Symbol net = make_symbol("LinearRegressionOutput", "loss", std::vector{Variable("data")});
  Executor exe = net.simple_bind(cpu(), {{"data", {1, 2}}}, {.grad_req = "add"});
  NDArray({3, 5}, {1, 2}).copy_to(exe.arg_dict()["data"]);
  NDArray::full({1, 2}, 1).copy_to(exe.arg_dict()["loss_label"]);
  for (int i = 0; i < 2; ++i) {
    exe.forward(true);
    exe.backward();
  }
  EXPECT_EQ(exe.grad_dict()["data"].to_vector<float>(), (std::vector<float>{2, 4}));
}

}  // namespace
}  // namespace symbind
