// A chain of a million nodes builds, infers, prints and dies without overflowing the stack.

#include <gtest/gtest.h>

#include <symbind/symbol.h>

namespace symbind {
namespace {

TEST(BadInputLongChain, a_million_nodes_build_infer_print_and_die) {
  constexpr int kLength = 1000000;
  {
    Symbol x = Variable("x");
    for (int i = 0; i < kLength; ++i) x = x + 1.0;
    const InferredShapes shapes = x.infer_shape({{"x", {2, 3}}});
    ASSERT_TRUE(shapes.complete);
    EXPECT_EQ(shapes.outputs[0], Shape({2, 3}));
    EXPECT_EQ(x.get_internals().num_outputs(), static_cast<std::size_t>(kLength) + 1);
    const std::string json = x.tojson();
    EXPECT_GT(json.size(), static_cast<std::size_t>(kLength) * 50);
    EXPECT_GT(x.debug_str().size(), static_cast<std::size_t>(kLength) * 20);
    EXPECT_EQ(Symbol::load_json(json).list_arguments(), std::vector<std::string>{"x"});
  }
}

}  // namespace
}  // namespace symbind
