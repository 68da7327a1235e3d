// A monitor gets every output, with the same numbers as a separate run of each node.

#include <gtest/gtest.h>

#include <symbind/executor.h>
#include <symbind/symbind.h>

namespace symbind {
namespace {

Symbol net() {
  const Symbol data = Variable("data");
  const Symbol conv =
      Convolution("conv", data, {.kernel = {3, 3}, .num_filter = 16, .no_bias = true});
  const Symbol bn = BatchNorm("bn", conv, {.fix_gamma = false});
  const Symbol relu = Activation("relu", bn, {.act_type = "relu"});
  const Symbol pool =
      Pooling("pool", relu, {.kernel = {2, 2}, .pool_type = "max", .stride = {2, 2}});
  return FullyConnected("fc", pool, {.num_hidden = 3});
}

NDArray numbers(const Shape& shape, float step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.size(); ++i)
    values.push_back(step * static_cast<float>((i * 37) % 101 - 50));
  return NDArray::from_vector(values, shape);
}

void fill(Executor& e) {
  float step = 0.01f;
  for (const auto& [name, array] : e.arg_dict()) {
    numbers(array.shape(), step).copy_to(array);
    step += 0.003f;
  }
  for (const auto& [name, array] : e.aux_dict()) NDArray(array).set(1.0);
}

const ShapeMap kShapes = {{"data", {2, 16, 8, 8}}};

TEST(Monitor, cannot_be_changed_while_it_is_called) {
  Executor e = net().simple_bind(cpu(), kShapes, {.grad_req = "null"});
  int calls = 0;
  e.set_monitor_callback([&](const std::string&, const NDArray&) {
    ++calls;
    e.set_monitor_callback(nullptr);
  });
  EXPECT_THROW(e.forward()[0].wait_to_read(), Error);
  EXPECT_EQ(calls, 1);
  e.set_monitor_callback(nullptr);
  EXPECT_NO_THROW(e.forward()[0].wait_to_read());
}

// Without reuse of memory this chain needs two and a half terabytes.
TEST(Monitor, that_needs_too_much_memory_leaves_the_executor_as_it_was) {
  Symbol s = Variable("x");
  for (int i = 0; i < 40000; ++i) s = s + 1.0;
  Executor e = s.simple_bind(cpu(), {{"x", {1 << 24}}}, {.grad_req = "null"});
  const std::size_t arena = e.stats().arena_bytes;
  EXPECT_THROW(e.set_monitor_callback([](const std::string&, const NDArray&) {}), Error);
  EXPECT_EQ(e.stats().arena_bytes, arena);
}

TEST(Monitor, shows_what_each_node_computes) {
  Executor watched = net().simple_bind(cpu(), kShapes);
  fill(watched);
  NDArrayMap seen;
  watched.set_monitor_callback(
      [&](const std::string& name, const NDArray& value) { seen[name] = value; });
  watched.forward(true);
  for (const std::string name :
       {"conv_output", "bn_output", "relu_output", "pool_output", "fc_output"}) {
    Executor alone = net().get_internals()[name].simple_bind(cpu(), kShapes);
    fill(alone);
    for (const auto& [arg, array] : alone.arg_dict()) watched.arg_dict().at(arg).copy_to(array);
    const std::vector<float> expected = alone.forward(true)[0].to_vector<float>();
    ASSERT_TRUE(seen.contains(name)) << name;
    EXPECT_EQ(seen.at(name).shape(), alone.outputs()[0].shape());
    const std::vector<float> shown = seen.at(name).to_vector<float>();
    ASSERT_EQ(shown.size(), expected.size());
    for (std::size_t i = 0; i < shown.size(); ++i)
      ASSERT_NEAR(shown[i], expected[i], 1e-4f * (1 + std::abs(expected[i]))) << name << " " << i;
  }
  EXPECT_FALSE(seen.contains("pool_workspace")) << "opaque bytes are no value";
}

TEST(Monitor, changes_no_result_and_can_be_taken_off) {
  Executor e = net().simple_bind(cpu(), kShapes);
  fill(e);
  const std::vector<float> before = e.forward()[0].to_vector<float>();
  int calls = 0;
  e.set_monitor_callback([&](const std::string&, const NDArray&) { ++calls; });
  const std::vector<float> watched = e.forward()[0].to_vector<float>();
  EXPECT_GE(calls, 5);
  e.set_monitor_callback(nullptr);
  const int then = calls;
  EXPECT_EQ(e.forward()[0].to_vector<float>(), before);
  EXPECT_EQ(calls, then);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(watched[i], before[i], 1e-4f * (1 + std::abs(before[i])));
}

TEST(Monitor, shows_inputs_too_when_asked) {
  Executor e = net().simple_bind(cpu(), kShapes);
  fill(e);
  std::vector<std::string> names;
  e.set_monitor_callback([&](const std::string& name, const NDArray&) { names.push_back(name); },
                         true);
  e.forward();
  const std::vector<std::string> first(names.begin(), names.begin() + 5);
  EXPECT_EQ(first, (std::vector<std::string>{"data", "conv_data", "conv_weight", "conv_weight",
                                             "conv_output"}));
}

}  // namespace
}  // namespace symbind
