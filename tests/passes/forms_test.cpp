// Forms with a type: float16 and bfloat16 networks compute in float32 between their borders, and
// compute_dtype lets float32 networks compute in bfloat16. Numbers are compared with those of the
// float32 network of the same parameters.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include <symbind/symbind.h>

#include "base/cpu_isa.h"
#include "base/settings.h"
#include "passes/layout.h"
#include "tests/support/host_tensor.h"

namespace symbind {
namespace {

const ShapeMap kImages{{"data", {2, 3, 12, 12}}};

Symbol conv(const std::string& name, const Symbol& x, bool bias = false) {
  return Convolution(name, x,
                     {.kernel = {3, 3}, .pad = {1, 1}, .num_filter = 16, .no_bias = !bias});
}
Symbol norm(const std::string& name, const Symbol& x) {
  return BatchNorm(name, x, {.eps = 1.0 / 1024, .fix_gamma = false});
}
Symbol relu(const std::string& name, const Symbol& x) {
  return Activation(name, x, {.act_type = "relu"});
}

/// A small residual network: every kind of layer that ResNet-50 has.
Symbol residual_net() {
  Symbol x = relu("r0", norm("bn0", conv("c0", Variable("data"), true)));
  x = Pooling("p0", x, {.kernel = {2, 2}, .pool_type = "max", .stride = {2, 2}});
  const Symbol y = norm("bn2", conv("c2", relu("r1", norm("bn1", conv("c1", x)))));
  x = relu("r2", x + y);
  x = Pooling("p1", x, {.kernel = {1, 1}, .pool_type = "avg", .global_pool = true});
  return FullyConnected("fc", Flatten("flat", x), {.num_hidden = 7});
}

Executor bind(const Symbol& net, DType dtype, const SimpleBindOptions& given,
              const ShapeMap& shapes = kImages) {
  SimpleBindOptions options = given;
  options.types = {{"data", dtype}};
  return net.simple_bind(cpu(), shapes, options);
}

/// Numbers that float16 and bfloat16 hold, so that all types compute with the same parameters.
void fill(Executor& exe, DType dtype, int seed = 1) {
  for (auto& [name, array] : exe.arg_dict()) {
    const double width = name.ends_with("weight") ? 0.25 : 1;
    HostTensor::formula(array.shape(), seed++, -width, width).rounded(dtype).array().copy_to(array);
  }
  for (auto& [name, array] : exe.aux_dict()) {
    HostTensor values = HostTensor::formula(array.shape(), seed++);
    if (name.ends_with("var"))
      for (double& v : values.values) v = 0.5 + std::abs(v);
    values.rounded(dtype).array().copy_to(array);
  }
}

/// One rounding to `dtype`, and what float32 kernels may differ by.
void expect_rounded_once(const NDArray& got, const NDArray& want, DType dtype,
                         const std::string& what) {
  ASSERT_EQ(got.dtype(), dtype) << what;
  const double unit = dtype == DType::kFloat16 ? 0x1p-11 : dtype == DType::kBFloat16 ? 0x1p-8 : 0;
  const HostTensor a = HostTensor::from(got), b = HostTensor::from(want);
  ASSERT_EQ(a.size(), b.size());
  const double scale = b.largest();
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_LE(std::abs(a[i] - b[i]), unit * std::abs(b[i]) + 4e-6 * scale + 0x1p-25)
        << what << " at " << i << ": " << a[i] << ", not " << b[i];
}

std::vector<std::string> lines_with(const std::string& text, const std::string& part) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(part) != std::string::npos) found.push_back(line);
  return found;
}

/// No step of a layer runs the plain loops.
void expect_fast_layers(const Executor& exe) {
  const std::string text = exe.plan_text();
  for (const char* op : {"Convolution", "FullyConnected", "BatchNorm", "Pooling"})
    for (const std::string& line : lines_with(text, op))
      EXPECT_EQ(line.find("[reference]"), std::string::npos) << line;
}

class Forms : public ::testing::TestWithParam<DType> {};

TEST_P(Forms, predictions_are_those_of_float32_rounded_once) {
  const Symbol net = residual_net();
  Executor narrow = bind(net, GetParam(), {.grad_req = "null"});
  Executor wide = bind(net, DType::kFloat32, {.grad_req = "null"});
  fill(narrow, GetParam());
  fill(wide, GetParam());
  expect_fast_layers(narrow);
  // Convolutions keep float32 forms of their parameters: none is converted at each run.
  EXPECT_TRUE(lines_with(narrow.plan_text(), "convert 'c").empty()) << narrow.plan_text();
  expect_rounded_once(narrow.forward(false)[0], wide.forward(false)[0], GetParam(), "output");
  // A written weight and a written bias have new forms.
  for (const char* name : {"c1_weight", "c0_bias", "fc_bias", "bn2_moving_mean"}) {
    for (Executor* exe : {&narrow, &wide}) {
      NDArrayMap arrays = exe->arg_dict();
      arrays.merge(exe->aux_dict());
      arrays.at(name) *= 0.5;
    }
    expect_rounded_once(narrow.forward(false)[0], wide.forward(false)[0], GetParam(), name);
  }
}

