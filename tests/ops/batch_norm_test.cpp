// BatchNorm: recorded, and its fused form against the mathematics.

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <symbind/executor.h>
#include <symbind/operator.h>

#include "base/parallel.h"
#include "base/settings.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// Batch statistics, then the epilogue: a sum with the sixth input, a relu.
OpReference normalised(const char* epilogue) {
  const std::string text = epilogue;
  return [sum = text.starts_with("sum"), relu = text.ends_with("relu")](const HostTensors& in) {
    const HostTensor& x = in[0];
    const std::int64_t images = x.shape[0], channels = x.shape[1], inner = x.shape.count(2);
    HostTensor y(x.shape);
    for (std::int64_t c = 0; c < channels; ++c) {
      double total = 0, squares = 0;
      const double m = static_cast<double>(images * inner);
      const auto each = [&](auto f) {
        for (std::int64_t n = 0; n < images; ++n)
          for (std::int64_t i = 0; i < inner; ++i)
            f(static_cast<std::size_t>((n * channels + c) * inner + i));
      };
      each([&](std::size_t i) { total += x[i]; });
      each([&](std::size_t i) { squares += (x[i] - total / m) * (x[i] - total / m); });
      const double scale =
          in[1][static_cast<std::size_t>(c)] / std::sqrt(squares / m + static_cast<double>(1e-3f));
      each([&](std::size_t i) {
        y[i] = (x[i] - total / m) * scale + in[2][static_cast<std::size_t>(c)];
        if (sum) y[i] += in[5][i];
        if (relu) y[i] = std::max(0.0, y[i]);
      });
    }
    return HostTensors{y};
  };
}

OP_CASES(BatchNorm) {
  c.recorded([](OpCase& recorded) {
    // Mean and deviation as outputs pass no gradient back, though the data moves them.
    if (recorded.name() == "output_mean_var") recorded.no_grad();
  });
}

OP_CASES(_fused_BatchNorm) {
  const std::pair<const char*, Shape> shapes[] = {{"plain", {3, 2, 2, 3}},
                                                  {"rows of 17", {2, 3, 17}},
                                                  {"blocks of 16", {2, 16, 3, 3}},
                                                  {"blocks of 8", {2, 24, 3, 2}},
                                                  {"no image", {5, 16}}};
  for (const char* epilogue : {"relu", "sum", "sum,relu"})
    for (const auto& [name, shape] : shapes) {
      const Shape channels{shape[1]};
      OpCase& one = c.add(std::string(name) + ", " + epilogue)
                        .attr("fix_gamma", false)
                        .attr("epilogue", epilogue)
                        .in(shape)
                        .in(channels, 0.5, 1.5)
                        .in(channels, -0.5, 0.5)
                        .in(channels)
                        .in(channels, 0.5, 1.5);
      if (std::string(epilogue).starts_with("sum")) one.in(shape);
      one.ref(normalised(epilogue));
    }
  c.add("unknown epilogue")
      .attr("epilogue", "tanh")
      .in({2, 16})
      .in({16})
      .in({16})
      .in({16})
      .in({16})
      .raises("no epilogue 'tanh'");
}

TEST(BatchNorm, its_older_names_are_read) {
  for (const char* name : {"BatchNorm_v1", "CuDNNBatchNorm"})
    EXPECT_EQ(OpRegistry::global().get(name).name, "BatchNorm") << name;
}

TEST(BatchNorm, moving_statistics_change_in_backward) {
  const Symbol net =
      make_symbol("BatchNorm", "bn", std::vector{Variable("data")}, {{"momentum", "0.5"}});
  Executor exe = net.simple_bind(cpu(), {{"data", {2, 1}}});
  NDArray({1, 3}, {2, 1}).copy_to(exe.arg_dict()["data"]);
  exe.forward(true);
  EXPECT_EQ(exe.aux_dict()["bn_moving_mean"].to_vector<float>()[0], 0);
  exe.backward({NDArray::ones({2, 1})});
  EXPECT_FLOAT_EQ(exe.aux_dict()["bn_moving_mean"].to_vector<float>()[0], 1);
  EXPECT_FLOAT_EQ(exe.aux_dict()["bn_moving_var"].to_vector<float>()[0], 0.5);
}

/// What a block relu(BatchNorm(x) + z) gives whose output two operators read: times a, times b.
struct Block {
  HostTensor y, dx, dz, dgamma, dbeta, mean, var;
};

Symbol block(std::int64_t channels, bool convolution, const char* relu, bool sum = true) {
  Symbol x = Variable("x");
  if (convolution)
    x = make_symbol(
        "Convolution", "conv", std::vector{x},
        {{"kernel", "(1, 1)"}, {"num_filter", std::to_string(channels)}, {"no_bias", "True"}});
  const Symbol bn =
      make_symbol("BatchNorm", "bn", std::vector{x}, {{"fix_gamma", "False"}, {"momentum", "0.5"}});
  const Symbol y =
      make_symbol(relu, "y", std::vector{sum ? bn + Variable("z") : bn},
                  std::string(relu) == "relu" ? AttrDict{} : AttrDict{{"act_type", "relu"}});
  return Symbol::group({y * Variable("a"), y * Variable("b")});
}

