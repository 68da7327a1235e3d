// The fused step, and the state after an error inside a run.

#include <gtest/gtest.h>

#include <symbind/executor.h>
#include <symbind/interrupt.h>
#include <symbind/operator.h>
#include <symbind/ops.h>
#include <symbind/runtime.h>

#include <chrono>
#include <cmath>
#include <thread>

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

TEST(Step, state_of_an_update_continues) {
  Product p;
  const NDArray mom = NDArray::zeros({2});
  p.executor.add_update("sgd_mom_update", {p.w, p.dw, mom}, p.w,
                        {{"lr", "1"}, {"momentum", "0.5"}});
  p.executor.step();
  p.executor.step();
  EXPECT_EQ(mom.to_vector<float>(), Floats({-1.5, -3}));
  EXPECT_EQ(p.w.to_vector<float>(), Floats({7.5, 15}));
}

// Weights of which each has its own last use: w1 is in two layers, gamma is read again in backward,
// no output depends on idle.
struct Layers {
  std::vector<std::string> names = {"w1", "gamma", "beta", "w2", "idle"};
  Executor executor;

  Layers() {
    const Symbol w1 = Variable("w1"), x = Variable("x");
    Symbol h = FullyConnected("fc1", {.data = x, .weight = w1}, {.num_hidden = 6, .no_bias = true});
    h = BatchNorm("bn", {.data = h, .gamma = Variable("gamma"), .beta = Variable("beta")},
                  {.fix_gamma = false});
    h = Activation("act", h, {.act_type = "tanh"});
    h = FullyConnected("fc2", {.data = h, .weight = w1}, {.num_hidden = 6, .no_bias = true});
    h = FullyConnected("fc3", {.data = h, .weight = Variable("w2")},
                       {.num_hidden = 3, .no_bias = true});
    const Symbol net = Group({MakeLoss("loss", h), BlockGrad("none", Variable("idle"))});
    executor = net.simple_bind(cpu(), {{"x", {8, 6}}, {"idle", {4}}},
                               {.grad_req = std::map<std::string, std::string>{{"x", "null"},
                                                                               {"w1", "write"},
                                                                               {"gamma", "write"},
                                                                               {"beta", "write"},
                                                                               {"w2", "write"},
                                                                               {"idle", "write"}}});
    float value = 0;
    for (const auto& [name, array] : executor.arg_dict()) {
      Floats numbers(static_cast<std::size_t>(array.size()));
      for (float& number : numbers) number = std::sin(value += 1);
      NDArray(array).copy_from_host(numbers.data(), DType::kFloat32);
    }
  }
  NDArray weight(const std::string& name) const { return executor.arg_dict().at(name); }
  NDArray gradient(const std::string& name) const { return executor.grad_dict().at(name); }
};

TEST(Step, gives_the_numbers_of_the_verbs_and_updates_after_them) {
  Layers step, verbs;
  const AttrDict attrs{{"lr", "0.25"}, {"wd", "0.125"}};
  for (const std::string& name : step.names)
    step.executor.add_update("sgd_update", {step.weight(name), step.gradient(name)},
                             step.weight(name), attrs);
  for (int i = 0; i < 3; ++i) {
    step.executor.step();
    verbs.executor.forward(true);
    verbs.executor.backward();
    for (const std::string& name : verbs.names)
      invoke("sgd_update", {verbs.weight(name), verbs.gradient(name)}, attrs, {verbs.weight(name)});
    for (const std::string& name : step.names) {
      EXPECT_EQ(step.gradient(name).to_vector<float>(), verbs.gradient(name).to_vector<float>())
          << name << " in step " << i;
      EXPECT_EQ(step.weight(name).to_vector<float>(), verbs.weight(name).to_vector<float>())
          << name << " in step " << i;
    }
  }
  EXPECT_EQ(step.gradient("idle").to_vector<float>(), Floats(4, 0.0F));
}

const float* watched = nullptr;

