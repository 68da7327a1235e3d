// Shapes flow both ways, through several operators, from whatever is known.

#include <gtest/gtest.h>

#include <symbind/symbol.h>

namespace symbind {
namespace {

Symbol call(const char* op, const char* name, const std::vector<Symbol>& in,
            const AttrDict& attrs = {}) {
  return make_symbol(op, name, in, attrs);
}

Shape argument(const Symbol& net, const InferredShapes& shapes, const std::string& name) {
  const std::vector<std::string> names = net.list_arguments();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return shapes.args.at(i);
  return Shape::unknown();
}

// The batch size comes from the other summand, the features from the weight.
TEST(InferShape, the_data_of_fully_connected) {
  const Symbol fc = call("FullyConnected", "fc", {Variable("x")}, {{"num_hidden", "6"}});
  const Symbol net = fc + Variable("y");
  const InferredShapes rows = net.infer_shape_partial({{"x", {0, 4}}, {"y", {3, 6}}});
  EXPECT_EQ(argument(net, rows, "x"), Shape({3, 4}));
  EXPECT_EQ(argument(net, rows, "fc_weight"), Shape({6, 4}));
  const InferredShapes both =
      net.infer_shape_partial({{"x", {0, 0}}, {"fc_weight", {6, 5}}, {"y", {3, 6}}});
  EXPECT_EQ(argument(net, both, "x"), Shape({3, 5}));
  EXPECT_TRUE(both.complete);
}

TEST(InferShape, from_the_end_to_the_beginning) {
  const Symbol x = Variable("x");
  const Symbol moved = call("transpose", "t", {call("exp", "e", {x})}, {{"axes", "(1, 0)"}});
  const Symbol net = call("Activation", "a", {moved}, {{"act_type", "tanh"}}) + Variable("y");
  EXPECT_EQ(argument(net, net.infer_shape({{"y", {2, 5}}}), "x"), Shape({5, 2}));
}

TEST(InferShape, one_axis_of_a_concat_is_the_rest) {
  const Symbol net =
      call("Concat", "c", {Variable("a"), Variable("b")}, {{"num_args", "2"}}) + Variable("y");
  const InferredShapes shapes = net.infer_shape({{"a", {2, 3}}, {"y", {2, 7}}});
  EXPECT_EQ(argument(net, shapes, "b"), Shape({2, 4}));
}

// What the rule finds out about one of two equal inputs holds for both; and the search ends.
TEST(InferShape, an_entry_that_is_two_inputs) {
  const Symbol x = call("exp", "e", {Variable("x")});
  const Symbol net = call("reshape_like", "r", {x, x});
  EXPECT_FALSE(net.infer_shape_partial({{"x", {2, 0}}}).complete);
  EXPECT_TRUE(net.infer_shape({{"x", {2, 3}}}).complete);
  EXPECT_EQ(net.infer_type({}).args.size(), 1u);
}

TEST(InferShape, the_label_of_data_with_unknown_classes) {
  const Symbol net = call("SoftmaxOutput", "s", {Variable("x")});
  EXPECT_EQ(argument(net, net.infer_shape_partial({{"x", {4, 0}}}), "s_label"), Shape({4}));
}

TEST(InferShape, reshape_of_partly_known_data) {
  const auto output = [](const char* shape, const char* reverse) {
    return call("Reshape", "r", {Variable("x")}, {{"shape", shape}, {"reverse", reverse}})
        .infer_shape_partial({{"x", {3, 4, 0}}})
        .outputs.at(0)
        .str();
  };
  EXPECT_EQ(output("(-1, 0, 3)", "True"), "(?, 4, 3)");
  EXPECT_EQ(output("(-4, -1, 1, -2)", "False"), "(3, 1, 4, ?)");
}

}  // namespace
}  // namespace symbind
