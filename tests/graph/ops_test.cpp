// The generated functions: every way of calling them compiles, and stores what was given.

#include <symbind/symbind.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symbind {
namespace {

using testing::ElementsAre;

TEST(Ops, InputsMissingBecomeVariables) {
  const Symbol fc = FullyConnected("fc1", Variable("data"), {.num_hidden = 128});
  EXPECT_THAT(fc.list_arguments(), ElementsAre("data", "fc1_weight", "fc1_bias"));
  EXPECT_EQ(fc.list_attr(), (AttrDict{{"num_hidden", "128"}}));
  EXPECT_THAT(fc.list_outputs(), ElementsAre("fc1_output"));
}

TEST(Ops, InputsByName) {
  const Symbol data = Variable("data"), shared = Variable("shared");
  EXPECT_THAT(
      FullyConnected("f", {.data = data, .weight = shared}, {.num_hidden = 2}).list_arguments(),
      ElementsAre("data", "shared", "f_bias"));
  EXPECT_THAT(
      FullyConnected("f", {.data = data, .bias = shared}, {.num_hidden = 2}).list_arguments(),
      ElementsAre("data", "f_weight", "shared"));
  EXPECT_THAT(
      FullyConnected("f", {.data = data}, {.num_hidden = 2, .no_bias = true}).list_arguments(),
      ElementsAre("data", "f_weight"));
  EXPECT_THROW(
      FullyConnected("f", {.data = data, .bias = shared}, {.num_hidden = 2, .no_bias = true}),
      Error);
}

TEST(Ops, TwoInputs) {
  const Symbol a = Variable("a"), b = Variable("b");
  EXPECT_THAT(broadcast_add("s", a, b).list_arguments(), ElementsAre("a", "b"));
  EXPECT_THAT(broadcast_add("s", {.lhs = a, .rhs = b}).list_arguments(), ElementsAre("a", "b"));
  EXPECT_THAT(SoftmaxOutput("softmax", a).list_arguments(), ElementsAre("a", "softmax_label"));
  EXPECT_THAT(SoftmaxOutput("softmax", a, b, {.grad_scale = 0.5}).list_arguments(),
              ElementsAre("a", "b"));
}

TEST(Ops, ListOfInputs) {
  const Symbol a = Variable("a"), b = Variable("b");
  const Symbol c = Concat("c", {a, b, a}, {.dim = 2});
  EXPECT_EQ(c.list_attr(), (AttrDict{{"dim", "2"}, {"num_args", "3"}}));
  EXPECT_THAT(c.list_arguments(), ElementsAre("a", "b"));
}

TEST(Ops, OptionsAsText) {
  const Symbol x = Variable("x");
  const int k = 2;
  EXPECT_EQ(
      Pooling("p", x, {.kernel = {k, 3}, .pool_type = "avg", .global_pool = false}).list_attr(),
      (AttrDict{{"kernel", "(2, 3)"}, {"pool_type", "avg"}, {"global_pool", "False"}}));
  EXPECT_EQ(sum("s", x, {.axis = 1}).list_attr(), (AttrDict{{"axis", "(1,)"}}));
  EXPECT_EQ(sum("s", x, {.axis = {0, 1}, .keepdims = true}).list_attr(),
            (AttrDict{{"axis", "(0, 1)"}, {"keepdims", "True"}}));
  EXPECT_EQ(Dropout("d", x, {.p = 0.25}).list_attr(), (AttrDict{{"p", "0.25"}}));
  EXPECT_EQ(Cast("c", x, {.dtype = DType::kFloat16}).list_attr(), (AttrDict{{"dtype", "float16"}}));
  EXPECT_EQ(Flatten("f", x).list_attr(), AttrDict{});
}

TEST(Ops, UserAttributes) {
  const Symbol fc =
      FullyConnected("f", Variable("x"), {.num_hidden = 1, .attr = {{"ctx_group", "dev1"}}});
  EXPECT_EQ(fc.attr("ctx_group"), "dev1");
  EXPECT_EQ(exp("e", fc, {.attr = {{"__mood__", "angry"}}}).attr("__mood__"), "angry");
}

TEST(Ops, NamesAreMadeUp) {
  const NameManager names;
  EXPECT_EQ(FullyConnected("", Variable("x"), {.num_hidden = 1}).name(), "fullyconnected0");
  EXPECT_EQ(identity("", Variable("x")).name(), "identity0");
}

}  // namespace
}  // namespace symbind
