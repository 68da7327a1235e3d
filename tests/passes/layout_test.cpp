// Layouts of tensors inside a plan, and the reorders between them.

#include "passes/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <symbind/executor.h>
#include <symbind/runtime.h>

#include "tests/support/host_tensor.h"

namespace symbind {
namespace {

int add_tensor(Plan& plan, const Shape& shape, Layout layout, Context context = cpu()) {
  PlanTensor t;
  t.name = "x";
  t.desc = {.shape = shape, .dtype = DType::kFloat32, .layout = layout};
  t.context = context;
  plan.tensors.push_back(std::move(t));
  return static_cast<int>(plan.tensors.size()) - 1;
}

TEST(FormFlow, what_has_the_layout_already_is_itself) {
  Plan plan;
  FormFlow flow(plan);
  const int plain = add_tensor(plan, {2, 16, 3, 3}, Layout::kPlain);
  EXPECT_EQ(flow.in_form(plain, Layout::kPlain, DType::kFloat32, Phase::kForward), plain);
  // One position: channels are side by side in every layout.
  const int pixel = add_tensor(plan, {2, 16, 1, 1}, Layout::kBlocked16);
  EXPECT_EQ(flow.in_form(pixel, Layout::kPlain, DType::kFloat32, Phase::kForward), pixel);
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_EQ(plan.reorders, 0);
}

TEST(FormFlow, a_value_is_brought_into_a_layout_once) {
  Plan plan;
  FormFlow flow(plan);
  const int plain = add_tensor(plan, {2, 16, 3, 3}, Layout::kPlain);
  const int blocked = flow.in_form(plain, Layout::kBlocked8, DType::kFloat32, Phase::kForward);
  EXPECT_NE(blocked, plain);
  EXPECT_EQ(flow.in_form(plain, Layout::kBlocked8, DType::kFloat32, Phase::kBackward), blocked);
  const int other = flow.in_form(plain, Layout::kBlocked16, DType::kFloat32, Phase::kBackward);
  EXPECT_NE(other, blocked);
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_EQ(plan.reorders, 2);
  EXPECT_EQ(plan.steps[0].phase, Phase::kForward);
  EXPECT_EQ(plan.steps[1].phase, Phase::kBackward);
  EXPECT_EQ(plan.steps[0].in, std::vector<int>{plain});
  EXPECT_EQ(plan.steps[0].out, std::vector<int>{blocked});
  const PlanTensor& copy = plan.tensors[static_cast<std::size_t>(blocked)];
  EXPECT_EQ(copy.desc.layout, Layout::kBlocked8);
  EXPECT_EQ(copy.home, Home::kArena);
}

TEST(FormFlow, a_copy_of_a_bound_array_is_in_the_arena) {
  Plan plan;
  FormFlow flow(plan);
  const int argument = add_tensor(plan, {2, 16, 3, 3}, Layout::kPlain);
  plan.tensors[0].home = Home::kArgument;
  plan.tensors[0].index = 4;
  const int copy = flow.in_form(argument, Layout::kBlocked16, DType::kFloat32, Phase::kForward);
  EXPECT_EQ(plan.tensors[static_cast<std::size_t>(copy)].home, Home::kArena);
  EXPECT_EQ(plan.tensors[static_cast<std::size_t>(copy)].index, -1);
}

/// Where element (n, c, p) is: blocks of `inner` channels, positions, channels of the block.
std::size_t place(std::size_t n, std::size_t c, std::size_t p, std::size_t inner) {
  constexpr std::size_t kChannels = 16, kPositions = 6;
  return n * kChannels * kPositions + c / inner * kPositions * inner + p * inner + c % inner;
}

TEST(FormFlow, the_steps_move_the_numbers) {
  constexpr std::pair<Layout, std::size_t> kLayouts[] = {{Layout::kPlain, 1},
                                                         {Layout::kBlocked8, 8},
                                                         {Layout::kBlocked16, 16},
                                                         {Layout::kChannelsLast, 16}};
  for (const auto& [from, a] : kLayouts) {
    for (const auto& [to, b] : kLayouts) {
      Plan plan;
      const int source = add_tensor(plan, {2, 16, 2, 3}, from);
      const int target = add_tensor(plan, {2, 16, 2, 3}, to);
      FormFlow(plan).write_plain(source, target, Phase::kForward);
      std::vector<float> x(2 * 16 * 6), y(x.size());
      std::iota(x.begin(), x.end(), 1.0F);
      const TensorArg in{x.data(), nullptr}, out{y.data(), nullptr};
      plan.steps.at(0).prepare()({.inputs = &in, .outputs = &out});
      for (std::size_t n = 0; n < 2; ++n)
        for (std::size_t c = 0; c < 16; ++c)
          for (std::size_t p = 0; p < 6; ++p)
            ASSERT_EQ(y[place(n, c, p, b)], x[place(n, c, p, a)])
                << plan.steps[0].title << " at " << n << ", " << c << ", " << p;
    }
  }
}

Symbol call(const char* op, const char* name, const std::vector<Symbol>& inputs,
            const AttrDict& attrs) {
  return make_symbol(op, name, inputs, attrs);
}

/// The gradient of the first layer's weight where convolutions keep channels in blocks and a fully
/// connected layer reads them plainly, and how many reorders that took.
std::pair<std::vector<float>, int> first_gradient(Context context) {
  const AttrDict conv = {{"num_filter", "16"}, {"kernel", "(3, 3)"}, {"pad", "(1, 1)"}};
  Symbol net = call("Convolution", "conv1", {Variable("x")}, conv);
  net = call("Activation", "relu1", {net}, {{"act_type", "relu"}});
  net = call("Convolution", "conv2", {net}, conv);
  net = call("FullyConnected", "fc", {net}, {{"num_hidden", "4"}});
  net = call("SoftmaxOutput", "softmax", {net}, {});
  Executor e = net.simple_bind(context, {{"x", {2, 3, 6, 6}}});
  std::uint64_t seed = 0;
  for (const auto& [name, array] : e.arg_dict())
    if (name != "softmax_label") HostTensor::formula(array.shape(), ++seed).array().copy_to(array);
  e.forward(true);
  e.backward();
  return {e.grad_dict().at("conv1_weight").to_vector<float>(), e.stats().reorders};
}

/// With SYMBIND_GPU_AS_CPU: exit status 0 if gpu() gives the numbers of cpu().
[[noreturn]] void compare_devices() {
  ::setenv("SYMBIND_GPU_AS_CPU", "1", 1);
  refresh_settings();
  const auto on_cpu = first_gradient(cpu()), on_gpu = first_gradient(gpu());
  const bool moved = std::ranges::any_of(on_cpu.first, [](float g) { return g != 0; });
  std::_Exit(on_cpu == on_gpu && moved ? 0 : 1);
}

// In another process: what a GPU means is decided once.
TEST(FormFlow, reorders_run_with_gpu_as_cpu) {
  if (num_gpus() > 0) GTEST_SKIP() << "there is a GPU here";
  EXPECT_GT(first_gradient(cpu()).second, 0) << "without reorders this test shows nothing";
  EXPECT_EXIT(compare_devices(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace symbind