/// With x, z, a, b of the formula. A convolution has the identity as its weight.
Block run_block(const Shape& shape, bool convolution, const std::string& req = "write",
                const char* relu = "Activation", double offset = 0, bool sum = true) {
  const Symbol net = block(shape[1], convolution, relu, sum);
  ShapeMap shapes = {{"x", shape}, {"a", shape}, {"b", shape}};
  if (sum) shapes["z"] = shape;
  Executor e = net.simple_bind(cpu(), shapes, {.grad_req = req});
  for (auto& [name, array] : e.arg_dict()) {
    HostTensor value = HostTensor::formula(array.shape(), name[0], -1, 1);
    if (name == "bn_gamma") value = HostTensor::formula(array.shape(), 7, 0.5, 1.5);
    if (name == "x")
      for (std::size_t i = 0; i < value.size(); ++i) value[i] += offset;
    if (name == "conv_weight")
      for (std::size_t i = 0; i < value.size(); ++i)
        value[i] = i / static_cast<std::size_t>(shape[1]) == i % static_cast<std::size_t>(shape[1]);
    value.array().copy_to(array);
  }
  if (req == "add")
    for (auto& [name, array] : e.grad_dict()) NDArray::ones(array.shape()).copy_to(array);
  e.forward(true);
  e.backward(std::vector{NDArray::ones(shape), NDArray::ones(shape)});
  const auto grad = [&](const char* name) {
    HostTensor g = HostTensor::from(e.grad_dict().at(name));
    if (req == "add")
      for (std::size_t i = 0; i < g.size(); ++i) g[i] -= 1;
    return g;
  };
  return {HostTensor::from(e.outputs()[0]),
          grad("x"),
          sum ? grad("z") : HostTensor(shape),
          grad("bn_gamma"),
          grad("bn_beta"),
          HostTensor::from(e.aux_dict().at("bn_moving_mean")),
          HostTensor::from(e.aux_dict().at("bn_moving_var"))};
}

