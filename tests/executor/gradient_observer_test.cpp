// Gradients are reported as soon as they are final, and late writes are finished where they are
// needed.

#include "executor/gradient_observer.h"

#include <gtest/gtest.h>
#include <symbind/executor.h>
#include <symbind/ops.h>

#include <functional>

#include "ndarray/storage.h"

namespace symbind {
namespace {

using Floats = std::vector<float>;
constexpr float kUnwritten = -77;

struct Recorder final : GradientObserver {
  explicit Recorder(std::function<void(std::size_t)> call) : seen(std::move(call)) {}
  void gradient_is_final(std::size_t argument) noexcept override { seen(argument); }
  std::function<void(std::size_t)> seen;
};

/// loss = sum over w3 * (w2 * (w1 * x)): three gradients, in this order of layers.
struct Chain {
  NDArray x = NDArray({1, 2}, {2}), w1 = NDArray({3, 4}, {2}), w2 = NDArray({5, 6}, {2}),
          w3 = NDArray({7, 8}, {2}), unused = NDArray({9}, {1});
  NDArray d1 = NDArray::full({2}, kUnwritten), d2 = NDArray::full({2}, kUnwritten),
          d3 = NDArray::full({2}, kUnwritten);
  Executor executor;

  explicit Chain(const std::string& req = "write") {
    const Symbol first = Variable("w1") * Variable("x"), second = Variable("w2") * first;
    const Symbol loss = MakeLoss("loss", Variable("w3") * second);
    executor = Group({BlockGrad("shown", first), loss})
                   .bind(cpu(), NDArrayMap{{"x", x}, {"w1", w1}, {"w2", w2}, {"w3", w3}},
                         {.args_grad = NDArrayMap{{"w1", d1}, {"w2", d2}, {"w3", d3}},
                          .grad_req = std::map<std::string, std::string>{
                              {"x", "null"}, {"w1", req}, {"w2", req}, {"w3", req}}});
  }
  std::string name(std::size_t argument) const {
    return executor.symbol().list_arguments()[argument];
  }
};

TEST(GradientObserver, a_gradient_is_reported_before_the_earlier_layers_are_computed) {
  Chain chain;
  std::vector<std::string> order;
  std::map<std::string, Floats> values;
  std::vector<bool> first_is_unwritten;
  Recorder recorder([&](std::size_t argument) {
    order.push_back(chain.name(argument));
    values[order.back()] = chain.executor.grad_arrays()[argument].to_vector<float>();
    first_is_unwritten.push_back(chain.d1.to_vector<float>()[0] == kUnwritten);
  });
  set_gradient_observer(chain.executor, &recorder);
  chain.executor.forward(true);
  EXPECT_TRUE(order.empty());
  chain.executor.backward();
  EXPECT_EQ(order, (std::vector<std::string>{"w3", "w2", "w1"}));
  EXPECT_EQ(first_is_unwritten, (std::vector<bool>{true, true, false}));
  // d w3 = w2 w1 x, d w2 = w3 w1 x, d w1 = w3 w2 x
  EXPECT_EQ(values["w3"], Floats({15, 48}));
  EXPECT_EQ(values["w2"], Floats({21, 64}));
  EXPECT_EQ(values["w1"], Floats({35, 96}));
  set_gradient_observer(chain.executor, nullptr);
  chain.executor.forward(true);
  chain.executor.backward();
  EXPECT_EQ(order.size(), 3U);
}

TEST(GradientObserver, an_added_gradient_is_reported_with_the_sum) {
  Chain chain("add");
  std::map<std::string, std::vector<Floats>> values;
  Recorder recorder([&](std::size_t argument) {
    values[chain.name(argument)].push_back(
        chain.executor.grad_arrays()[argument].to_vector<float>());
  });
  set_gradient_observer(chain.executor, &recorder);
  for (NDArray* d : {&chain.d1, &chain.d2, &chain.d3}) d->set(100);
  for (int i = 0; i < 2; ++i) {
    chain.executor.forward(true);
    chain.executor.backward();
  }
  EXPECT_EQ(values["w1"], (std::vector<Floats>{{135, 196}, {170, 292}}));
  EXPECT_EQ(values["w3"], (std::vector<Floats>{{115, 148}, {130, 196}}));
}

TEST(GradientObserver, a_gradient_that_no_output_depends_on_is_reported_as_zero) {
  const NDArray w = NDArray({2}, {1}), v = NDArray({3}, {1}), dw = NDArray::full({1}, kUnwritten),
                dv = NDArray::full({1}, kUnwritten);
  const Symbol used = MakeLoss("loss", Variable("w") * 5), unused = BlockGrad("no", Variable("v"));
  Executor executor = Group({used, unused})
                          .bind(cpu(), NDArrayMap{{"w", w}, {"v", v}},
                                {.args_grad = NDArrayMap{{"w", dw}, {"v", dv}}});
  std::map<std::string, Floats> values;
  Recorder recorder([&](std::size_t argument) {
    values[executor.symbol().list_arguments()[argument]] =
        executor.grad_arrays()[argument].to_vector<float>();
  });
  set_gradient_observer(executor, &recorder);
  executor.forward(true);
  executor.backward();
  EXPECT_EQ(values, (std::map<std::string, Floats>{{"v", {0}}, {"w", {5}}}));
}

struct Late final : LateWrite {
  void finish() override {
    ++calls;
    for (const NDArray& array : arrays) array.storage()->set_late(nullptr);
    write();
  }
  std::vector<NDArray> arrays;
  std::function<void()> write;
  int calls = 0;
};

TEST(LateWrite, the_first_access_finishes_it) {
  NDArray a = NDArray({1, 2}, {2});
  const NDArray view = a.slice(1, 2);
  Late late;
  late.arrays = {a};
  late.write = [&] { a.set(9); };
  a.storage()->set_late(&late);
  EXPECT_EQ(late.calls, 0);
  EXPECT_EQ(view.to_vector<float>(), Floats({9}));
  EXPECT_EQ(a.to_vector<float>(), Floats({9, 9}));
  EXPECT_EQ(late.calls, 1);
}

TEST(LateWrite, an_operator_reads_the_new_value) {
  NDArray a = NDArray({1, 2}, {2});
  Late late;
  late.arrays = {a};
  late.write = [&] { a.set(9); };
  a.storage()->set_late(&late);
  EXPECT_EQ((a + a).to_vector<float>(), Floats({18, 18}));
}

// w2 is written late: by then forward has computed the layer before it.
TEST(LateWrite, forward_waits_where_an_array_is_read_first) {
  Chain chain;
  chain.executor.forward(true);
  NDArray shown = chain.executor.outputs()[0];
  shown.set(kUnwritten);
  chain.x.set(10);
  Floats before;
  Late late;
  late.arrays = {chain.w2};
  late.write = [&] {
    before = shown.to_vector<float>();
    chain.w2.set(1);
  };
  chain.w2.storage()->set_late(&late);
  chain.executor.forward(true);
  EXPECT_EQ(late.calls, 1);
  EXPECT_EQ(before, Floats({30, 40}));
  EXPECT_EQ(chain.executor.outputs()[1].to_vector<float>(), Floats({210, 320}));
  EXPECT_EQ(chain.executor.outputs()[0].to_vector<float>(), Floats({30, 40}));
}

TEST(LateWrite, its_error_is_thrown_by_forward_and_backward_is_refused) {
  Chain chain;
  struct Failing final : LateWrite {
    void finish() override { throw Error(ErrorKind::kLost, "worker 2 lost"); }
  } late;
  chain.w2.storage()->set_late(&late);
  EXPECT_THROW(chain.executor.forward(true), Error);
  EXPECT_THROW(chain.executor.backward(), Error);
  EXPECT_THROW(chain.w2.to_vector<float>(), Error);
  chain.w2.storage()->set_late(nullptr);
  chain.executor.forward(true);
  EXPECT_EQ(chain.executor.outputs()[1].to_vector<float>(), Floats({105, 384}));
}

}  // namespace
}  // namespace symbind
