// Outputs that nothing reads: they get scratch memory, or their operator skips them.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <symbind/executor.h>
#include <symbind/operator.h>

#include "executor/runner.h"
#include "tests/support/host_tensor.h"

namespace symbind {
namespace {

constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16};

struct BoundNorm {
  HostTensor data;
  NDArrayMap grads;
  Executor executor;
};

Symbol norm_of(const Symbol& data, int axis, bool mean_var) {
  return make_symbol("BatchNorm", "bn", std::vector<Symbol>{data},
                     {{"axis", std::to_string(axis)},
                      {"fix_gamma", "False"},
                      {"output_mean_var", mean_var ? "True" : "False"}});
}

/// A BatchNorm over data of shape (2, 3, 2, 4), of which `read` reads something.
BoundNorm bind_norm(const Symbol& read, DType dtype, int channels) {
  const DType statistics = size_of(dtype) < 4 ? DType::kFloat32 : dtype;
  BoundNorm bound{HostTensor::formula({2, 3, 2, 4}, 3), {}, {}};
  const auto ones = [&] { return NDArray::ones({channels}, cpu(), statistics); };
  NDArrayMap args = {{"data", bound.data.array(dtype)}};
  NDArrayMap aux = {{"bn_moving_mean", ones()}, {"bn_moving_var", ones()}};
  for (const char* name : {"bn_gamma", "bn_beta"}) args[name] = ones();
  for (const auto& [name, array] : args)
    bound.grads[name] = NDArray::ones(array.shape(), cpu(), array.dtype());
  bound.executor = read.bind(cpu(), args, {.args_grad = bound.grads, .aux_states = aux});
  return bound;
}

TEST(UnreadOutputs, batch_norm_of_which_only_the_shape_is_read_runs) {
  const std::pair<int, int> axes[] = {{0, 2}, {1, 3}, {-1, 4}};
  for (const DType dtype : kFloats)
    for (const auto& [axis, channels] : axes)
      for (const char* reader : {"ones_like", "shape_array", "reshape_like"}) {
        const Symbol data = Variable("data"), bn = norm_of(data, axis, false);
        const bool like = std::string(reader) == "reshape_like";
        const Symbol read = make_symbol(
            reader, "read", like ? std::vector<Symbol>{data, bn} : std::vector<Symbol>{bn});
        BoundNorm bound = bind_norm(read, dtype, channels);
        bound.executor.forward(true);
        const HostTensor got = HostTensor::from(bound.executor.outputs()[0]);
        const HostTensor want = like ? bound.data.rounded(dtype)
                                : std::string(reader) == "ones_like"
                                    ? HostTensor({2, 3, 2, 4}, std::vector<double>(48, 1))
                                    : HostTensor({4}, {2, 3, 2, 4});
        EXPECT_TRUE(near(got, want, {})) << reader << " " << dtype_name(dtype) << " " << axis;
        bound.executor.backward(
            {NDArray::ones(got.shape, cpu(), bound.executor.outputs()[0].dtype())});
        for (const char* name : {"bn_gamma", "bn_beta"})
          EXPECT_EQ(HostTensor::from(bound.grads[name]).largest(), 0) << name;
      }
}

TEST(UnreadOutputs, batch_norm_of_which_only_the_mean_is_read_gives_it) {
  for (const DType dtype : kFloats) {
    const Symbol bn = norm_of(Variable("data"), 1, true);
    BoundNorm bound = bind_norm(bn[1], dtype, 3);
    bound.executor.forward(true);
    const HostTensor x = bound.data.rounded(dtype);
    HostTensor mean(Shape{3});
    for (std::int64_t n = 0; n < 2; ++n)
      for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t i = 0; i < 8; ++i)
          mean[static_cast<std::size_t>(c)] +=
              x[static_cast<std::size_t>((n * 3 + c) * 8 + i)] / 16;
    EXPECT_TRUE(near(HostTensor::from(bound.executor.outputs()[0]), mean, {1e-5, 1e-6}))
        << dtype_name(dtype);
    bound.executor.backward({NDArray::ones({3}, cpu(), bound.executor.outputs()[0].dtype())});
    EXPECT_EQ(HostTensor::from(bound.grads["bn_beta"]).largest(), 0);
  }
}