/// The same by the mathematics, of the numbers as float32 holds them.
Block block_by_definition(const Shape& shape, double offset = 0, bool sum = true) {
  const auto stored = [](HostTensor t) {
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = static_cast<double>(static_cast<float>(t[i]));
    return t;
  };
  HostTensor x = HostTensor::formula(shape, 'x', -1, 1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += offset;
  x = stored(x);
  const HostTensor z = stored(HostTensor::formula(shape, 'z', -1, 1)),
                   a = stored(HostTensor::formula(shape, 'a', -1, 1)),
                   b = stored(HostTensor::formula(shape, 'b', -1, 1));
  const std::int64_t channels = shape[1], inner = shape.count(2);
  const HostTensor gamma = stored(HostTensor::formula({channels}, 7, 0.5, 1.5)),
                   beta = stored(HostTensor::formula({channels}, 'b', -1, 1));
  const HostTensor per_channel(Shape{channels}), whole(shape);
  Block r{whole, whole, whole, per_channel, per_channel, per_channel, per_channel};
  for (std::size_t c = 0; c < per_channel.size(); ++c) {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (i / static_cast<std::size_t>(inner) % per_channel.size() == c) at.push_back(i);
    const auto m = static_cast<double>(at.size());
    double mean = 0, var = 0;
    for (const std::size_t i : at) mean += x[i] / m;
    for (const std::size_t i : at) var += (x[i] - mean) * (x[i] - mean) / m;
    const double inverse = 1 / std::sqrt(var + static_cast<double>(1e-3f));
    for (const std::size_t i : at) {
      const double unit = (x[i] - mean) * inverse, y = unit * gamma[c] + beta[c] + (sum ? z[i] : 0);
      r.y[i] = std::max(y, 0.0) * a[i];
      r.dz[i] = y > 0 ? a[i] + b[i] : 0;
      r.dbeta[c] += r.dz[i];
      r.dgamma[c] += r.dz[i] * unit;
    }
    for (const std::size_t i : at)
      r.dx[i] = gamma[c] * inverse *
                (r.dz[i] - r.dbeta[c] / m - (x[i] - mean) * inverse * r.dgamma[c] / m);
    r.mean[c] = 0.5 * mean;
    r.var[c] = 0.5 * var;
  }
  return r;
}

void expect_near(const Block& got, const Block& want, double tolerance) {
  const auto compare = [&](const char* what, const HostTensor& a, const HostTensor& b) {
    EXPECT_TRUE(near(a, b, {tolerance, tolerance})) << what;
  };
  compare("y", got.y, want.y);
  compare("dx", got.dx, want.dx);
  compare("dz", got.dz, want.dz);
  compare("dgamma", got.dgamma, want.dgamma);
  compare("dbeta", got.dbeta, want.dbeta);
  compare("mean", got.mean, want.mean);
  compare("var", got.var, want.var);
}

TEST(BatchNorm, a_block_with_two_readers_has_the_gradients_of_the_mathematics) {
  for (const auto& [shape, convolution] : {std::pair{Shape{3, 5, 7, 6}, false},
                                           {Shape{3, 5, 40, 41}, false},
                                           {Shape{4, 16, 6, 5}, true},
                                           {Shape{2, 24, 3, 7}, true},
                                           {Shape{3, 32, 18, 17}, true},
                                           {Shape{20, 16}, false}})
    for (const char* req : {"write", "add"})
      expect_near(run_block(shape, convolution, req), block_by_definition(shape), 2e-5);
}

TEST(BatchNorm, every_kernel_gives_the_same_block) {
  const Shape shape{4, 16, 6, 5};
  for (const char* forbidden : {"", "-native", "-native,-onednn"}) {
    const settings::override_for_test setting("SYMBIND_KERNELS", forbidden);
    Block want = block_by_definition(shape, 0, false);
    want.dz = HostTensor(shape);
    expect_near(run_block(shape, true, "write", "Activation", 0, false), want, 2e-5);
    expect_near(run_block(shape, true), block_by_definition(shape), 2e-5);
  }
}

TEST(BatchNorm, a_large_mean_costs_no_more_digits_than_its_own_rounding) {
  const Shape shape{4, 16, 40, 40};
  const Block got = run_block(shape, false, "write", "Activation", 1000),
              want = block_by_definition(shape, 1000);
  EXPECT_TRUE(near(got.mean, want.mean, {1e-7, 0}));
  EXPECT_TRUE(near(got.var, want.var, {1e-5, 0}));
}

TEST(ThreadsBatchNorm, bits_do_not_depend_on_the_number_of_threads) {
  for (const Shape& shape : {Shape{5, 7, 33, 31}, Shape{6, 48, 20, 19}}) {
    set_num_threads(1);
    const Block one = run_block(shape, shape[1] == 48);
    for (const int threads : {2, 3}) {
      set_num_threads(threads);
      const Block many = run_block(shape, shape[1] == 48);
      EXPECT_EQ(one.y.values, many.y.values) << threads;
      EXPECT_EQ(one.dx.values, many.dx.values) << threads;
      EXPECT_EQ(one.dz.values, many.dz.values) << threads;
      EXPECT_EQ(one.dgamma.values, many.dgamma.values) << threads;
      EXPECT_EQ(one.var.values, many.var.values) << threads;
    }
    set_num_threads(0);
  }
}

struct WithNan {
  std::vector<float> y, dz;
};
/// Of a block whose z has a NaN and both infinities.
WithNan with_nan(const char* relu) {
  Executor e =
      block(16, false, relu)
          .simple_bind(cpu(), {{"x", {2, 16}}, {"z", {2, 16}}, {"a", {2, 16}}, {"b", {2, 16}}});
  for (auto& [name, array] : e.arg_dict()) NDArray::ones(array.shape()).copy_to(array);
  std::vector<float> z(32, 1.f);
  z[0] = std::numeric_limits<float>::quiet_NaN();
  z[1] = std::numeric_limits<float>::infinity();
  z[2] = -std::numeric_limits<float>::infinity();
  NDArray::from_vector(z, {2, 16}).copy_to(e.arg_dict().at("z"));
  EXPECT_NE(e.plan_text().find("_fused_BatchNorm"), std::string::npos);
  e.forward(true);
  e.backward(std::vector{NDArray::ones({2, 16}), NDArray::ones({2, 16})});
  return {e.outputs()[0].to_vector<float>(), e.grad_dict().at("z").to_vector<float>()};
}

TEST(BatchNorm, relu_of_a_nan_is_that_of_its_operator) {
  const WithNan keeps = with_nan("relu"), zero = with_nan("Activation");
  EXPECT_TRUE(std::isnan(keeps.y[0]));
  EXPECT_TRUE(std::isnan(keeps.dz[0]));
  EXPECT_EQ(zero.y[0], 0);
  EXPECT_EQ(zero.dz[0], 0);
  for (const auto& [y, dz] : {keeps, zero}) {
    EXPECT_TRUE(std::isinf(y[1]));
    EXPECT_EQ(y[2], 0);
    EXPECT_EQ(dz[2], 0);
    EXPECT_EQ(y[3], 2);
    EXPECT_EQ(dz[3], 2);
  }
}

}  // namespace
}  // namespace symbind