TEST(Step, an_interruption_changes_all_weights_or_none) {
  const Shape shape{1'000'000};  // so long that every step polls
  const NDArray x = NDArray::full(shape, 1), w1 = NDArray::full(shape, 3),
                w2 = NDArray::full(shape, 5);
  const NDArray d1 = NDArray::zeros(shape), d2 = NDArray::zeros(shape);
  Executor e = MakeLoss("loss", Variable("w1") * exp("exp", Variable("w2") * Variable("x")))
                   .bind(cpu(), NDArrayMap{{"x", x}, {"w1", w1}, {"w2", w2}},
                         {.args_grad = NDArrayMap{{"w1", d1}, {"w2", d2}}});
  e.add_update("sgd_update", {w1, d1}, w1, {{"lr", "0.001"}});
  e.add_update("sgd_update", {w2, d2}, w2, {{"lr", "0.001"}});
  watched = static_cast<const float*>(w1.data());
  set_interrupt_check([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // the next poll calls it again
    return *watched != 3;
  });
  EXPECT_NO_THROW(e.step());
  const Floats first = w1.to_vector<float>(), second = w2.to_vector<float>();
  EXPECT_NE(first[0], 3);
  EXPECT_NE(second[0], 5);
  EXPECT_THROW(e.step(), Interrupted);
  set_interrupt_check(nullptr);
  EXPECT_EQ(w1.to_vector<float>(), first);
  EXPECT_EQ(w2.to_vector<float>(), second);
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

// w times an element that a bad index makes fail; backward reads nothing that is bound but w.
struct FailingLoss {
  NDArray index = NDArray({1}, {1}), w = NDArray({10}, {1}), dw = NDArray::zeros({1});
  Executor executor =
      make_symbol("make_loss", "loss",
                  std::vector<Symbol>{Variable("w") *
                                      make_symbol("take", "take",
                                                  std::vector<Symbol>{Variable("a"), Variable("i")},
                                                  {{"mode", "raise"}})})
          .bind(cpu(), NDArrayMap{{"w", w}, {"a", NDArray({5, 6}, {2})}, {"i", index}},
                {.args_grad = NDArrayMap{{"w", dw}}});
};

TEST(Step, backward_does_not_read_what_a_failed_forward_left) {
  FailingLoss f;
  f.executor.forward(true);
  f.executor.backward();
  EXPECT_EQ(f.dw.to_vector<float>(), Floats({6}));
  f.index.set(9.0);
  f.executor.forward(true);
  f.executor.backward();
  EXPECT_THROW(f.dw.to_vector<float>(), Error) << "the gradient was not computed";
  EXPECT_THROW(f.executor.backward(), Error) << "the error was read, forward still failed";
  f.index.set(0.0);
  f.executor.forward(true);
  f.executor.backward();
  EXPECT_EQ(f.dw.to_vector<float>(), Floats({5})) << "the executor lives on";
}

TEST(Step, backward_may_be_tried_again_with_another_head_gradient) {
  const NDArray dx = NDArray::zeros({1});
  Executor e =
      (Variable("x") * 3.0)
          .bind(cpu(), NDArrayMap{{"x", NDArray({1}, {1})}}, {.args_grad = NDArrayMap{{"x", dx}}});
  Failing f;
  f.executor.forward();
  e.forward(true);
  e.backward({f.executor.outputs()[0]});
  EXPECT_THROW(dx.wait_to_read(), Error);
  e.backward({NDArray({2}, {1})});
  EXPECT_EQ(dx.to_vector<float>(), Floats({6}));
}

TEST(Step, a_failed_forward_updates_nothing) {
  FailingLoss f;
  f.executor.add_update("sgd_update", {f.w, f.dw}, f.w, {{"lr", "1"}});
  f.executor.step();
  EXPECT_EQ(f.w.to_vector<float>(), Floats({4}));
  f.index.set(9.0);
  f.executor.step();
  EXPECT_THROW(f.w.to_vector<float>(), Error);
  EXPECT_EQ(f.w.to_vector<float>(), Floats({4})) << "as it was";
}

// An operator of a user's that throws what is no Error.
struct ThrowAttrs {
  int what = 0;
  void describe(AttrVisitor& v) { v.field("what", what, "Which exception."); }
};
void infer_same(const ThrowAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}
Prepared throwing(const ThrowAttrs& a, const KernelRequest&) {
  return [what = a.what](const Args&) {
    if (what == 0) throw std::runtime_error("theirs");
    if (what == 1) throw std::bad_alloc();
    if (what == 3) throw Interrupted();
    throw what;
  };
}

void add_throwing_operator() {
  static const bool added = [] {
    OpRegistry::global().add<ThrowAttrs>("_test_throws").infer(infer_same).reference(throwing);
    return true;
  }();
  (void)added;
}

TEST(Step, whatever_an_operator_throws_waits_on_its_outputs) {
  add_throwing_operator();
  const ErrorKind kinds[] = {ErrorKind::kState, ErrorKind::kMemory, ErrorKind::kState};
  for (int what = 0; what < 3; ++what) {
    const AttrDict attrs{{"what", std::to_string(what)}};
    Executor graph = make_symbol("_test_throws", "t", std::vector<Symbol>{Variable("x")}, attrs)
                         .simple_bind(cpu(), {{"x", {1}}}, {.grad_req = "null"});
    Product p;
    const NDArray updated = NDArray::zeros({2});
    p.executor.add_update("_test_throws", {p.w}, updated, attrs);
    const auto raised = [&](const NDArray& array) {
      try {
        array.wait_to_read();
      } catch (const Error& e) {
        return e.kind() == kinds[what] && std::string(e.what()).find("in _test_throws") != 0;
      }
      return false;
    };
    EXPECT_TRUE(raised(graph.forward()[0])) << what << " in a graph";
    EXPECT_TRUE(raised(invoke("_test_throws", {p.w}, attrs)[0])) << what << " on its own";
    EXPECT_NO_THROW(p.executor.step());
    EXPECT_TRUE(raised(updated)) << what << " as an update";
  }
}

// An interruption is no error of what was computed: nothing keeps it.
TEST(Step, an_interruption_passes_through_from_everywhere) {
  add_throwing_operator();
  const AttrDict attrs{{"what", "3"}};
  Executor graph = make_symbol("_test_throws", "t", std::vector<Symbol>{Variable("x")}, attrs)
                       .simple_bind(cpu(), {{"x", {1}}}, {.grad_req = "null"});
  EXPECT_THROW(graph.forward(), Interrupted);
  EXPECT_NO_THROW(graph.outputs()[0].wait_to_read());
  Product p;
  EXPECT_THROW(invoke("_test_throws", {p.w}, attrs), Interrupted);
  const NDArray updated = NDArray::zeros({2});
  p.executor.add_update("_test_throws", {p.w}, updated, attrs);
  EXPECT_THROW(p.executor.step(), Interrupted);
  EXPECT_NO_THROW(updated.wait_to_read());
}

TEST(BadInputStep, updates_with_other_inputs_than_the_operator_has) {
  Product p;
  EXPECT_THROW(p.executor.add_update("sgd_mom_update", {p.w, p.dw}, p.w, {{"lr", "1"}}), Error);
  EXPECT_THROW(p.executor.add_update("sgd_update", {p.w, NDArray()}, p.w, {{"lr", "1"}}), Error);
  EXPECT_THROW(p.executor.add_update("SliceChannel", {p.w}, NDArray::zeros({1}),
                                     {{"num_outputs", "2"}, {"axis", "0"}}),
               Error);
}

}  // namespace
}  // namespace symbind
