// SoftmaxOutput: recorded, and the label's two further shapes.

#include <cmath>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "base/settings.h"
#include "tests/support/golden.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

HostTensor row_softmax(const HostTensor& x) {
  HostTensor p(x.shape);
  const auto classes = static_cast<std::size_t>(x.shape[1]);
  for (std::size_t row = 0; row < x.size(); row += classes) {
    double sum = 0;
    for (std::size_t i = 0; i < classes; ++i) sum += std::exp(x[row + i]);
    for (std::size_t i = 0; i < classes; ++i) p[row + i] = std::exp(x[row + i]) / sum;
  }
  return p;
}

OP_CASES(SoftmaxOutput) {
  // A label left out is inferred in the usual form: those given in another are replayed elsewhere.
  for (const golden::Case& k : golden::cases_of("SoftmaxOutput")) {
    if (k.name != "soft label" && k.name != "multi_output, label with spatial axes" &&
        k.inputs[1].shape.rank() <= 2)
      c.add(k.name).recorded();
  }
  const auto gradient = [](const HostTensors& in) {
    HostTensor d = row_softmax(in[0]);
    const auto classes = static_cast<std::size_t>(in[0].shape[1]);
    for (std::size_t i = 0; i < in[1].size(); ++i)
      d[i * classes + static_cast<std::size_t>(in[1][i])] -= 1;
    return HostTensors{d, HostTensor(in[1].shape)};
  };
  const auto value = [](const HostTensors& in) { return row_softmax(in[0]); };
  c.add("label (N,)").in({3, 4}).in_indices({3}, 4).recovers({1}).ref(value).grad_ref(gradient);
}

TEST(SoftmaxOutput, label_of_one_column_is_taken_as_rows) {
  const Symbol net = make_symbol("SoftmaxOutput", "softmax", std::vector{Variable("data")});
  Executor exe = net.simple_bind(cpu(), {{"data", {2, 2}}, {"softmax_label", {2, 1}}});
  NDArray({0, 1}, {2, 1}).copy_to(exe.arg_dict()["softmax_label"]);
  exe.forward(true);
  exe.backward();
  EXPECT_EQ(exe.grad_dict()["data"].to_vector<float>(), (std::vector<float>{-0.5, 0.5, 0.5, -0.5}));
}

TEST(BadInputSoftmaxOutput, data_without_an_axis_of_classes) {
  const NDArray scalar = NDArray::ones({}), row = NDArray::ones({3});
  EXPECT_THROW(invoke("SoftmaxOutput", {scalar, scalar}, {{"preserve_shape", "True"}}), Error);
  EXPECT_THROW(invoke("SoftmaxOutput", {scalar, scalar}), Error);
  EXPECT_THROW(invoke("SoftmaxOutput", {row, row}, {{"multi_output", "True"}}), Error);
}

TEST(SoftmaxOutput, check_names_row_and_value) {
  const settings::override_for_test check("SYMBIND_CHECK", "1");
  const Symbol net = make_symbol("SoftmaxOutput", "softmax", std::vector{Variable("data")});
  Executor exe = net.simple_bind(cpu(), {{"data", {2, 3}}});
  NDArray({1, 3}, {2}).copy_to(exe.arg_dict()["softmax_label"]);
  try {
    exe.forward(true);
    exe.backward();
    waitall();
    FAIL() << "a label of 3 is no class of 3";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("row 1 is 3"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace symbind
