// Which kernel runs a node, and what memory its outputs have.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include <symbind/executor.h>
#include <symbind/runtime.h>

#include "base/build.h"
#include "base/cpu_isa.h"
#include "passes/lower.h"

namespace symbind {
namespace {

Symbol call(const char* op, const char* name, const std::vector<Symbol>& inputs,
            const AttrDict& attrs = {}) {
  return make_symbol(op, name, inputs, attrs);
}

/// The plan of a net whose argument x has this shape; gradients of the arguments in `wanted`.
std::shared_ptr<const Plan> plan_of(const Symbol& net, const Shape& x,
                                    const std::vector<std::string>& wanted) {
  const InferredShapes shapes = net.infer_shape({{"x", x}});
  BindSpec spec;
  spec.context = cpu();
  spec.arg_names = net.list_arguments();
  spec.aux_names = net.list_auxiliary_states();
  for (const Shape& shape : shapes.args) spec.args.push_back({.shape = shape});
  for (const Shape& shape : shapes.aux) spec.aux.push_back({.shape = shape});
  spec.arg_contexts.assign(spec.args.size(), cpu());
  spec.aux_contexts.assign(spec.aux.size(), cpu());
  for (const std::string& name : spec.arg_names)
    spec.grad_req.push_back(std::ranges::count(wanted, name) > 0 ? GradReq::kWrite
                                                                 : GradReq::kNull);
  return compile(net, spec);
}

const PlanStep& step_of(const Plan& plan, const std::string& op, Phase phase = Phase::kForward) {
  for (const PlanStep& step : plan.steps)
    if (step.node && step.phase == phase && step.node->op->name == op) return step;
  throw std::runtime_error("no step runs " + op);
}

const PlanTensor& output(const Plan& plan, const PlanStep& step, std::size_t i) {
  return plan.tensors[static_cast<std::size_t>(step.out.at(i))];
}

Symbol convolution() {
  return call("Convolution", "conv", {Variable("x")}, {{"num_filter", "16"}, {"kernel", "(3, 3)"}});
}

class Kernels : public testing::Test {
 protected:
  static void forbid(const char* names) {
    ::setenv("SYMBIND_KERNELS", names, 1);
    refresh_settings();
  }
  void TearDown() override {
    ::unsetenv("SYMBIND_KERNELS");
    refresh_settings();
  }
};

TEST_F(Kernels, the_first_that_accepts_is_taken) {
  const auto plan = plan_of(convolution(), {2, 16, 8, 8}, {});
  const PlanStep& step = step_of(*plan, "Convolution");
  const std::vector<KernelDef>& kernels = step.node->op->kernels;
  std::size_t refused = 0;
  for (const KernelDef& kernel : kernels) {
    if (kernel.device != DeviceType::kCpu) continue;
    if (kernel.name == step.kernel) break;
    EXPECT_TRUE(step.refusals.at(refused++).starts_with(kernel.name + ": "));
  }
  EXPECT_EQ(step.refusals.size(), refused);
}

TEST_F(Kernels, what_is_forbidden_gives_way_and_the_plan_says_why) {
  const std::string usual =
      step_of(*plan_of(convolution(), {2, 16, 8, 8}, {}), "Convolution").kernel;
  if (usual == "reference") GTEST_SKIP() << "built without another kernel";
  forbid(("-" + usual).c_str());
  const auto plan = plan_of(convolution(), {2, 16, 8, 8}, {});
  const PlanStep& step = step_of(*plan, "Convolution");
  EXPECT_NE(step.kernel, usual);
  EXPECT_EQ(std::ranges::count(step.refusals, usual + ": forbidden by SYMBIND_KERNELS"), 1);
  EXPECT_NE(plan->text().find("refused " + usual + ": forbidden"), std::string::npos);
}

TEST_F(Kernels, the_last_kernel_cannot_be_forbidden) {
  forbid("-reference,-native");
  const auto kernel = [](const char* op) {
    return step_of(*plan_of(call(op, "y", {Variable("x")}), {4}, {}), op).kernel;
  };
  EXPECT_EQ(kernel("square"), "native");          // vector code
  EXPECT_EQ(kernel("shape_array"), "reference");  // plain loops
}

// Winograd needs AVX2 in our kernel, AVX-512 in oneDNN's.
TEST_F(Kernels, the_algorithms_of_a_convolution_are_kernels_with_names) {
  if (!kOneDnn) GTEST_SKIP() << "built without oneDNN";
  const Symbol wide = call("Convolution", "conv", {Variable("x")},
                           {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "32"}});
  const auto kernels = [&](const char* forbidden) {
    forbid(forbidden);
    const auto plan = plan_of(wide, {2, 32, 16, 16}, {"x"});
    return std::pair(step_of(*plan, "Convolution").kernel,
                     step_of(*plan, "_backward_Convolution", Phase::kBackward).kernel);
  };
  const auto both = [](const std::string& name) { return std::pair(name, name); };
  const std::string direct = "onednn_direct";
  EXPECT_EQ(kernels(""), both(cpu_isa() == Isa::kSse41 ? direct : "native_winograd"));
  EXPECT_EQ(kernels("-native_winograd"),
            both(cpu_isa() == Isa::kAvx512 ? "onednn_winograd" : direct));
  EXPECT_EQ(kernels("-native_winograd,-onednn_winograd"), both(direct));
  EXPECT_EQ(kernels("-native,-onednn"), both("blas"));
}

// A maximum's places are bytes that only the kernel which wrote them reads.
TEST_F(Kernels, a_gradient_is_bound_to_the_kernel_that_saved_for_it) {
  const Symbol net = call("Pooling", "pool", {Variable("x")},
                          {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}});
  for (const char* forbidden : {"", "-onednn"}) {
    forbid(forbidden);
    const auto plan = plan_of(net, {2, 16, 8, 8}, {"x"});
    std::string backward;
    for (const PlanStep& step : plan->steps)
      if (step.node && step.phase == Phase::kBackward && step.node->op->is_backward)
        backward = step.kernel;
    EXPECT_EQ(backward, step_of(*plan, "Pooling").kernel) << plan->text();
  }
}