TEST_P(Forms, training_is_that_of_float32_rounded_once) {
  const Symbol net = residual_net();
  Executor narrow = bind(net, GetParam(), {}), wide = bind(net, DType::kFloat32, {});
  fill(narrow, GetParam());
  fill(wide, GetParam());
  expect_fast_layers(narrow);
  expect_rounded_once(narrow.forward(true)[0], wide.forward(true)[0], GetParam(), "output");
  const HostTensor head = HostTensor::formula({2, 7}, 99).rounded(GetParam());
  narrow.backward({head.array(GetParam())});
  wide.backward({head.array()});
  for (const auto& [name, grad] : narrow.grad_dict()) {
    const bool of_norm = name.starts_with("bn");  // float32 in every network
    expect_rounded_once(grad, wide.grad_dict().at(name), of_norm ? DType::kFloat32 : GetParam(),
                        name);
  }
  for (const auto& [name, state] : narrow.aux_dict())
    expect_rounded_once(state, wide.aux_dict().at(name), DType::kFloat32, name);
}

TEST_P(Forms, gradients_are_added_in_float32) {
  const Symbol net = FullyConnected("fc", Variable("data"), {.num_hidden = 64, .no_bias = true});
  Executor exe = bind(net, GetParam(), {.grad_req = "add"}, ShapeMap{{"data", Shape{32, 64}}});
  fill(exe, GetParam());
  exe.grad_dict().at("fc_weight").set(1);
  exe.forward(true);
  const NDArray head = HostTensor::formula({32, 64}, 5).rounded(GetParam()).array(GetParam());
  exe.backward({head});
  const HostTensor x = HostTensor::from(exe.arg_dict().at("data")), dy = HostTensor::from(head);
  HostTensor sum(Shape{64, 64});
  for (std::size_t o = 0; o < 64; ++o)
    for (std::size_t i = 0; i < 64; ++i) {
      double total = 1;
      for (std::size_t n = 0; n < 32; ++n) total += dy[n * 64 + o] * x[n * 64 + i];
      sum[o * 64 + i] = total;
    }
  expect_rounded_once(exe.grad_dict().at("fc_weight"), sum.array(), GetParam(), "fc_weight");
}

// One filter of weight 1: every number passes as it is, and only the border rounds.
TEST_P(Forms, special_numbers_pass) {
  const bool half = GetParam() == DType::kFloat16;
  const double least = half ? 0x1p-24 : 0x1p-133, most = half ? 65504 : 0x1.fep127;
  const std::vector<double> special{std::nan(""), HUGE_VAL, -HUGE_VAL, 0, least, -least, most, 1};
  const Symbol net =
      Convolution("c", Variable("data"), {.kernel = {1, 1}, .num_filter = 1, .no_bias = true});
  Executor exe =
      bind(net * 2 * 0.5, GetParam(), {.grad_req = "null"}, ShapeMap{{"data", Shape{1, 1, 2, 4}}});
  HostTensor({1, 1, 2, 4}, special).array(GetParam()).copy_to(exe.arg_dict().at("data"));
  exe.arg_dict().at("c_weight").set(1);
  // Twice the largest float16 number is finite between the borders.
  const HostTensor y = HostTensor::from(exe.forward(false)[0]);
  for (std::size_t i = 0; i < special.size(); ++i) {
    if (std::isnan(special[i])) {
      EXPECT_TRUE(std::isnan(y[i])) << i;
    } else if (half || special[i] != most) {  // 2 · most is infinite in float32, too
      EXPECT_EQ(y[i], special[i]) << i;
    }
  }
}

TEST_P(Forms, monitors_see_declared_types) {
  Executor exe = bind(residual_net(), GetParam(), {.grad_req = "null"});
  fill(exe, GetParam());
  int seen = 0;
  exe.set_monitor_callback([&](const std::string& name, const NDArray& value) {
    ++seen;
    const bool of_norm =
        name.find("mean") != std::string::npos || name.find("var") != std::string::npos;
    if (!of_norm) {
      EXPECT_EQ(value.dtype(), GetParam()) << name;
    }
  });
  exe.forward(false);
  EXPECT_GT(seen, 10);
  expect_fast_layers(exe);
}

