// The fused step, and what an error inside a run leaves behind.

#include <gtest/gtest.h>

#include <symbind/executor.h>

namespace symbind {
namespace {

using Floats = std::vector<float>;

// dw = x for the loss w·x: numbers that can be followed by hand.
struct Product {
  NDArray x = NDArray({1, 2}, {2}), w = NDArray({10, 20}, {2}), dw = NDArray::zeros({2});
  Executor executor =
      make_symbol("make_loss", "loss", std::vector<Symbol>{Variable("w") * Variable("x")})
          .bind(cpu(), NDArrayMap{{"w", w}, {"x", x}}, {.args_grad = NDArrayMap{{"w", dw}}});
};

TEST(Step, runs_forward_backward_and_updates) {
  Product p;
  const int update = p.executor.add_update("sgd_update", {p.w, p.dw}, p.w, {{"lr", "1"}});
  p.executor.step();
  EXPECT_EQ(p.executor.outputs()[0].to_vector<float>(), Floats({10, 40}));
  EXPECT_EQ(p.dw.to_vector<float>(), Floats({1, 2}));
  EXPECT_EQ(p.w.to_vector<float>(), Floats({9, 18}));
  p.executor.set_update_value(update, "lr", 0.5);
  p.executor.step();
  EXPECT_EQ(p.w.to_vector<float>(), Floats({8.5, 17})) << "with the new learning rate";
  p.executor.step({{"x", NDArray({4, 6}, {2})}});
  EXPECT_EQ(p.w.to_vector<float>(), Floats({6.5, 14})) << "with the data that was fed";
}

TEST(Step, state_of_an_update_goes_on) {
  Product p;
  const NDArray mom = NDArray::zeros({2});
  p.executor.add_update("sgd_mom_update", {p.w, p.dw, mom}, p.w,
                        {{"lr", "1"}, {"momentum", "0.5"}});
  p.executor.step();
  p.executor.step();
  EXPECT_EQ(mom.to_vector<float>(), Floats({-1.5, -3}));
  EXPECT_EQ(p.w.to_vector<float>(), Floats({7.5, 15}));
}

TEST(BadInputStep, unknown_updates_and_values) {
  Product p;
  const int update = p.executor.add_update("sgd_update", {p.w, p.dw}, p.w, {{"lr", "1"}});
  EXPECT_THROW(p.executor.set_update_value(update + 1, "lr", 1), Error);
  EXPECT_THROW(p.executor.set_update_value(update, "momentum", 1), Error);
  EXPECT_THROW(p.executor.add_update("sgd_update", {p.w, p.dw}, NDArray::zeros({3}), {{"lr", "1"}}),
               Error);
  p.executor.step();
  EXPECT_EQ(p.w.to_vector<float>(), Floats({9, 18})) << "refused calls change nothing";
}

// An operator that fails does so when it runs: the error waits on what it would have written.
struct Failing {
  NDArray index = NDArray({9}, {1}), table = NDArray({5, 6}, {2});
  Executor executor =
      (make_symbol("take", "take", std::vector<Symbol>{Variable("a"), Variable("i")},
                   {{"mode", "raise"}}) *
       2.0)
          .bind(cpu(), NDArrayMap{{"a", table}, {"i", index}});
};

TEST(Step, an_error_waits_on_the_outputs_and_is_raised_once) {
  Failing f;
  f.executor.forward();
  const NDArray out = f.executor.outputs()[0];
  try {
    out.wait_to_read();
    FAIL() << "nothing was raised";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("in take 'take'"), std::string::npos) << e.what();
  }
  EXPECT_NO_THROW(out.wait_to_read()) << "once";
  f.index.set(1.0);
  EXPECT_EQ(f.executor.forward()[0].to_vector<float>(), Floats({12})) << "the executor lives on";
}

TEST(Step, an_error_passes_on_to_what_reads_its_array) {
  Failing f;
  f.executor.forward();
  Executor reader = make_symbol("exp", "exp", std::vector<Symbol>{Variable("x")})
                        .bind(cpu(), NDArrayMap{{"x", f.executor.outputs()[0]}});
  reader.forward();
  EXPECT_THROW(reader.outputs()[0].to_vector<float>(), Error);
  EXPECT_NO_THROW(waitall()) << "it was raised already";
}

}  // namespace
}  // namespace symbind
