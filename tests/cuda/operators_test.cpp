// Every operator with a CUDA kernel against the CPU, attribute by attribute.

#include <gtest/gtest.h>
#include <symbind/executor.h>

#include "cuda/mlp.h"

namespace symbind {
namespace {

using testing::Mlp;
using testing::relative_difference;

class CudaOperators : public ::testing::Test {
 protected:
  void SetUp() override {
    if (num_gpus() == 0) GTEST_SKIP() << "no GPU";
  }
};

NDArray numbers(const Shape& shape, std::uint32_t seed, DType dtype = DType::kFloat32) {
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  for (float& v : values) v = Mlp::number(seed++);
  return NDArray::from_vector(values, shape).astype(dtype);
}

struct Case {
  std::string op;
  std::vector<NDArray> inputs;  ///< on the CPU, in the order of the arguments
  AttrDict attrs = {};
};

/// Forward, all gradients where there are any, on both devices.
void compare(const Case& c, bool gradients = true) {
  std::vector<NDArray> outputs[2], grads[2];
  for (const int side : {0, 1}) {
    const Context where = side == 0 ? cpu() : gpu();
    std::vector<Symbol> variables;
    std::vector<NDArray> args, args_grad;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
      variables.push_back(Variable("x" + std::to_string(i)));
      args.push_back(c.inputs[i].as_in_context(where));
      args_grad.push_back(NDArray::zeros(c.inputs[i].shape(), where, c.inputs[i].dtype()));
    }
    Executor e =
        make_symbol(c.op, "op", variables, c.attrs)
            .bind(where, args, {.args_grad = args_grad, .grad_req = gradients ? "write" : "null"});
    outputs[side] = e.forward(gradients);
    if (!gradients) continue;
    std::vector<NDArray> heads;
    for (const NDArray& o : outputs[side])
      heads.push_back(numbers(o.shape(), 77, o.dtype()).as_in_context(where));
    e.backward(heads);
    grads[side] = e.grad_arrays();
  }
  for (std::size_t i = 0; i < outputs[0].size(); ++i)
    EXPECT_LE(relative_difference(outputs[1][i], outputs[0][i]), 2e-6) << c.op << " output " << i;
  for (std::size_t i = 0; i < grads[0].size(); ++i)
    EXPECT_LE(relative_difference(grads[1][i], grads[0][i]), 2e-6) << c.op << " gradient " << i;
}

TEST_F(CudaOperators, FullyConnected) {
  for (const auto& [rows, in, out] :
       {std::tuple{100, 784, 128}, {1, 1, 1}, {7, 5, 3}, {64, 33, 1}, {3, 1000, 17}}) {
    compare({"FullyConnected",
             {numbers({rows, in}, 1), numbers({out, in}, 2), numbers({out}, 3)},
             {{"num_hidden", std::to_string(out)}}});
    compare({"FullyConnected",
             {numbers({rows, in}, 1), numbers({out, in}, 2)},
             {{"num_hidden", std::to_string(out)}, {"no_bias", "True"}}});
  }
  compare({"FullyConnected",
           {numbers({2, 3, 4, 5}, 1), numbers({6, 60}, 2), numbers({6}, 3)},
           {{"num_hidden", "6"}}});
  compare({"FullyConnected",
           {numbers({2, 3, 4, 5}, 1), numbers({6, 5}, 2), numbers({6}, 3)},
           {{"num_hidden", "6"}, {"flatten", "False"}}});
}

// A view may start anywhere: 4 bytes is all the alignment there is.
TEST_F(CudaOperators, fully_connected_on_views) {
  const NDArray x = numbers({33, 7}, 1), w = numbers({6, 7}, 2), b = numbers({6}, 3);
  for (int first = 1; first < 4; ++first) {
    const AttrDict attrs = {{"num_hidden", "5"}};
    const auto on = [&](Context c) {
      return invoke("FullyConnected",
                    {x.as_in_context(c).slice(first, 33), w.as_in_context(c).slice(1, 6),
                     b.as_in_context(c).slice(1, 6)},
                    attrs)[0];
    };
    EXPECT_LE(relative_difference(on(gpu()), on(cpu())), 2e-6) << first;
  }
}

TEST_F(CudaOperators, elementwise) {
  for (const DType t : {DType::kFloat32, DType::kFloat64}) {
    for (const Shape& s : {Shape{1}, Shape{3, 5}, Shape{1000, 1001}}) {
      compare({"Activation", {numbers(s, 1, t)}, {{"act_type", "relu"}}});
      compare({"elemwise_add", {numbers(s, 1, t), numbers(s, 2, t)}});
      compare({"add_n", {numbers(s, 1, t), numbers(s, 2, t), numbers(s, 3, t)}});
      compare({"add_n", {numbers(s, 1, t)}});
      compare({"_copy", {numbers(s, 1, t)}});
    }
  }
}

TEST_F(CudaOperators, SoftmaxOutput) {
  const auto labels = [](const Shape& s, int classes) {
    std::vector<float> values(static_cast<std::size_t>(s.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((i * 7 + 3) % static_cast<std::size_t>(classes));
    return NDArray::from_vector(values, s);
  };
  const std::vector<AttrDict> variants = {{},
                                          {{"normalization", "batch"}},
                                          {{"normalization", "valid"}},
                                          {{"use_ignore", "True"}, {"ignore_label", "2"}},
                                          {{"use_ignore", "True"},
                                           {"ignore_label", "2"},
                                           {"normalization", "valid"},
                                           {"grad_scale", "3"}},
                                          {{"smooth_alpha", "0.1"}},
                                          {{"out_grad", "True"}}};
  for (AttrDict attrs : variants) {
    compare({"SoftmaxOutput", {numbers({100, 10}, 1), labels({100}, 10)}, attrs});
    compare({"SoftmaxOutput", {numbers({3, 1000}, 1), labels({3}, 1000)}, attrs});
    compare({"SoftmaxOutput", {numbers({5, 7}, 1), numbers({5, 7}, 2)}, attrs});
    attrs["multi_output"] = "True";
    compare({"SoftmaxOutput", {numbers({4, 6, 5, 3}, 1), labels({4, 15}, 6)}, attrs});
    attrs.erase("multi_output");
    attrs["preserve_shape"] = "True";
    compare({"SoftmaxOutput", {numbers({4, 5, 6}, 1), labels({4, 5}, 6)}, attrs});
  }
}

TEST_F(CudaOperators, sgd_updates) {
  for (const char* clip : {"-1", "0", "0.3"}) {
    const AttrDict attrs = {
        {"lr", "0.1"}, {"wd", "0.01"}, {"rescale_grad", "0.5"}, {"clip_gradient", clip}};
    AttrDict with_momentum = attrs;
    with_momentum["momentum"] = "0.9";
    NDArray w[2], m[2];
    for (const int side : {0, 1}) {
      const Context c = side == 0 ? cpu() : gpu();
      const NDArray g = numbers({1000, 3}, 2).copy().as_in_context(c);
      w[side] = numbers({1000, 3}, 1).as_in_context(c);
      m[side] = numbers({1000, 3}, 3).as_in_context(c);
      invoke("sgd_update", {w[side], g}, attrs, {w[side]});
      for (int i = 0; i < 3; ++i)
        invoke("sgd_mom_update", {w[side], g, m[side]}, with_momentum, {w[side]});
    }
    EXPECT_LE(relative_difference(w[1], w[0]), 1e-6) << clip;
    EXPECT_LE(relative_difference(m[1], m[0]), 1e-6) << clip;
  }
}

TEST_F(CudaOperators, unsupported_operators_are_refused_by_name) {
  try {
    invoke("Activation", {NDArray::ones({2}, gpu())}, {{"act_type", "tanh"}});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kNotImplemented);
    EXPECT_NE(std::string(e.what()).find("cuda: only relu so far"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace symbind