TEST_F(Kernels, a_recurrent_layer_whose_native_kernel_is_forbidden_runs_by_the_reference) {
  const Symbol net =
      call("RNN", "rnn", {Variable("x")},
           {{"mode", "gru"}, {"state_size", "4"}, {"num_layers", "2"}, {"p", "0.5"}});
  for (const auto& [forbidden, kernel] :
       {std::pair{"", "native"}, std::pair{"-native", "reference"}}) {
    forbid(forbidden);
    const auto plan = plan_of(net, {3, 2, 5}, {"x"});
    EXPECT_EQ(step_of(*plan, "RNN").kernel, kernel) << plan->text();
    EXPECT_EQ(step_of(*plan, "_backward_RNN", Phase::kBackward).kernel, kernel) << plan->text();
  }
}

TEST_F(Kernels, a_gradient_that_nothing_asks_for_is_not_computed) {
  const auto plan = plan_of(convolution(), {2, 16, 8, 8}, {"conv_weight"});
  const PlanStep& backward = plan->steps.back();
  ASSERT_TRUE(backward.node && backward.node->op->is_backward) << plan->text();
  int written = 0;
  for (std::size_t i = 0; i < backward.out.size(); ++i) {
    const Home home = output(*plan, backward, i).home;
    EXPECT_TRUE(home == Home::kNowhere || home == Home::kGradient) << plan->text();
    written += home == Home::kGradient ? 1 : 0;
  }
  EXPECT_EQ(written, 1);
}

TEST_F(Kernels, a_head_is_written_where_its_owner_wants_it) {
  const auto plan = plan_of(call("exp", "e", {call("square", "sq", {Variable("x")})}), {4}, {"x"});
  EXPECT_EQ(output(*plan, step_of(*plan, "exp"), 0).home, Home::kOutput);
  EXPECT_EQ(output(*plan, step_of(*plan, "square"), 0).home, Home::kArena);
  EXPECT_EQ(output(*plan, plan->steps.back(), 0).home, Home::kGradient);
  EXPECT_EQ(plan->num_forward, 2u);
}

TEST_F(Kernels, an_argument_that_is_a_head_is_copied) {
  const Symbol x = Variable("x");
  const auto plan = plan_of(Group({x, call("exp", "e", {x})}), {4}, {});
  ASSERT_EQ(plan->outputs.size(), 2u);
  EXPECT_EQ(plan->tensors[static_cast<std::size_t>(plan->outputs[0])].home, Home::kOutput);
  EXPECT_EQ(plan->steps.size(), 2u);
}

}  // namespace
}  // namespace symbind
