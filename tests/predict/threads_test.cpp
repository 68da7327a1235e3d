// Many threads at one Predictor: every answer is the serial one, bit for bit.

#include "tests/predict/nets.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <symbind/custom.h>

namespace symbind {
namespace {

constexpr int kThreads = 16;

struct Asked {
  NDArray input;
  Floats answer;
};

/// Mixed batches and image sizes, with the answers of a separate predictor.
std::vector<Asked> questions(const std::string& net, int threads) {
  const Predictor serial = recorded_predictor(net, {.threads = threads});
  std::vector<Asked> all;
  for (const auto& [batch, height, width] :
       {std::tuple{1, 8, 8}, {2, 8, 8}, {3, 8, 8}, {5, 8, 8}, {1, 12, 9}, {4, 6, 10}, {1, 8, 8}}) {
    const NDArray x = image(batch, height, width, 100 + all.size());
    all.push_back({x, serial.predict(x)[0].to_vector<float>()});
  }
  return all;
}

/// How many of `calls` answers per thread were others than the serial ones.
int differing(const Predictor& predictor, const std::vector<Asked>& all, int calls) {
  std::atomic<int> wrong{0}, thrown{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < calls; ++i) {
        const Asked& asked = all[static_cast<std::size_t>(t * 7 + i * 3 + i / 5) % all.size()];
        try {
          wrong += predictor.predict(asked.input)[0].to_vector<float>() != asked.answer;
        } catch (const std::exception&) {
          ++thrown;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(thrown.load(), 0);
  return wrong.load();
}

TEST(ThreadsPredictor, mixed_shapes_equal_the_serial_answers) {
  const Predictor predictor = recorded_predictor("gap", {.threads = 1});
  EXPECT_EQ(differing(predictor, questions("gap", 1), 60), 0);
  EXPECT_EQ(predictor.stats().plans, 6);
  EXPECT_EQ(predictor.stats().plans_made, 6);  // each once, by any thread
  EXPECT_LE(predictor.stats().pool, kThreads);
}

TEST(ThreadsPredictor, two_threads_to_a_call) {
  EXPECT_EQ(differing(recorded_predictor("gap", {.threads = 2}), questions("gap", 2), 10), 0);
}

// More threads than lanes and more shapes than plans: they wait, and plans come and go under them.
TEST(ThreadsPredictor, little_room_for_many) {
  const Predictor predictor =
      recorded_predictor("gap", {.threads = 1, .max_pool = 3, .max_plans = 2});
  EXPECT_EQ(differing(predictor, questions("gap", 1), 40), 0);
  EXPECT_LE(predictor.stats().pool, 3);
  EXPECT_EQ(predictor.stats().plans, 2);
}

TEST(SlowPredictor, sixteen_threads_of_a_thousand) {
  const Predictor predictor = recorded_predictor("gap", {.threads = 1});
  EXPECT_EQ(differing(predictor, questions("gap", 1), 1000), 0);
}

// Half of the calls are wrong in every way; the others do not notice.
TEST(ThreadsPredictor, errors_of_some_calls_leave_the_others_running) {
  const Predictor predictor = recorded_predictor("gap", {.threads = 1, .max_pool = 4});
  const std::vector<Asked> all = questions("gap", 1);
  std::atomic<int> wrong{0}, caught{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        if (t % 2 == 0) {
          const Asked& asked = all[static_cast<std::size_t>(i) % all.size()];
          wrong += predictor.predict(asked.input)[0].to_vector<float>() != asked.answer;
          continue;
        }
        try {
          if (i % 3 == 0) predictor.predict({{"dta", image(1)}});
          if (i % 3 == 1) predictor.predict(HostTensor::formula({1, 4, 8, 8}, 1).array());
          if (i % 3 == 2) predictor.predict(NDArray());
        } catch (const Error&) {
          ++caught;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(caught.load(), 160);
  EXPECT_EQ(predictor.stats().plans, 6);
}

// ---- operators of users -------------------------------------------------------------------------

/// Adds one. An object that two calls shared would be entered twice at once; three rows are
/// refused.
class AddOne : public CustomKernel {
 public:
  void forward(CustomForward call) override {
    if (inside_.exchange(true)) ++entered_twice;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    call.out[0].set(call.in[0] + 1.0);
    inside_ = false;
    if (call.in[0].shape()[0] == 3) throw Error(ErrorKind::kValue, "three rows are too many");
  }
  static inline std::atomic<int> entered_twice{0};

 private:
  std::atomic<bool> inside_{false};
};

class AddOneOp : public CustomOpDescription {
 public:
  std::shared_ptr<CustomKernel> create(Context, const std::vector<Shape>&,
                                       const std::vector<DType>&) const override {
    return std::make_shared<AddOne>();
  }
};

TEST(ThreadsPredictor, operators_of_users_have_an_object_per_call) {
  register_custom("predict_add_one",
                  [](const AttrDict&) { return std::make_shared<const AddOneOp>(); });
  const Symbol net = make_symbol("Custom", "mine", std::vector<Symbol>{Variable("data")},
                                 {{"op_type", "predict_add_one"}});
  const Predictor predictor(net, {}, {}, {.threads = 1});
  std::atomic<int> wrong{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const std::int64_t rows = t == 0 && i % 2 == 1 ? 3 : 1 + t % 2;
        const NDArray x = NDArray::full({rows, 4}, t);
        try {
          wrong += predictor.predict(x)[0].to_vector<float>() !=
                   Floats(static_cast<std::size_t>(rows * 4), static_cast<float>(t + 1));
        } catch (const Error& e) {
          const std::string text = e.what();
          refused += rows == 3 && text.find("three rows are too many") != std::string::npos &&
                     text.find("in Custom 'mine'") != std::string::npos;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(refused.load(), 5);
  EXPECT_EQ(AddOne::entered_twice.load(), 0);
  EXPECT_EQ(predictor.predict(NDArray::zeros({1, 4}))[0].to_vector<float>(), Floats(4, 1));
}

// Calls that take their time: no more of them than there may be.
TEST(ThreadsPredictor, no_more_calls_at_once_than_allowed) {
  register_custom("predict_add_one",
                  [](const AttrDict&) { return std::make_shared<const AddOneOp>(); });
  const Symbol net = make_symbol("Custom", "mine", std::vector<Symbol>{Variable("data")},
                                 {{"op_type", "predict_add_one"}});
  const Predictor predictor(net, {}, {}, {.threads = 1, .max_pool = 2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) predictor.predict(NDArray::zeros({1, 4}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(predictor.stats().pool, 2);
}

// ---- weights that users may write ---------------------------------------------------------------

// A caller holds a pointer to the weights: every run packs them again, into separate memory.
TEST(ThreadsExecutor, weights_that_left_us_are_packed_apart) {
  Checkpoint net = recorded_net("gap");
  for (auto& [name, array] : net.args) array.mutable_data();
  const NDArray x = image(2, 16, 16);
  const auto wanted = by_executor(net, {{"data", x}});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      NDArrayMap args = net.args;
      args["data"] = x.copy();
      args["softmax_label"] = NDArray::zeros({2});
      Executor executor = net.symbol.bind(cpu(), args, {.grad_req = "null", .aux_states = net.aux});
      for (int i = 0; i < 50; ++i) wrong += numbers(executor.forward(false)) != wanted;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace symbind
