// The behaviours S24 to S34 of docs/contract.md: names, texts and numbers as MXNet's users know
// them.

#include <gtest/gtest.h>

#include <symbind/executor.h>
#include <symbind/log.h>

#include "support/capture_log.h"

namespace symbind {
namespace {

using Floats = std::vector<float>;

Symbol small_net() {
  const Symbol data = Variable("data");
  const Symbol fc =
      make_symbol("FullyConnected", "fc", std::vector<Symbol>{data}, {{"num_hidden", "6"}});
  const Symbol relu =
      make_symbol("Activation", "relu", std::vector<Symbol>{fc}, {{"act_type", "relu"}});
  return make_symbol("SoftmaxOutput", "softmax", std::vector<Symbol>{relu});
}

struct SmallNet {
  NDArray weight_grad = NDArray::zeros({6, 4});
  NDArray bias_grad = NDArray::zeros({6});
  Executor executor;
  SmallNet() {
    const NDArrayMap args = {{"data", NDArray::ones({1, 4})},
                             {"fc_weight", NDArray::ones({6, 4})},
                             {"fc_bias", NDArray({1, 4, 4, 4, 5, 6}, {6})},
                             {"softmax_label", NDArray({1}, {1})}};
    executor = small_net().bind(
        cpu(), args, {.args_grad = NDArrayMap{{"fc_weight", weight_grad}, {"fc_bias", bias_grad}}});
  }
};

std::string error_text(const std::function<void()>& f, ErrorKind* kind = nullptr) {
  try {
    f();
  } catch (const Error& e) {
    if (kind != nullptr) *kind = e.kind();
    return e.what();
  }
  return "no error";
}

TEST(Contract, S24) {
  const Symbol net = small_net();
  Executor e =
      net.simple_bind(cpu(), {{"data", {2, 4}}},
                      {.grad_req = std::map<std::string, std::string>{{"fc_weight", "write"}}});
  ASSERT_EQ(e.arg_arrays().size(), 4u);
  EXPECT_EQ(e.arg_arrays()[1].shape(), Shape({6, 4}));
  EXPECT_EQ(e.arg_arrays()[1].dtype(), DType::kFloat32);
  for (const NDArray& a : e.arg_arrays()) {
    for (const float v : a.to_vector<float>()) EXPECT_EQ(v, 0.0f);
  }
  EXPECT_FALSE(e.grad_arrays()[0].defined());
  EXPECT_TRUE(e.grad_arrays()[1].defined());
  EXPECT_FALSE(e.grad_arrays()[2].defined());
  // A variable's __dtype__ and its group's device are respected.
  const Symbol x = Variable("x", {.dtype = DType::kFloat64});
  const AttrScope group{{"ctx_group", "far"}};
  const Symbol y = x * 2.0;
  Executor placed = y.simple_bind(cpu(), {{"x", {2}}}, {.group2ctx = {{"far", cpu(1)}}});
  EXPECT_EQ(placed.arg_arrays()[0].dtype(), DType::kFloat64);
  EXPECT_EQ(placed.outputs()[0].context(), cpu(1));
  // Any failure names the cause and the shapes that were given.
  const std::string text = error_text([&] {
    net.simple_bind(cpu(), {{"data", {2, 4}}, {"fc_weight", {6, 5}}});
  });
  EXPECT_EQ(text.rfind("simple_bind error. Arguments:\n", 0), 0u) << text;
  EXPECT_NE(text.find("data: (2, 4)"), text.npos) << text;
  EXPECT_NE(text.find("fc_weight  given (6, 5)   needed (6, 4)"), text.npos) << text;
}

TEST(Contract, S25) {
  const Symbol a = Variable("a"), b = Variable("b");
  const Symbol c = a * b;
  const NDArray av({1, 2}, {2}), bv({3, 4}, {2}), ga = NDArray::zeros({2});
  // A list is in list_arguments order; a dict is by name; a partial gradient dict computes only
  // those.
  Executor by_list = c.bind(cpu(), std::vector<NDArray>{av, bv});
  EXPECT_EQ(by_list.forward()[0].to_vector<float>(), Floats({3, 8}));
  Executor by_name =
      c.bind(cpu(), NDArrayMap{{"b", bv}, {"a", av}}, {.args_grad = NDArrayMap{{"a", ga}}});
  by_name.forward(true);
  by_name.backward({NDArray::ones({2})});
  EXPECT_EQ(ga.to_vector<float>(), Floats({3, 4}));
  EXPECT_FALSE(by_name.grad_arrays()[1].defined());
  EXPECT_NE(error_text([&] {
              c.bind(cpu(), NDArrayMap{{"a", av}});
            }).find("'b' is missing"),
            std::string::npos);
  EXPECT_NE(error_text([&] {
              c.bind(cpu(), std::vector<NDArray>{av, bv}, {.grad_req = "wirte"});
            }).find("allowed: write, add, null"),
            std::string::npos);
  // Auxiliary states are required where there are any.
  const Symbol bn = make_symbol("BatchNorm", "bn", std::vector<Symbol>{a});
  const NDArrayMap args = {{"a", NDArray::ones({2, 3})},
                           {"bn_gamma", NDArray::ones({3})},
                           {"bn_beta", NDArray::zeros({3})}};
  const std::string text = error_text([&] { bn.bind(cpu(), args); });
  EXPECT_NE(text.find("bn_moving_mean (3,)"), text.npos) << text;
}

TEST(Contract, S26) {
  const Symbol y = Variable("x") + 1.0;
  const NDArray x({1, 2}, {2}), g = NDArray::zeros({2});
  Executor e = y.bind(cpu(), std::vector<NDArray>{x}, {.args_grad = std::vector<NDArray>{g}});
  EXPECT_TRUE(e.arg_arrays()[0].aliases(x));
  EXPECT_TRUE(e.grad_arrays()[0].aliases(g));
  EXPECT_EQ(e.arg_arrays()[0].data(), x.data());
}

TEST(Contract, S27) {
  SmallNet net;
  const std::vector<NDArray>& out = net.executor.forward(true);
  EXPECT_EQ(out[0].str(),
            "\n[[0.00378404 0.07600445 0.07600445 0.07600445 0.20660152 0.5616011 ]]\n<NDArray 1x6 "
            "@cpu(0)>");
}

TEST(Contract, S28) {
  SmallNet net;
  net.executor.forward(true);
  net.executor.backward();
  EXPECT_FALSE(net.executor.grad_arrays()[0].defined());
  EXPECT_EQ(net.executor.grad_arrays()[1].str(),
            "\n[[ 0.00378404  0.00378404  0.00378404  0.00378404]\n"
            " [-0.92399555 -0.92399555 -0.92399555 -0.92399555]\n"
            " [ 0.07600445  0.07600445  0.07600445  0.07600445]\n"
            " [ 0.07600445  0.07600445  0.07600445  0.07600445]\n"
            " [ 0.20660152  0.20660152  0.20660152  0.20660152]\n"
            " [ 0.5616011   0.5616011   0.5616011   0.5616011 ]]\n<NDArray 6x4 @cpu(0)>");
}

TEST(Contract, S29) {
  const Symbol a = Variable("a"), b = Variable("b");
  const Symbol c = 2.0 * a + b;
  EXPECT_EQ(c.list_arguments(), (std::vector<std::string>{"a", "b"}));
  const NDArray ga = NDArray::zeros({2}), gb = NDArray::zeros({2});
  Executor e = c.bind(cpu(), std::vector<NDArray>{NDArray({1, 2}, {2}), NDArray({2, 3}, {2})},
                      {.args_grad = NDArrayMap{{"a", ga}, {"b", gb}}});
  const NDArray out = e.forward(true)[0];
  EXPECT_EQ(out.to_vector<float>(), Floats({4, 7}));
  e.backward({out});
  EXPECT_EQ(ga.to_vector<float>(), Floats({8, 14}));
  EXPECT_EQ(gb.to_vector<float>(), Floats({4, 7}));
}

TEST(Contract, S30) {
  const Symbol y = Variable("x") + 1.0;
  NDArray x({1, 2}, {2});
  Executor e = y.bind(cpu(), std::vector<NDArray>{x});
  EXPECT_EQ(e.forward()[0].to_vector<float>(), Floats({2, 3}));
  x.set({Index(1)}, 3.0);
  EXPECT_EQ(e.forward()[0].to_vector<float>(), Floats({2, 4}));
}

TEST(Contract, S31) {
  const Symbol c = Variable("a") + Variable("b");
  const InferredShapes shapes = c.infer_shape({{"a", {2, 3}}, {"b", {2, 3}}});
  ASSERT_TRUE(shapes.complete);
  EXPECT_EQ(shapes.args, (std::vector<Shape>{{2, 3}, {2, 3}}));
  EXPECT_EQ(shapes.outputs, (std::vector<Shape>{{2, 3}}));
  const InferredTypes types = c.infer_type({{"a", DType::kFloat32}, {"b", DType::kFloat32}});
  EXPECT_EQ(types.args, (std::vector<DType>{DType::kFloat32, DType::kFloat32}));
  EXPECT_EQ(types.outputs, (std::vector<DType>{DType::kFloat32}));
  const Symbol bn = make_symbol("BatchNorm", "bn", std::vector<Symbol>{Variable("data")});
  EXPECT_EQ(bn.infer_shape({{"data", {2, 3, 4, 4}}}).aux, (std::vector<Shape>{{3}, {3}}));
}

TEST(Contract, S32) {
  SmallNet net;
  const void* before = net.executor.arg_arrays()[0].data();
  const std::vector<NDArray>& out =
      net.executor.forward(true, {{"data", NDArray({2, 0, 0, 0}, {1, 4})}});
  EXPECT_EQ(net.executor.arg_arrays()[0].data(), before);
  EXPECT_EQ(net.executor.arg_arrays()[0].to_vector<float>(), Floats({2, 0, 0, 0}));
  EXPECT_EQ(&out, &net.executor.outputs());
  ErrorKind kind{};
  EXPECT_EQ(error_text(
                [&] {
                  net.executor.forward(true, {{"dta", NDArray::ones({1, 4})}});
                },
                &kind)
                .rfind("Unknown argument dta", 0),
            0u);
  EXPECT_EQ(kind, ErrorKind::kType);
  EXPECT_EQ(error_text(
                [&] {
                  net.executor.forward(true, {{"data", NDArray::ones({2, 4})}});
                },
                &kind)
                .rfind("Shape not match! Argument data, need: (1, 4), received: (2, 4)", 0),
            0u);
  EXPECT_EQ(kind, ErrorKind::kShape);
  EXPECT_EQ(net.executor.arg_arrays()[0].to_vector<float>(), Floats({2, 0, 0, 0}))
      << "a refused call changes nothing";
}

TEST(Contract, S33) {
  SmallNet net;
  CaptureLog log;
  net.executor.backward();
  net.executor.backward();
  net.executor.forward(true);
  net.executor.forward(true);
  net.executor.forward(true);
  EXPECT_EQ(
      log.lines(),
      (std::vector<std::string>{
          "Calling backward without calling forward(is_train=True) first. Behavior is undefined.",
          "Calling forward the second time after forward(is_train=True) without calling backward "
          "first. Is this intended?"}));
}

TEST(Contract, S34) {
  SmallNet net;
  net.executor.forward(true);
  net.executor.backward();
  const float before = net.executor.outputs()[0].to_vector<float>()[1];
  for (std::size_t i = 0; i < net.executor.arg_arrays().size(); ++i) {
    NDArray value = net.executor.arg_arrays()[i];
    const NDArray grad = net.executor.grad_arrays()[i];
    if (grad.defined()) value -= grad;
  }
  const float after = net.executor.forward()[0].to_vector<float>()[1];
  EXPECT_GT(after, before) << "in place: the model learned its label";
  NDArray rebound = net.executor.arg_arrays()[1];
  rebound = rebound - NDArray::ones({6, 4});
  EXPECT_EQ(net.executor.forward()[0].to_vector<float>()[1], after)
      << "rebinding the name does not";
}

}  // namespace
}  // namespace symbind
