// Plans that never train: which epilogues they have, and that their numbers stay those of the
// network without fusion when weights change, when training runs in between and when internals are
// read.
#include <gtest/gtest.h>

#include <cmath>

#include <symbind/symbind.h>

#include "base/cpu_isa.h"
#include "base/settings.h"
#include "tests/support/host_tensor.h"

namespace symbind {
namespace {

const ShapeMap kShapes{{"data", {2, 16, 8, 8}}};

Symbol conv(const std::string& name, const Symbol& x, int filters = 16) {
  return Convolution(name, x, {.kernel = {3, 3}, .pad = {1, 1}, .num_filter = filters});
}
Symbol norm(const std::string& name, const Symbol& x) {
  return BatchNorm(name, x, {.eps = 1.0 / 1024, .fix_gamma = false});
}

void fill(Executor& exe, int seed = 1) {
  for (auto& [name, array] : exe.arg_dict())
    HostTensor::formula(array.shape(), seed++).array().copy_to(array);
  for (auto& [name, array] : exe.aux_dict()) {
    HostTensor values = HostTensor::formula(array.shape(), seed++);
    if (name.ends_with("var"))
      for (double& v : values.values) v = 0.5 + std::abs(v);
    values.array().copy_to(array);
  }
}

Executor bind(const Symbol& net, const ShapeMap& shapes = kShapes) {
  Executor exe = net.simple_bind(cpu(), shapes, {.grad_req = "null"});
  fill(exe);
  return exe;
}

/// The same network bound with gradients has no folded BatchNorm.
HostTensor unfused(const Symbol& net, const Executor& like, const ShapeMap& shapes = kShapes) {
  Executor exe = net.simple_bind(cpu(), shapes);
  exe.copy_params_from(like.arg_dict(), like.aux_dict());
  return HostTensor::from(exe.forward(false)[0]);
}

/// Of the largest number; infinite where only one of two is not finite.
double difference(const HostTensor& a, const HostTensor& b) {
  double most = 0, scale = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return HUGE_VAL;
    most = std::max(most, std::abs(a[i] - b[i]));
  }
  for (const double v : b.values)
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  return most / scale;
}

bool has(const Executor& exe, const std::string& text) {
  return exe.plan_text().find(text) != std::string::npos;
}

struct Case {
  const char* name;
  Symbol net;
  const char* epilogue;  ///< as the plan shows it
};

std::vector<Case> cases() {
  const Symbol x = Variable("data");
  const Symbol y = norm("bn", conv("c", x));
  return {
      {"norm", y, "batch_norm"},
      {"relu", Activation("r", y, {.act_type = "relu"}), "relu"},
      {"sigmoid", Activation("r", y, {.act_type = "sigmoid"}), "sigmoid"},
      {"tanh", Activation("r", y, {.act_type = "tanh"}), "tanh"},
      {"softrelu", Activation("r", y, {.act_type = "softrelu"}), "softrelu"},
      {"prelu", LeakyReLU("r", y, {.act_type = "prelu"}), "prelu"},
      {"leaky", LeakyReLU("r", y, {.act_type = "leaky", .slope = 0.1f}), "leaky"},
      {"elu", LeakyReLU("r", y, {.act_type = "elu", .slope = 0.3f}), "elu"},
      {"gelu", LeakyReLU("r", y, {.act_type = "gelu"}), "gelu"},
      {"clip", clip("r", y, {.a_min = 0, .a_max = 1}), "clip"},
      {"swish", y * sigmoid("s", y), "swish"},
      {"sum", y + conv("d", x), "sum"},
      {"sum of two ways", Activation("r", y + norm("bn2", conv("d", x)), {.act_type = "relu"}),
       "sum,relu"},
      {"sum with the data", x + y, "sum"},
      {"activation, then sum", x + LeakyReLU("r", y, {.act_type = "prelu"}), "prelu,sum"},
      {"two sums", x + (x + y), "sum,sum"},
      {"dropout between", Activation("r", Dropout("d", y, {.p = 0.5f}), {.act_type = "relu"}),
       "relu"},
      {"depthwise",
       Activation("r",
                  norm("bn", Convolution("c", x,
                                         {.kernel = {3, 3},
                                          .pad = {1, 1},
                                          .num_filter = 16,
                                          .num_group = 16,
                                          .no_bias = true})),
                  {.act_type = "relu"}),
       "relu"},
      {"odd channels", LeakyReLU("r", norm("bn", conv("c", x, 5)), {.act_type = "prelu"}), "prelu"},
      {"matrix",
       LeakyReLU("r", norm("bn", FullyConnected("f", x, {.num_hidden = 120})),
                 {.act_type = "prelu"}),
       "prelu"},
      {"small matrix",
       Activation("r", norm("bn", FullyConnected("f", x, {.num_hidden = 3})), {.act_type = "relu"}),
       "relu"},
  };
}

// The kernel copies pixels and multiplies in several rounds; the sum may be in its output's memory.
TEST(PredictPlan, kernels_with_a_stride_equal_the_separate_operators) {
  const auto strided = [](const char* name, const Symbol& x, std::int64_t kernel) {
    return norm(std::string(name) + "_norm", Convolution(name, x,
                                                         {.kernel = {kernel, kernel},
                                                          .stride = {2, 2},
                                                          .pad = {kernel / 2, kernel / 2},
                                                          .num_filter = 208}));
  };
  const Symbol x = Variable("data");
  const Symbol net = Activation("r", strided("c", x, 3) + strided("d", x, 1), {.act_type = "relu"});
  for (const std::int64_t batch : {1, 3}) {
    const ShapeMap shapes{{"data", {batch, 192, 15, 14}}};
    Executor exe = bind(net, shapes);
    EXPECT_EQ(has(exe, "[native_pixels]"), cpu_isa() > Isa::kSse41) << exe.plan_text();
    EXPECT_LT(difference(HostTensor::from(exe.forward(false)[0]), unfused(net, exe, shapes)), 1e-5);
    // A variance of -eps: the BatchNorm is not folded.
    exe.aux_dict().at("c_norm_moving_var").slice(3, 4).set(-1.0 / 1024);
    EXPECT_LT(difference(HostTensor::from(exe.forward(false)[0]), unfused(net, exe, shapes)), 1e-5);
  }
}

TEST(PredictPlan, kernels_with_a_stride_are_our_own_where_they_are_fast) {
  if (cpu_isa() == Isa::kSse41) GTEST_SKIP() << "needs AVX2";
  const auto is_ours = [](const ops::ConvolutionOptions& p, std::int64_t channels = 192) {
    const Symbol net = Convolution("c", Variable("data"), p);
    return has(bind(net, {{"data", {1, channels, 9, 9}}}), "[native_pixels]");
  };
  ops::ConvolutionOptions p{.kernel = {3, 3}, .stride = {2, 2}, .num_filter = 64};
  EXPECT_TRUE(is_ours(p));
  EXPECT_FALSE(is_ours(p, 176));
  const auto with = [&](auto change) {
    ops::ConvolutionOptions changed = p;
    change(changed);
    return is_ours(changed);
  };
  EXPECT_FALSE(with([](auto& c) { c.num_filter = 48; }));
  EXPECT_FALSE(with([](auto& c) { c.num_group = 2; }));
  EXPECT_FALSE(with([](auto& c) { c.dilate = {2, 2}; }));
  EXPECT_FALSE(with([](auto& c) { c.stride = {1, 1}; }));
  EXPECT_FALSE(with([](auto& c) { c.kernel = {8, 7}; }));
}

TEST(PredictPlan, every_epilogue_equals_the_separate_operators) {
  for (const Case& c : cases()) {
    Executor exe = bind(c.net);
    EXPECT_TRUE(has(exe, c.epilogue)) << c.name << "\n" << exe.plan_text();
    EXPECT_FALSE(has(exe, "BatchNorm '")) << c.name << "\n" << exe.plan_text();
    const HostTensor fused = HostTensor::from(exe.forward(false)[0]);
    EXPECT_LT(difference(fused, unfused(c.net, exe)), 2e-5) << c.name;
  }
}

TEST(PredictPlan, follows_every_array_that_is_written) {
  const Symbol net = Activation("r", norm("bn", conv("c", Variable("data"))), {.act_type = "relu"});
  Executor exe = bind(net);
  HostTensor before = HostTensor::from(exe.forward(false)[0]);
  for (const char* name : {"c_weight", "c_bias", "bn_gamma", "bn_beta"}) {
    exe.arg_dict().at(name) *= 1.5;
    const HostTensor now = HostTensor::from(exe.forward(false)[0]);
    EXPECT_GT(difference(now, before), 1e-3) << name;
    EXPECT_LT(difference(now, unfused(net, exe)), 2e-5) << name;
    before = now;
  }
  for (const char* name : {"bn_moving_mean", "bn_moving_var"}) {
    exe.aux_dict().at(name) *= 2;
    const HostTensor now = HostTensor::from(exe.forward(false)[0]);
    EXPECT_GT(difference(now, before), 1e-3) << name;
    EXPECT_LT(difference(now, unfused(net, exe)), 2e-5) << name;
    before = now;
  }
}

TEST(PredictPlan, two_networks_share_a_weight_and_not_its_fold) {
  const Symbol x = Variable("data");
  const Symbol c = conv("c", x);
  const Symbol a = norm("a", c);
  Executor first = bind(a);
  std::vector<NDArray> args = first.arg_arrays(), aux;
  for (const NDArray& state : first.aux_arrays()) aux.push_back(state.copy());
  aux[1] *= 9;
  Executor second = a.bind(cpu(), args, {.grad_req = "null", .aux_states = aux});
  const HostTensor one = HostTensor::from(first.forward(false)[0]);
  const HostTensor two = HostTensor::from(second.forward(false)[0]);
  EXPECT_GT(difference(one, two), 0.1);
  EXPECT_LT(difference(one, unfused(a, first)), 2e-5);
  EXPECT_LT(difference(two, unfused(a, second)), 2e-5);
  EXPECT_EQ(HostTensor::from(first.forward(false)[0]).values, one.values);
}

TEST(PredictPlan, training_in_between_uses_the_statistics_of_the_batch) {
  const Symbol net = norm("bn", conv("c", Variable("data")));
  Executor exe = bind(net);
  Executor with_gradients = net.simple_bind(cpu(), kShapes);
  with_gradients.copy_params_from(exe.arg_dict(), exe.aux_dict());
  const HostTensor predicted = HostTensor::from(exe.forward(false)[0]);
  const HostTensor trained = HostTensor::from(exe.forward(true)[0]);
  EXPECT_GT(difference(trained, predicted), 0.1);
  EXPECT_LT(difference(trained, HostTensor::from(with_gradients.forward(true)[0])), 2e-5);
  EXPECT_LT(difference(HostTensor::from(exe.forward(false)[0]), predicted), 2e-5);
}

TEST(PredictPlan, a_monitor_sees_every_value) {
  const Symbol net = Activation("r", norm("bn", conv("c", Variable("data"))), {.act_type = "relu"});
  Executor exe = bind(net);
  std::vector<std::string> names;
  exe.set_monitor_callback([&](const std::string& name, const NDArray&) { names.push_back(name); });
  exe.forward(false);
  EXPECT_EQ(names, (std::vector<std::string>{"c_output", "bn_output", "r_output"}));
}

TEST(PredictPlan, a_value_that_is_an_output_is_not_fused_away) {
  const Symbol c = conv("c", Variable("data"));
  const Symbol both = Group({c, Activation("r", norm("bn", c), {.act_type = "relu"})});
  Executor exe = bind(both);
  const Symbol alone = c;
  Executor other = alone.simple_bind(cpu(), kShapes, {.grad_req = "null"});
  other.copy_params_from(exe.arg_dict(), {}, true);
  EXPECT_LT(difference(HostTensor::from(exe.forward(false)[0]),
                       HostTensor::from(other.forward(false)[0])),
            2e-5);
}

// 0 · ∞ is NaN: a fold would turn the zeros of a weight into NaN where BatchNorm gives ±∞.
TEST(PredictPlan, a_fold_that_is_not_finite_is_not_used) {
  const Symbol x = Variable("data");
  const Symbol net = x + norm("bn", conv("c", x));
  Executor exe = bind(net);
  EXPECT_TRUE(has(exe, "batch_norm"));
  exe.arg_dict().at("c_weight") *= 0;
  exe.aux_dict().at("bn_moving_var").slice(3, 4).set(-1.0 / 1024);  // √0
  const HostTensor now = HostTensor::from(exe.forward(false)[0]);
  EXPECT_LT(difference(now, unfused(net, exe)), 1e-6);
  for (std::size_t i = 0; i < now.size(); ++i) EXPECT_EQ(std::isinf(now[i]), i / 64 % 16 == 3) << i;
}

TEST(PredictPlan, exact_forbids_the_fold_and_keeps_activations) {
  const Symbol c = conv("c", Variable("data"));
  const settings::override_for_test exact("SYMBIND_EXACT", "1");
  EXPECT_TRUE(has(bind(norm("bn", c)), "BatchNorm '"));
  EXPECT_TRUE(has(bind(Activation("r", c, {.act_type = "relu"})), "relu"));
}

}  // namespace
}  // namespace symbind