// Nothing comes from x and each step is h = tanh(2 h), forwards from 0.5 and backwards from -0.5.
TEST(UnreadOutputs, rnn_of_which_only_the_state_is_read_gives_it) {
  double h = 0.5;
  for (int step = 0; step < 16; ++step) h = std::tanh(2 * h);
  const HostTensor want({2, 2, 2}, {h, h, h, h, -h, -h, -h, -h});
  const HostTensor start({2, 2, 2}, {0.5, 0.5, 0.5, 0.5, -0.5, -0.5, -0.5, -0.5});
  HostTensor parameters(Shape{20});  // i2h (2, 1) and h2h (2, 2) of both directions, then biases
  for (const std::size_t at : {2U, 5U, 8U, 11U}) parameters[at] = 2;
  const Symbol rnn =
      make_symbol("RNN", "rnn", std::vector<Symbol>{Variable("x"), Variable("p"), Variable("h")},
                  {{"state_size", "2"},
                   {"num_layers", "1"},
                   {"mode", "rnn_tanh"},
                   {"bidirectional", "True"},
                   {"state_outputs", "True"}});
  for (const DType dtype : kFloats) {
    Executor executor =
        rnn[1].bind(cpu(), NDArrayMap{{"x", HostTensor::formula({16, 2, 1}, 1).array(dtype)},
                                      {"p", parameters.array(dtype)},
                                      {"h", start.array(dtype)}});
    executor.forward(false);
    EXPECT_TRUE(near(HostTensor::from(executor.outputs()[0]), want, tolerance_of(dtype)))
        << dtype_name(dtype);
  }
}

// ---- The plan -----------------------------------------------------------------------------------

const PlanTensor* find(const Plan& plan, const std::string& name) {
  for (const PlanStep& step : plan.steps)
    for (const int t : step.out)
      if (plan.tensors[static_cast<std::size_t>(t)].name == name)
        return &plan.tensors[static_cast<std::size_t>(t)];
  return nullptr;
}

TEST(UnreadOutputs, have_scratch_memory_of_their_step_unless_they_are_skipped) {
  const Symbol bn = norm_of(Variable("data"), 1, true);
  BoundNorm bound = bind_norm(Group({bn[1], make_symbol("ones_like", "one", std::vector{bn[0]})}),
                              DType::kFloat32, 3);
  const Plan& plan = runner_of(bound.executor).plan();
  const PlanTensor* y = find(plan, "bn_output");
  ASSERT_NE(y, nullptr);
  EXPECT_EQ(y->home, Home::kScratch);
  EXPECT_EQ(y->bytes, 48 * sizeof(float));
  // FullyConnected's gradient skips those of its inputs that have none.
  const Symbol fc = make_symbol("FullyConnected", "fc", std::vector<Symbol>{Variable("x")},
                                {{"num_hidden", "3"}, {"no_bias", "True"}});
  const NDArrayMap args = {{"x", NDArray::ones({2, 4})}, {"fc_weight", NDArray::ones({3, 4})}};
  Executor e =
      fc.bind(cpu(), args, {.args_grad = NDArrayMap{{"fc_weight", NDArray::ones({3, 4})}}});
  const PlanStep& step = runner_of(e).plan().steps.back();
  EXPECT_EQ(runner_of(e).plan().tensors[static_cast<std::size_t>(step.out.front())].home,
            Home::kNowhere);
}

// ---- An operator that checks nothing ------------------------------------------------------------

void infer_both(const NoAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

Offer offer_both(const NoAttrs&, const KernelRequest& r) {
  return accept_plain(r, r.in[0].bytes());
}

/// Keeps x in its workspace, writes the hidden output, then the first one from the workspace.
Prepared write_both(const NoAttrs&, const KernelRequest& r, const Offer&) {
  return [n = r.in[0].shape.size()](const Args& args) {
    auto* kept = static_cast<float*>(args.workspace);
    std::copy_n(args.in<float>(0), n, kept);
    std::fill_n(args.out<float>(1), n, -7.f);
    std::copy_n(kept, n, args.out<float>(0));
  };
}

TEST(UnreadOutputs, invoke_gives_a_hidden_output_scratch_memory) {
  OpRegistry registry;
  registry.add<NoAttrs>("writes_both")
      .outputs({"output", "hidden"}, 1)
      .infer(infer_both)
      .kernel(DeviceType::kCpu, "reference", offer_both, write_both);
  const HostTensor x = HostTensor::formula({3, 5}, 1);
  const std::vector<NDArray> y = invoke(registry.get("writes_both"), {x.array()}, {});
  ASSERT_EQ(y.size(), 1U);
  EXPECT_TRUE(near(HostTensor::from(y[0]), x.rounded(DType::kFloat32), {}));
}

}  // namespace
}  // namespace symbind
