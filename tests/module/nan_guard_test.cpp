// The NaN guard names the step, the node, the output and the ranges of the inputs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <symbind/monitor.h>
#include <symbind/ops.h>

namespace symbind {
namespace {

using testing::HasSubstr;

Executor bound() {
  Symbol net = FullyConnected("fc", Variable("data"), {.num_hidden = 2});
  net = log("log", net);
  net = MakeLoss("loss", net);
  Executor e = net.simple_bind(cpu(), {{"data", {2, 3}}});
  NDArray(e.arg_dict().at("data")).set(1.0);
  NDArray(e.arg_dict().at("fc_weight")).set(0.5);
  NDArray(e.arg_dict().at("fc_bias")).set(1.0);
  return e;
}

std::string raised(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    return error.what();
  }
  return {};
}

void step(NanGuard& guard, Executor& e) {
  guard.tic();
  e.forward(true);
  e.backward();
  guard.toc();
}

TEST(BadInputNanGuard, line37_names_step_node_output_and_ranges) {
  Executor e = bound();
  NanGuard guard;
  guard.install(e);
  EXPECT_NO_THROW(step(guard, e));
  EXPECT_NO_THROW(step(guard, e));
  NDArray(e.arg_dict().at("fc_bias")).set({Index(1)}, -3.0);
  const std::string text = raised([&] { step(guard, e); });
  EXPECT_THAT(text, HasSubstr("step 3: log 'log'"));
  EXPECT_THAT(text, HasSubstr("output 0 ('output', shape (2, 2)), 2 of 4 numbers, the first at "
                              "[0, 1] is nan"));
  EXPECT_THAT(text, HasSubstr("input 0 'fc_output': (2, 2) in [-1.5, 2.5]"));
  EXPECT_NO_THROW(waitall()) << "it is heard once";
}

TEST(BadInputNanGuard, the_error_is_on_the_outputs_too) {
  Executor e = bound();
  NDArray(e.arg_dict().at("data")).set(std::numeric_limits<double>::infinity());
  NanGuard guard;
  guard.install(e);
  e.forward(true);
  const std::string text = raised([&] { e.outputs()[0].wait_to_read(); });
  EXPECT_THAT(text, HasSubstr("FullyConnected 'fc'"));
  EXPECT_THAT(text, HasSubstr("input 0 'data': (2, 3), 6 of 6 NaN or infinity"));
  EXPECT_THAT(text, HasSubstr("input 1 'fc_weight': (2, 3) in [0.5, 0.5]"));
}

TEST(BadInputNanGuard, gradients_are_checked) {
  Executor e = bound();
  NDArray(e.arg_dict().at("data")).set(0.0);
  NDArray(e.arg_dict().at("fc_bias")).set(1e-40);  // its logarithm is finite, 1/x is not
  NanGuard guard;
  guard.install(e);
  const std::string text = raised([&] { step(guard, e); });
  EXPECT_THAT(text, HasSubstr("log_backward"));
}

TEST(NanGuard, sees_reshaped_executors_and_may_be_dropped) {
  Executor e = bound();
  auto guard = std::make_unique<NanGuard>();
  guard->install(e);
  Executor larger = e.reshape({{"data", {4, 3}}}, {.allow_up_sizing = true});
  NDArray(larger.arg_dict().at("data")).set(-9.0);
  EXPECT_FALSE(raised([&] { larger.forward(true)[0].wait_to_read(); }).empty());
  guard.reset();
  EXPECT_NO_THROW(larger.forward(true)[0].wait_to_read());
}

}  // namespace
}  // namespace symbind