INSTANTIATE_TEST_SUITE_P(Types, Forms, ::testing::Values(DType::kFloat16, DType::kBFloat16),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

TEST(FormFlow, a_type_changes_before_the_layout_and_once) {
  Plan plan;
  PlanTensor t;
  t.name = "x";
  t.desc = {.shape = {2, 16, 3, 3}, .dtype = DType::kFloat16, .layout = Layout::kPlain};
  t.declared = DType::kFloat16;
  t.context = cpu();
  plan.tensors.push_back(t);
  FormFlow flow(plan);
  const int made = flow.in_form(0, Layout::kBlocked16, DType::kFloat32, Phase::kForward);
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_EQ(plan.steps[0].kernel, "convert");
  EXPECT_EQ(plan.steps[1].kernel, "reorder");
  EXPECT_EQ(plan.reorders, 1);
  EXPECT_EQ(flow.in_form(0, Layout::kBlocked16, DType::kFloat32, Phase::kForward), made);
  EXPECT_EQ(flow.in_form(0, Layout::kPlain, DType::kFloat32, Phase::kForward),
            plan.steps[0].out[0]);
  EXPECT_EQ(plan.steps.size(), 2u);
  flow.forget(0);
  EXPECT_NE(flow.in_form(0, Layout::kPlain, DType::kFloat32, Phase::kForward),
            plan.steps[0].out[0]);
}

// ---- compute_dtype ------------------------------------------------------------------------------

/// Of the largest number.
double difference(const NDArray& got, const NDArray& want) {
  const HostTensor a = HostTensor::from(got), b = HostTensor::from(want);
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most / b.largest();
}

TEST(ComputeDType, bfloat16_is_near_float32_where_the_cpu_has_it) {
  const Symbol net = residual_net();
  Executor narrow = bind(net, DType::kFloat32, {.grad_req = "null", .compute_dtype = "bfloat16"});
  Executor wide = bind(net, DType::kFloat32, {.grad_req = "null", .compute_dtype = "float32"});
  fill(narrow, DType::kFloat32);
  fill(wide, DType::kFloat32);
  const std::string text = narrow.plan_text();
  EXPECT_EQ(wide.plan_text().find("bfloat16 "), std::string::npos);
  const double d = difference(narrow.forward(false)[0], wide.forward(false)[0]);
  EXPECT_EQ(narrow.outputs()[0].dtype(), DType::kFloat32);
  if (!cpu_has_bfloat16()) {
    EXPECT_EQ(lines_with(text, "computes in float32, not bfloat16: the CPU").size(), 1u) << text;
    EXPECT_TRUE(lines_with(text, "[onednn_bfloat16]").empty()) << text;
    EXPECT_EQ(d, 0);
    return;
  }
  EXPECT_EQ(lines_with(text, "computes in bfloat16").size(), 1u) << text;
  EXPECT_EQ(lines_with(text, "[onednn_bfloat16]").size(), 3u) << text;
  EXPECT_GT(d, 0);
  EXPECT_LT(d, 0x1p-6);  // a few roundings of 2^-9
}

TEST(ComputeDType, a_fold_that_is_not_finite_is_not_used) {
  const Symbol x = Variable("data");
  const Symbol net = Convolution("e", x, {.kernel = {1, 1}, .num_filter = 16, .no_bias = true});
  const Symbol sum = relu("r", net + norm("bn", conv("c", x, true)));
  Executor narrow = bind(sum, DType::kFloat32, {.grad_req = "null", .compute_dtype = "bfloat16"});
  Executor wide = bind(sum, DType::kFloat32, {.grad_req = "null"});
  for (Executor* exe : {&narrow, &wide}) {
    fill(*exe, DType::kFloat32);
    exe->arg_dict().at("c_weight") *= 0;
    exe->aux_dict().at("bn_moving_var").slice(3, 4).set(-1.0 / 1024);  // √0
  }
  const HostTensor a = HostTensor::from(narrow.forward(false)[0]),
                   b = HostTensor::from(wide.forward(false)[0]);
  EXPECT_TRUE(near(a, b, {.relative = 0x1p-6, .absolute = 0}));
}

/// 1×1 convolutions that read and write bfloat16, and a 3×3 one between them, by Winograd's method,
/// that does, too; with a BatchNorm that can be folded into it, and one that cannot.
TEST(ComputeDType, winograd_reads_and_writes_bfloat16) {
  const ShapeMap shapes{{"data", {2, 32, 24, 24}}};
  const auto layer = [](const std::string& name, const Symbol& x, std::int64_t kernel) {
    return relu(name + "_relu", norm(name + "_bn", Convolution(name, x,
                                                               {.kernel = {kernel, kernel},
                                                                .pad = {kernel / 2, kernel / 2},
                                                                .num_filter = 32})));
  };
  const Symbol net = layer("c", layer("b", layer("a", Variable("data"), 1), 3), 1);
  for (const bool folds : {true, false}) {
    Executor narrow =
        bind(net, DType::kFloat32, {.grad_req = "null", .compute_dtype = "bfloat16"}, shapes);
    Executor wide = bind(net, DType::kFloat32, {.grad_req = "null"}, shapes);
    for (Executor* exe : {&narrow, &wide}) {
      fill(*exe, DType::kFloat32);
      if (folds) continue;
      exe->arg_dict().at("b_weight").slice(3, 4).set(0);
      exe->aux_dict().at("b_bn_moving_var").slice(3, 4).set(-1.0 / 1024);  // √0
    }
    const std::string text = narrow.plan_text();
    if (cpu_has_bfloat16() && !cpu_has_amx()) {
      EXPECT_EQ(lines_with(text, "[onednn_bfloat16]").size(), 2u) << text;
      EXPECT_EQ(lines_with(text, "[native_winograd]").size(), 1u) << text;
      EXPECT_EQ(lines_with(text, "convert ").size(), 2u) << text;  // of data and output
    }
    const HostTensor a = HostTensor::from(narrow.forward(false)[0]),
                     b = HostTensor::from(wide.forward(false)[0]);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(std::isfinite(a[i]), std::isfinite(b[i])) << i;
      if (!std::isfinite(b[i])) continue;
      ASSERT_NEAR(a[i], b[i], 0x1p-5 * 4) << i;
    }
  }
}

