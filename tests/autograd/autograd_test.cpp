// The tape from C++: values against the mathematics, scopes, lifetimes, refusals, threads. What
// MXNet computes is compared in tests/python/test_autograd_golden.py.

#include <symbind/autograd.h>

#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <symbind/custom.h>
#include <symbind/executor.h>

namespace symbind {
namespace {

using Numbers = std::vector<float>;

NDArray variable(std::initializer_list<float> values, const Shape& shape,
                 std::string_view req = "write") {
  NDArray x(values, shape);
  x.attach_grad(req);
  return x;
}
Numbers numbers(const NDArray& a) { return a.to_vector<float>(); }

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was refused";
}

TEST(Autograd, header_example) {
  NDArray x({1, 2, 3}, {3});
  x.attach_grad();
  NDArray y;
  {
    const autograd::Record record;
    y = invoke("sum", {x * x}).front();
  }
  y.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{2, 4, 6}));
}

TEST(Autograd, gradients_read_outputs_and_hidden_outputs) {
  NDArray x = variable({0, 1, 2, 3}, {1, 1, 2, 2});
  NDArray y, p;
  {
    const autograd::Record record;
    y = invoke("sqrt", {x + 1.0}).front();
    p = invoke("Pooling", {x}, {{"kernel", "(2, 2)"}, {"pool_type", "max"}}).front() * 4.0;
  }
  y.backward();
  const Numbers slopes = numbers(x.grad());
  EXPECT_FLOAT_EQ(slopes[0], 0.5F);
  EXPECT_FLOAT_EQ(slopes[3], 0.25F);
  p.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{0, 0, 0, 4}));
}

TEST(Autograd, scopes_nest_and_end_with_their_block) {
  using namespace autograd;
  EXPECT_FALSE(is_recording() || is_training());
  try {
    const Record record;
    EXPECT_TRUE(is_recording() && is_training());
    {
      const Pause pause;
      EXPECT_FALSE(is_recording() || is_training());
      const TrainMode train;
      EXPECT_TRUE(!is_recording() && is_training());
    }
    const PredictMode predict;
    EXPECT_TRUE(is_recording() && !is_training());
    throw std::runtime_error("left early");
  } catch (const std::runtime_error&) {
  }
  EXPECT_FALSE(is_recording() || is_training());
}

TEST(Autograd, training_mode_reaches_operators) {
  NDArray x = NDArray::ones({100});
  const auto dropped = [&] {
    const Numbers y = numbers(invoke("Dropout", {x}, {{"p", "0.5"}}).front());
    return std::count(y.begin(), y.end(), 0.F);
  };
  EXPECT_EQ(dropped(), 0);
  const autograd::TrainMode train;
  EXPECT_GT(dropped(), 10);
}

TEST(Autograd, views_and_copies_carry_gradients) {
  NDArray x = variable({1, 2, 3, 4, 5, 6}, {3, 2});
  NDArray total;
  {
    const autograd::Record record;
    const NDArray parts[] = {x.at(1),
                             x.slice(0, 2),
                             x.reshape({2, 3}).index({Index::all(), Index(2)}),
                             x.index({Index(std::nullopt, std::nullopt, -2), Index(0)}),
                             x.astype(DType::kFloat64).astype(DType::kFloat32),
                             x.as_in_context(cpu(1)).as_in_context(cpu(0)),
                             x.copy()};
    total = NDArray::zeros({1});
    NDArray sum = total;
    for (const NDArray& part : parts) sum = sum + invoke("sum", {part}).front();
    total = sum;
  }
  total.backward();
  // at(1): row 1; slice: rows 0, 1; column 2 of 2x3: elements 2, 5; elements 0, 4; three copies
  EXPECT_EQ(numbers(x.grad()), (Numbers{5, 4, 6, 5, 4, 4}));
}

