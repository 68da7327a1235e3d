// Loops: what they compute once unrolled, by hand; what is bound; what does not fit.

#include <symbind/control_flow.h>
#include <symbind/executor.h>

#include <algorithm>

#include <gtest/gtest.h>

namespace symbind {
namespace {

using Floats = std::vector<float>;

template <class F, class... Parts>
void expect_error(ErrorKind kind, F&& call, const Parts&... parts) {
  try {
    call();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    for (const std::string& part : {std::string(parts)...})
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

// y_t = x_t * s_(t-1),  s_t = s_(t-1) + w * x_t
Symbol products() {
  const LoopResult loop = foreach (
      [](const std::vector<Symbol>& x, const std::vector<Symbol>& s) {
        return LoopResult{{x[0] * s[0]}, {s[0] + Variable("w") * x[0]}};
      },
      {Variable("x")}, {Variable("s")});
  return Group({loop.outputs[0], loop.states[0]});
}

TEST(Unroll, turns_and_their_gradients) {
  const Symbol loop = products();
  EXPECT_EQ(loop.list_arguments(), (std::vector<std::string>{"x", "s", "w"}));
  Executor executor = loop.simple_bind(cpu(), {{"x", {2, 1}}, {"s", {1}}});
  executor.arg_dict().at("x").set(NDArray({2, 3}, {2, 1}));
  executor.arg_dict().at("s").set(5.0);
  executor.arg_dict().at("w").set(7.0);
  const std::vector<NDArray> out = executor.forward(true);
  EXPECT_EQ(out[0].to_vector<float>(), (Floats{2 * 5, 3 * (5 + 7 * 2)}));
  EXPECT_EQ(out[1].to_vector<float>(), (Floats{5 + 7 * 2 + 7 * 3}));
  // L = y_1 + y_2 + s_2 = x_1 s + x_2 (s + w x_1) + s + w (x_1 + x_2)
  executor.backward(std::vector<NDArray>{NDArray({1, 1}, {2, 1}), NDArray({1}, {1})});
  EXPECT_EQ(executor.grad_dict().at("x").to_vector<float>(),
            (Floats{5 + 3 * 7 + 7, 5 + 7 * 2 + 7}));
  EXPECT_EQ(executor.grad_dict().at("s").to_vector<float>(), (Floats{2 + 3 + 1}));
  EXPECT_EQ(executor.grad_dict().at("w").to_vector<float>(), (Floats{3 * 2 + 2 + 3}));
}

TEST(Unroll, reads_the_graph_around_it) {
  const Symbol outer = Variable("w") * 2;
  const LoopResult loop = foreach (
      [&](const std::vector<Symbol>& x, const std::vector<Symbol>&) {
        return LoopResult{{x[0] * outer}, {}};
      },
      {Variable("x")}, {});
  EXPECT_EQ(loop.outputs[0].list_arguments(), (std::vector<std::string>{"x", "w"}));
  // It stays outside, where it runs once.
  const std::vector<std::string> outside = loop.outputs[0].get_internals().list_outputs();
  EXPECT_EQ(std::ranges::count(outside, outer.list_outputs()[0]), 1);
  const NDArray y = loop.outputs[0].eval(
      cpu(), {{"x", NDArray({1, 2, 3, 4}, {2, 2})}, {"w", NDArray({5, 10}, {2})}})[0];
  EXPECT_EQ(y.to_vector<float>(), (Floats{10, 40, 30, 80}));
}

TEST(Unroll, a_loop_in_a_loop) {
  const auto sum = [](const std::vector<Symbol>& x, const std::vector<Symbol>& s) {
    return LoopResult{{}, {s[0] + x[0]}};
  };
  const LoopResult loop = foreach (
      [&](const std::vector<Symbol>& row, const std::vector<Symbol>& s) {
        const Symbol inner = foreach (sum, {row[0]}, {s[0]}).states[0];
        return LoopResult{{inner}, {inner * 10}};
      },
      {Variable("x")}, {Variable("s")});
  const NDArray y = loop.outputs[0].eval(
      cpu(), {{"x", NDArray({1, 2, 3, 4}, {2, 2, 1})}, {"s", NDArray({5}, {1})}})[0];
  EXPECT_EQ(y.to_vector<float>(), (Floats{5 + 1 + 2, 80 + 3 + 4}));
}

TEST(BadInputUnroll, what_does_not_fit) {
  const Symbol loop = products();
  expect_error(
      ErrorKind::kShape,
      [&] {
        loop.simple_bind(cpu(), {{"x", {2, 2}}, {"s", {3}}});
      },
      "state0", "(3,)", "(2,)");
  expect_error(
      ErrorKind::kState,
      [] {
        foreach (
            [](const auto& x, const auto&) {
              return LoopResult{{x[0]}, {x[0]}};
            },
            {Variable("x")}, {Variable("s")})
          ;
      },
      "the state arrays have to be used");
  expect_error(
      ErrorKind::kValue,
      [] {
        foreach (
            [](const auto&, const auto& s) {
              return LoopResult{{s[0]}, {s[0]}};
            },
            {}, {Variable("s")})
          ;
      },
      "needs data");
}

}  // namespace
}  // namespace symbind