/// A layer with a sum would write float32, which its readers convert again.
TEST(ComputeDType, winograd_leaves_a_layer_with_a_sum_to_the_kernel_in_bfloat16) {
  if (!cpu_has_bfloat16()) GTEST_SKIP() << "this CPU computes in float32";
  const Symbol x = Convolution("a", Variable("data"), {.kernel = {1, 1}, .num_filter = 32});
  const Symbol y = Convolution("b", x, {.kernel = {3, 3}, .pad = {1, 1}, .num_filter = 32});
  const Symbol net = Convolution("c", relu("b_relu", y + x), {.kernel = {1, 1}, .num_filter = 32});
  Executor narrow = bind(net, DType::kFloat32, {.grad_req = "null", .compute_dtype = "bfloat16"},
                         {{"data", {2, 32, 24, 24}}});
  const std::string text = narrow.plan_text();
  EXPECT_TRUE(lines_with(text, "[native_winograd]").empty()) << text;
  EXPECT_EQ(lines_with(text, "[onednn_bfloat16]").size(), 3u) << text;
  EXPECT_EQ(lines_with(text, "convert ").size(), 2u) << text;  // of data and output
}

TEST(ComputeDType, exact_and_gradients_forbid_it) {
  const Symbol net = residual_net();
  const auto line = [&](const SimpleBindOptions& options) {
    const Executor exe = bind(net, DType::kFloat32, options);
    EXPECT_TRUE(lines_with(exe.plan_text(), "[onednn_bfloat16]").empty());
    return !lines_with(exe.plan_text(), "computes in float32, not bfloat16").empty();
  };
  EXPECT_TRUE(line({.grad_req = "null", .exact = true, .compute_dtype = "bfloat16"}));
  EXPECT_TRUE(line({.compute_dtype = "bfloat16"}));
  EXPECT_FALSE(line({.grad_req = "null", .compute_dtype = "float32"}));
}

TEST(ComputeDType, the_setting_decides_unless_given) {
  const settings::override_for_test setting("SYMBIND_COMPUTE_DTYPE", "bfloat16");
  const auto requested = [&](const std::string& given) {
    const Executor exe =
        bind(residual_net(), DType::kFloat32, {.grad_req = "null", .compute_dtype = given});
    return !lines_with(exe.plan_text(), "computes in").empty();
  };
  EXPECT_TRUE(requested(""));
  EXPECT_FALSE(requested("float32"));
}

TEST(ComputeDType, a_bad_name_lists_the_valid_ones) {
  try {
    bind(residual_net(), DType::kFloat32, {.compute_dtype = "fp16"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kName);
    EXPECT_NE(std::string(e.what()).find("compute_dtype is 'fp16'; valid are float32 and bfloat16"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace symbind