TEST(Autograd, whole_writes_are_recorded_and_others_refused) {
  NDArray x = variable({1, 2}, {2});
  NDArray to = NDArray::zeros({2}), copied = NDArray::zeros({2});
  const autograd::Record record;
  const NDArray y = x * 3.0;
  to.set(y);
  y.copy_to(copied);
  (to * copied).backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{18, 36}));
  NDArray z = x * 2.0;
  for (const auto& write : std::vector<std::function<void()>>{
           [&] { x += 1; }, [&] { z += z; }, [&] { x.set(0.0); }, [&] { z.set({Index(0)}, 1.0); },
           [&] { NDArray::zeros({3}).set({Index(1)}, z.at(0)); }, [&] { z.copy_to(x); },
           [&] { x.mutable_data(); },
           [&] {
             NDArray fresh = NDArray::zeros({2});
             fresh += z;
           },
           [&] { invoke("relu", {z}, {}, {z}); }})
    EXPECT_NE(refusal(write).find("Inplace operations (+=, -=, x[:]=, etc) are not supported when "
                                  "recording with autograd"),
              std::string::npos);
  EXPECT_EQ(numbers(x), (Numbers{1, 2}));
  const autograd::Pause pause;
  x += 1;
  EXPECT_EQ(numbers(x), (Numbers{2, 3}));
}

TEST(Autograd, requests_and_heads) {
  NDArray x = variable({1, 2}, {2}, "add"), y = variable({3, 4}, {2}, "null");
  NDArray a, b;
  {
    const autograd::Record record;
    const NDArray same = x * 1.0;
    a = same * y;
    b = same * same;
  }
  autograd::backward({a, b},
                     {.head_grads = {NDArray({10, 100}, {2}), NDArray()}, .retain_graph = true});
  EXPECT_EQ(numbers(x.grad()), (Numbers{32, 404}));
  a.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{35, 408}));
  EXPECT_EQ(numbers(y.grad()), (Numbers{0, 0}));
  EXPECT_NE(refusal([&] { a.backward(); }).find("retain_graph=True"), std::string::npos);
  EXPECT_NE(refusal([&] { b.backward(); }).find("freed by an earlier backward"), std::string::npos);
}

TEST(Autograd, grad_and_second_order) {
  NDArray x = variable({0.5, 2}, {2});
  NDArray y, again;
  {
    const autograd::Record record;
    y = invoke("_power_scalar", {x}, {{"scalar", "3"}}).front();
    const NDArray first = autograd::grad({y}, {x}, {.create_graph = true}).front();
    again = first * 1.0;
  }
  EXPECT_EQ(numbers(again), (Numbers{0.75, 12}));
  again.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{3, 12}));
}

TEST(Autograd, a_variable_the_heads_do_not_depend_on_has_gradient_zero) {
  NDArray x = variable({1, 2}, {2}), other = variable({1, 2, 3}, {3});
  NDArray y;
  {
    const autograd::Record record;
    y = x * x;
  }
  const std::vector<NDArray> found = autograd::grad({y}, {other, x, x});
  EXPECT_EQ(numbers(found[0]), (Numbers{0, 0, 0}));
  EXPECT_EQ(numbers(found[1]), (Numbers{2, 4}));
  EXPECT_EQ(numbers(found[2]), (Numbers{2, 4}));
  EXPECT_EQ(numbers(x.grad()), (Numbers{0, 0}));
}

TEST(Autograd, memory_goes_with_the_tape) {
  NDArray x = variable({1, 2}, {2});
  bool gone = false;
  float memory[2] = {3, 4};
  const auto record = [&](bool read) {
    gone = false;
    const NDArray held =
        NDArray::wrap(memory, {2}, DType::kFloat32, cpu(), [&gone] { gone = true; });
    const autograd::Record on;
    return read ? x * held : x + held;
  };
  NDArray y = record(true);
  EXPECT_FALSE(gone);
  y = NDArray();
  EXPECT_TRUE(gone);
  y = record(true);
  y.backward();
  EXPECT_TRUE(gone);
  EXPECT_EQ(numbers(x.grad()), (Numbers{3, 4}));
  y = record(false);
  EXPECT_TRUE(gone) << "a sum's gradient reads nothing";
}

class Doubled : public autograd::Function {
 public:
  explicit Doubled(int gradients) : gradients_(gradients) {}
  std::vector<NDArray> forward(const std::vector<NDArray>& inputs) override {
    EXPECT_FALSE(autograd::is_recording());
    return {inputs[0] * 2.0, inputs[0] * inputs[1]};
  }
  std::vector<NDArray> backward(const std::vector<NDArray>& heads) override {
    return std::vector<NDArray>(static_cast<std::size_t>(gradients_), heads[0] * 10.0 + heads[1]);
  }

