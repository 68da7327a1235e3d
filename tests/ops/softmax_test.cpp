// The softmaxes: recorded, and against the definition at sizes where oneDNN takes over.

#include <cmath>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// Rows of the last axis; sign −1 makes softmin.
HostTensor row_softmax(const HostTensor& x, double sign, bool logarithm) {
  HostTensor y(x.shape);
  const auto n = static_cast<std::size_t>(x.shape.back());
  for (std::size_t row = 0; row < x.size(); row += n) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += std::exp(sign * x[row + i]);
    for (std::size_t i = 0; i < n; ++i)
      y[row + i] =
          logarithm ? sign * x[row + i] - std::log(sum) : std::exp(sign * x[row + i]) / sum;
  }
  return y;
}

OP_FAMILY(softmaxes) {
  const struct {
    const char* name;
    double sign;
    bool logarithm;
  } rows[] = {{"softmax", 1, false}, {"log_softmax", 1, true}, {"softmin", -1, false}};
  for (const auto& r : rows) {
    c.op(r.name).recorded();
    c.add("many classes").in({4, 3, 96}).recovers({}).ref([r](const HostTensors& in) {
      return row_softmax(in[0], r.sign, r.logarithm);
    });
    c.add("axis out of range").attr("axis", 3).in({2, 2}).raises("axis 3");
  }
}

OP_CASES(SoftmaxActivation) {
  c.recorded();
  c.add("many classes").in({16, 70}).ref([](const HostTensors& in) {
    return row_softmax(in[0], 1, false);
  });
  c.add("a matrix has no positions").attr("mode", "channel").in({2, 3}).raises("rank 3");
}

TEST(Softmax, dtype_is_that_of_the_output) {
  const NDArray x({1, 2, 3, 4}, {2, 2});
  const NDArray y = invoke("softmax", {x}, {{"dtype", "float64"}}).at(0);
  EXPECT_EQ(dtype_name(y.dtype()), std::string("float64"));
  EXPECT_NEAR(y.to_vector<double>()[1], 1 / (1 + std::exp(-1.0)), 1e-12);

  const Symbol net =
      make_symbol("softmax", "s", std::vector{Variable("data")}, {{"dtype", "float16"}});
  Executor exe = net.simple_bind(cpu(), {{"data", {1, 2}}}, {.types = {{"data", DType::kFloat32}}});
  NDArray({0, 0}, {1, 2}).copy_to(exe.arg_dict()["data"]);
  EXPECT_EQ(dtype_name(exe.forward(true).at(0).dtype()), std::string("float16"));
  exe.backward({NDArray({1, 0}, {1, 2}).astype(DType::kFloat16)});
  EXPECT_EQ(exe.grad_dict()["data"].to_vector<float>(), (std::vector<float>{0.25f, -0.25f}));
}

TEST(Softmax, lengths_beyond_the_row_are_the_rows) {
  const NDArray x({0, 0, 0, 0}, {2, 2}), length({9, 1}, {2});
  EXPECT_EQ(invoke("softmax", {x, length}, {{"use_length", "True"}}).at(0).to_vector<float>(),
            (std::vector<float>{0.5f, 0.5f, 1, 0}));
}

TEST(BadInputSoftmax, only_softmax_has_lengths) {
  const AttrDict attrs = {{"use_length", "True"}};
  const NDArray x = NDArray::ones({2, 2}), length({1, 2}, {2});
  const auto says = [](auto call) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("Only softmax supports lengths"), std::string::npos)
          << e.what();
    }
  };
  for (const char* op : {"log_softmax", "softmin"}) {
    SCOPED_TRACE(op);
    says([&] { invoke(op, {x}, attrs); });
    says([&] { invoke(op, {x, length}, attrs); });
    says([&] { make_symbol(op, "s", std::vector{Variable("x")}, attrs); });  // not first at bind
    EXPECT_EQ(invoke(op, {x}, {{"use_length", "False"}}).size(), 1U);
  }
  EXPECT_THROW(invoke("softmax", {x}, attrs), Error);  // its lengths are missing
  EXPECT_EQ(make_symbol("softmax", "s", std::vector{Variable("x")}, attrs).list_arguments(),
            (std::vector<std::string>{"x", "s_length"}));
}

}  // namespace
}  // namespace symbind
