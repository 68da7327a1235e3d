// Equal subexpressions are computed once; what draws random numbers, or differs, is not merged.

#include <gtest/gtest.h>

#include <symbind/executor.h>
#include <symbind/random.h>

#include "base/settings.h"

namespace symbind {
namespace {

using Floats = std::vector<float>;

Symbol call(const char* op, const char* name, const Symbol& x, const AttrDict& attrs = {}) {
  return make_symbol(op, name, std::vector<Symbol>{x}, attrs);
}

std::size_t nodes_of(const Executor& e) {
  return e.optimized_symbol().get_internals().list_outputs().size();
}

Executor bind(const Symbol& s, const NDArray& x) { return s.bind(cpu(), NDArrayMap{{"x", x}}); }

TEST(CommonExpressions, equal_ones_are_computed_once) {
  const Symbol x = Variable("x");
  const Symbol sum = call("exp", "a", x) + call("exp", "b", x);
  Executor merged = bind(sum, NDArray({0, 0}, {2}));
  EXPECT_EQ(nodes_of(merged), 3u);
  EXPECT_EQ(merged.forward()[0].to_vector<float>(), Floats({2, 2}));
  const settings::override_for_test off("MXNET_ELIMINATE_COMMON_EXPR", "0");
  Executor apart = bind(sum, NDArray({0, 0}, {2}));
  EXPECT_EQ(nodes_of(apart), 4u);
  EXPECT_EQ(apart.forward()[0].to_vector<float>(), Floats({2, 2}));
}

TEST(CommonExpressions, other_attributes_or_inputs_are_other_expressions) {
  const Symbol x = Variable("x"), y = Variable("y");
  const Symbol sum = call("_plus_scalar", "a", x, {{"scalar", "1"}}) +
                     call("_plus_scalar", "b", x, {{"scalar", "2"}}) +
                     call("_plus_scalar", "c", y, {{"scalar", "2"}});
  Executor e = sum.bind(cpu(), NDArrayMap{{"x", NDArray({10}, {1})}, {"y", NDArray({100}, {1})}});
  EXPECT_EQ(e.forward()[0].to_vector<float>(), Floats({125}));
}

TEST(CommonExpressions, random_operators_draw_each_for_itself) {
  seed(7);
  const Symbol x = Variable("x");
  const AttrDict always = {{"p", "0.5"}, {"mode", "always"}};
  const Symbol both =
      Group({call("Dropout", "first", x, always), call("Dropout", "second", x, always)});
  Executor e = bind(both, NDArray::ones({1000}));
  const std::vector<NDArray>& drawn = e.forward();
  EXPECT_NE(drawn[0].to_vector<float>(), drawn[1].to_vector<float>());
}

TEST(CommonExpressions, states_are_written_by_each_batch_norm) {
  const Symbol x = Variable("x"), mean = Variable("mean"), var = Variable("var");
  const auto norm = [&](const char* name) {
    return make_symbol("BatchNorm", name,
                       NamedSymbols{{"data", x}, {"moving_mean", mean}, {"moving_var", var}},
                       {{"momentum", "0.5"}});
  };
  const Symbol loss = call("make_loss", "loss", norm("a") + norm("b"));
  Executor e = loss.simple_bind(cpu(), {{"x", {2, 1}}});
  NDArray in = e.arg_dict().at("x");
  in.copy_from_host(Floats({3, 5}).data(), DType::kFloat32);
  e.forward(true);
  e.backward();
  EXPECT_EQ(e.aux_dict().at("mean").to_vector<float>(), Floats({3})) << "0 → 2 → 3 on the way to 4";
}

}  // namespace
}  // namespace symbind