 private:
  int gradients_;
};

TEST(Autograd, function) {
  NDArray x = variable({1, 2}, {2}), y = variable({3, 4}, {2});
  for (const int gradients : {2, 3}) {
    std::vector<NDArray> out;
    {
      const autograd::Record record;
      out = autograd::call(std::make_shared<Doubled>(gradients), {x, y});
      out[0] = out[0] * 1.0;
    }
    EXPECT_EQ(numbers(out[1]), (Numbers{3, 8}));
    out[0].backward();  // the second output leads nowhere
    if (gradients == 2) {
      EXPECT_EQ(numbers(x.grad()), (Numbers{10, 10}));
      EXPECT_EQ(numbers(y.grad()), (Numbers{10, 10}));
    } else {
      EXPECT_NE(refusal([&] { numbers(x.grad()); }).find("3 gradients for 2 inputs"),
                std::string::npos);
    }
  }
}

TEST(Autograd, symbol_of_a_recording) {
  NDArray x = variable({1, 2}, {2});
  NDArray y;
  {
    const autograd::Record record;
    y = invoke("tanh", {x * 2.0}).front();
  }
  const Symbol symbol = autograd::get_symbol(y);
  ASSERT_EQ(symbol.list_arguments().size(), 1U);
  Executor executor = symbol.bind(cpu(), std::vector<NDArray>{x});
  EXPECT_EQ(numbers(executor.forward()[0]), numbers(y));
}

TEST(BadInputAutograd, says_what_is_wrong) {
  NDArray x = variable({1, 2}, {2});
  const NDArray plain({1, 2}, {2});
  EXPECT_NE(refusal([&] { plain.backward(); }).find("not in a computational graph"),
            std::string::npos);
  EXPECT_NE(refusal([&] { NDArray().backward(); }).find("not in a computational graph"),
            std::string::npos);
  EXPECT_NE(refusal([&] { autograd::backward({}); }).find("require gradients"), std::string::npos);
  EXPECT_NE(refusal([&] { x.backward(NDArray({1}, {1})); }).find("(1,)"), std::string::npos);
  EXPECT_NE(refusal([&] { x.attach_grad("wirte"); }).find("'add'"), std::string::npos);
  EXPECT_NE(refusal([&] { autograd::grad({x}, {plain}); }).find("1-th variable"),
            std::string::npos);
  EXPECT_NE(refusal([&] { NDArray().attach_grad(); }).find("attach_grad"), std::string::npos);
  EXPECT_NE(refusal([&] { autograd::mark_variables({&x}, {NDArray::zeros({3})}); }).find("(3,)"),
            std::string::npos);
  EXPECT_NE(refusal([&] { autograd::call(nullptr, {x}); }).find("Function"), std::string::npos);
  EXPECT_TRUE(x.grad().defined());
}

TEST(ThreadsAutograd, each_thread_has_its_own_modes_and_tape) {
  const NDArray shared({1, 2, 3, 4}, {4});
  std::atomic<int> wrong = 0;
  const autograd::Record record;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      if (autograd::is_recording()) ++wrong;
      NDArray x = NDArray::full({4}, t + 1);
      x.attach_grad();
      for (int i = 0; i < 200; ++i) {
        NDArray y;
        {
          const autograd::Record own;
          y = x * x * shared;
        }
        y.backward();
        if (numbers(x.grad()) != numbers(shared * (2.0 * (t + 1)))) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(autograd::is_recording());
}

// Two threads run backward over one tape: either it exists for both, or one gets an error.
TEST(ThreadsAutograd, one_recording_walked_by_two) {
  for (int round = 0; round < 50; ++round) {
    NDArray x = variable({1, 2}, {2});
    NDArray y;
    {
      const autograd::Record record;
      y = invoke("exp", {x}).front() * x;
    }
    std::atomic<int> done = 0;
    const auto walk = [&] {
      try {
        y.backward();
        ++done;
      } catch (const Error&) {
      }
    };
    std::thread other(walk);
    walk();
    other.join();
    EXPECT_GE(done, 1);
  }
}

}  // namespace
}  // namespace symbind
