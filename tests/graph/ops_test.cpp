// The generated functions: every way of calling them compiles, and stores what was given.

#include <symbind/symbind.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symbind {
namespace {

using testing::ElementsAre;

TEST(Ops, inputs_missing_become_variables) {
  const Symbol fc = FullyConnected("fc1", Variable("data"), {.num_hidden = 128});
  EXPECT_THAT(fc.list_arguments(), ElementsAre("data", "fc1_weight", "fc1_bias"));
  EXPECT_EQ(fc.list_attr(), (AttrDict{{"num_hidden", "128"}}));
  EXPECT_THAT(fc.list_outputs(), ElementsAre("fc1_output"));
}

TEST(Ops, inputs_by_name) {
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

TEST(Ops, two_inputs) {
  const Symbol a = Variable("a"), b = Variable("b");
  EXPECT_THAT(broadcast_add("s", a, b).list_arguments(), ElementsAre("a", "b"));
  EXPECT_THAT(broadcast_add("s", {.lhs = a, .rhs = b}).list_arguments(), ElementsAre("a", "b"));
  EXPECT_THAT(SoftmaxOutput("softmax", a).list_arguments(), ElementsAre("a", "softmax_label"));
  EXPECT_THAT(SoftmaxOutput("softmax", a, b, {.grad_scale = 0.5}).list_arguments(),
              ElementsAre("a", "b"));
}

TEST(Ops, list_of_inputs) {
  const Symbol a = Variable("a"), b = Variable("b");
  const Symbol c = Concat("c", {a, b, a}, {.dim = 2});
  EXPECT_EQ(c.list_attr(), (AttrDict{{"dim", "2"}, {"num_args", "3"}}));
  EXPECT_THAT(c.list_arguments(), ElementsAre("a", "b"));
}

// Attributes as MXNet 1.9.1 writes them, byte for byte in its JSON.
TEST(Ops, automatic_variables_carry_the_count) {
  const Symbol x = Variable("x");
  const AttrDict attrs = {{"scale", "2"}, {"sample_type", "bilinear"}, {"num_filter", "3"}};
  const Symbol up = make_symbol("UpSampling", "up", std::vector{x}, attrs);
  AttrDict weight = attrs;
  weight["num_args"] = "1";
  weight["__init__"] = R"(["bilinear", {}])";
  EXPECT_EQ(up.attr_dict().at("up_weight"), weight);
  for (const char* op : {"Concat", "add_n", "stack", "Crop"}) {
    const int count = op == std::string("Crop") ? 2 : 3;
    const AttrDict number = {{"num_args", std::to_string(count)}};
    const Symbol part = make_symbol(op, "c", std::vector{x}, number);  // the rest are made
    EXPECT_EQ(part.list_arguments().size(), static_cast<std::size_t>(count)) << op;
    EXPECT_EQ(part.list_arguments()[1], "c_arg1") << op;
    EXPECT_EQ(part.attr_dict().at("c_arg1"), number) << op;
    EXPECT_THROW(make_symbol(op, "c", std::vector{x, x, x, x}, number), Error) << op;
  }
}

TEST(Ops, given_variables_learn_how_to_start) {
  const Symbol x = Variable("x"), gamma = Variable("g"), own = Variable("o", {.init = "mine"});
  const auto init = [](const Symbol& s, const char* name) {
    return s.attr_dict().at(name).at("__init__");
  };
  const Symbol prelu = make_symbol("LeakyReLU", "", std::vector{x, gamma}, {{"act_type", "prelu"}});
  EXPECT_EQ(init(prelu, "g"), R"(["Constant", {"value": 0.25}])");
  EXPECT_EQ(init(Symbol::load_json(prelu.tojson()), "g"), init(prelu, "g"));
  EXPECT_EQ(init(make_symbol("LeakyReLU", "", std::vector{x, own}, {{"act_type", "prelu"}}), "o"),
            "mine");
  const Symbol bn = make_symbol(
      "BatchNorm", "", std::vector{x, Variable("a"), Variable("b"), Variable("m"), Variable("v")});
  EXPECT_EQ(init(bn, "m"), R"(["zero", {}])");
  EXPECT_EQ(init(bn, "v"), R"(["one", {}])");
  EXPECT_EQ(make_symbol("IdentityAttachKLSparseReg", "kl", std::vector{x})
                .attr_dict()
                .at("kl_moving_avg"),
            (AttrDict{{"__init__", R"(["zero", {}])"}}));
  EXPECT_EQ(x.list_attr(), AttrDict{});
}

// Some of MXNet's operators number a single output, others do not.
TEST(Ops, one_part_is_the_output) {
  const Symbol x = Variable("x");
  const auto outputs = [&](const char* op, const char* key, const char* value) {
    return make_symbol(op, "s", std::vector{x}, {{key, value}}).list_outputs();
  };
  EXPECT_THAT(outputs("_split_v2", "indices", "(0,)"), ElementsAre("s_output"));
  EXPECT_THAT(outputs("_split_v2", "indices", "(0, 1)"), ElementsAre("s_output0", "s_output1"));
  EXPECT_THAT(outputs("SliceChannel", "num_outputs", "1"), ElementsAre("s_output0"));
  EXPECT_THAT(outputs("topk", "ret_typ", "value"), ElementsAre("s_output0"));
  EXPECT_THAT(outputs("amp_multicast", "num_outputs", "1"), ElementsAre("s_output"));
}

TEST(Ops, options_as_text) {
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

TEST(Ops, user_attributes) {
  const Symbol fc =
      FullyConnected("f", Variable("x"), {.num_hidden = 1, .attr = {{"ctx_group", "dev1"}}});
  EXPECT_EQ(fc.attr("ctx_group"), "dev1");
  EXPECT_EQ(exp("e", fc, {.attr = {{"__mood__", "angry"}}}).attr("__mood__"), "angry");
}

TEST(Ops, names_are_made_up) {
  const NameManager names;
  EXPECT_EQ(FullyConnected("", Variable("x"), {.num_hidden = 1}).name(), "fullyconnected0");
  EXPECT_EQ(identity("", Variable("x")).name(), "identity0");
  const Symbol x = Variable("x"), y = Variable("y");  // MXNet 1.9.1's names of the same
  for (const auto& [made, name] :
       std::initializer_list<std::pair<Symbol, const char*>>{{x + y, "_plus0"},
                                                             {x - y, "_minus0"},
                                                             {x * y, "_mul0"},
                                                             {x / y, "_div0"},
                                                             {x + 2.5, "_plusscalar0"},
                                                             {2.5 + x, "_plusscalar1"},
                                                             {x - 2.5, "_minusscalar0"},
                                                             {2.5 - x, "_rminusscalar0"},
                                                             {x * 2.5, "_mulscalar0"},
                                                             {-x, "_mulscalar1"},
                                                             {x / 2.5, "_divscalar0"},
                                                             {2.5 / x, "_rdivscalar0"}})
    EXPECT_EQ(made.name(), name);
}

TEST(Ops, a_prefix_does_not_rename_variables) {
  const Prefix prefix("p_");
  const Symbol x = Variable("x"), fc = FullyConnected("fc", x, {.num_hidden = 1});
  EXPECT_THAT(fc.list_arguments(), ElementsAre("x", "p_fc_weight", "p_fc_bias"));
  EXPECT_EQ((x + 1).name(), "p__plusscalar0");
}

}  // namespace
}  // namespace symbind
