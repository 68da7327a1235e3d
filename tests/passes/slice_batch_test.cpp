// Predictions in slices of the batch: their numbers are those of every sample by itself, and a
// network whose samples depend on one another is not sliced.
#include <gtest/gtest.h>

#include <symbind/symbind.h>

#include "tests/support/host_tensor.h"

namespace symbind {
namespace {

constexpr std::int64_t kBatch = 12, kSide = 168;

/// 12 images of 168×168 with 32 channels are 43 MB.
Symbol widened(const std::string& data = "data") {
  return Activation("relu",
                    Convolution("conv", Variable(data), {.kernel = {1, 1}, .num_filter = 32}),
                    {.act_type = "relu"});
}
Symbol pooled(const Symbol& x) {
  return Pooling("pool", x, {.kernel = {2, 2}, .pool_type = "avg", .stride = {2, 2}});
}
Symbol classified(const Symbol& x) {
  const Symbol small =
      Pooling("all", x, {.kernel = {1, 1}, .pool_type = "avg", .global_pool = true});
  return softmax("prob", FullyConnected("fc", Flatten("flat", small), {.num_hidden = 5}));
}

Shape images(std::int64_t batch) { return {batch, 3, kSide, kSide}; }

Executor bound(const Symbol& net, ShapeMap shapes) {
  Executor e = net.simple_bind(cpu(), shapes, {.grad_req = "null"});
  for (const auto& [name, array] : e.arg_dict())
    HostTensor::formula(array.shape(), name.back(), -1, 1).array().copy_to(array);
  return e;
}
bool is_sliced(const Executor& e) {
  return e.plan_text().find("slice of the batch") != std::string::npos;
}

/// The outputs of the whole batch are those of its samples one by one. `per_sample`: the arguments
/// with a row per sample.
void expect_samples(const Symbol& net, const std::vector<std::string>& per_sample, bool sliced,
                    const ShapeMap& more = {}) {
  ShapeMap whole = more, one = more;
  for (const std::string& name : per_sample) {
    Shape shape = more.contains(name) ? more.at(name) : images(kBatch);
    whole[name] = shape;
    shape[0] = 1;
    one[name] = shape;
  }
  Executor all = bound(net, whole), single = bound(net, one);
  EXPECT_EQ(is_sliced(all), sliced);
  EXPECT_FALSE(is_sliced(single));
  for (int run = 0; run < 2; ++run) {  // the second starts where the first ended
    const NDArrayMap args = all.arg_dict();
    for (const std::string& name : per_sample)
      HostTensor::formula(args.at(name).shape(), run + 40, -1, 1).array().copy_to(args.at(name));
    all.forward(false);
    for (std::int64_t n = 0; n < kBatch; ++n) {
      for (const std::string& name : per_sample)
        args.at(name).slice(n, n + 1).copy_to(single.arg_dict().at(name));
      for (const auto& [name, array] : args)
        if (std::ranges::find(per_sample, name) == per_sample.end())
          array.copy_to(single.arg_dict().at(name));
      single.forward(false);
      for (std::size_t o = 0; o < all.outputs().size(); ++o)
        EXPECT_TRUE(near(HostTensor::from(all.outputs()[o].slice(n, n + 1)),
                         HostTensor::from(single.outputs()[o]), {1e-5, 1e-6}))
            << "run " << run << " sample " << n << " output " << o;
    }
  }
}

TEST(SliceBatch, samples_of_a_large_batch_have_their_own_outputs) {
  const Symbol x = pooled(widened());
  expect_samples(Group({classified(x), x}), {"data"}, true);
}

TEST(SliceBatch, every_input_with_samples_is_sliced) {
  const Symbol x = widened(), gate = Reshape("gate4", Variable("gate"), {.shape = {-1, 32, 1, 1}});
  const Symbol y = broadcast_add("shift", broadcast_mul("gated", x, gate), Variable("shift0"));
  expect_samples(pooled(Concat("both", {y, x + x}, {.dim = 1})), {"data", "gate"}, true,
                 {{"gate", {kBatch, 32}}, {"shift0", {1, 32, 1, 1}}});
}

TEST(SliceBatch, parameters_as_many_as_samples_are_whole) {
  const Symbol x = Convolution("conv2", widened(), {.kernel = {1, 1}, .num_filter = kBatch});
  expect_samples(classified(x), {"data"}, true);
}

TEST(SliceBatch, an_axis_of_all_samples_is_not_sliced) {
  const auto sliced = [](const Symbol& net) {
    return is_sliced(net.simple_bind(cpu(), {{"data", images(kBatch)}}, {.grad_req = "null"}));
  };
  const Symbol x = widened();
  EXPECT_TRUE(sliced(pooled(x)));
  EXPECT_FALSE(sliced(softmax("s", pooled(x), {.axis = 0})));
  EXPECT_FALSE(sliced(reverse("r", pooled(x), {.axis = {0}})));
  EXPECT_FALSE(sliced(Concat("c", {pooled(x), pooled(x)}, {.dim = 0})));
  EXPECT_FALSE(sliced(transpose("t", pooled(x), {.axes = {1, 0, 2, 3}})));
  EXPECT_FALSE(
      sliced(broadcast_sub("d", pooled(x), mean("m", pooled(x), {.axis = 0, .keepdims = true}))));
}

TEST(SliceBatch, an_attribute_that_names_the_batch_is_not_sliced) {
  const Symbol net = Reshape("rows", pooled(widened()), {.shape = {kBatch, -1}});
  const Executor e = net.simple_bind(cpu(), {{"data", images(kBatch)}}, {.grad_req = "null"});
  EXPECT_FALSE(is_sliced(e));
}

TEST(SliceBatch, small_activations_and_trainings_are_not_sliced) {
  EXPECT_FALSE(is_sliced(
      pooled(widened()).simple_bind(cpu(), {{"data", {2, 3, 8, 8}}}, {.grad_req = "null"})));
  EXPECT_FALSE(is_sliced(pooled(widened()).simple_bind(cpu(), {{"data", images(kBatch)}}, {})));
}

TEST(SliceBatch, many_small_samples_are_not_sliced_one_by_one) {
  const Symbol net = Activation("relu", Variable("data") + 1.0, {.act_type = "relu"});
  const auto sliced = [&](std::int64_t batch) {
    return is_sliced(net.simple_bind(cpu(), {{"data", {batch, 8}}}, {.grad_req = "null"}));
  };
  EXPECT_FALSE(sliced(1'000'003));  // a prime number
  EXPECT_TRUE(sliced(1'048'576));
}

TEST(SliceBatch, forward_for_training_takes_the_whole_batch) {
  Executor e = bound(pooled(widened()), {{"data", images(kBatch)}});
  e.forward(false);
  const HostTensor before = HostTensor::from(e.outputs()[0]);
  e.forward(true);
  EXPECT_FALSE(is_sliced(e));
  EXPECT_TRUE(near(HostTensor::from(e.outputs()[0]), before, {1e-5, 1e-6}));
}

TEST(SliceBatch, a_monitor_sees_the_whole_batch) {
  Executor e = bound(pooled(widened()), {{"data", images(kBatch)}});
  std::vector<Shape> seen;
  e.set_monitor_callback([&](const std::string&, const NDArray& a) { seen.push_back(a.shape()); });
  e.forward(false);
  ASSERT_FALSE(seen.empty());
  for (const Shape& shape : seen) EXPECT_EQ(shape[0], kBatch);
}

TEST(SliceBatch, a_predictor_gives_the_same) {
  const Symbol net = classified(pooled(widened()));
  Executor e = bound(net, {{"data", images(kBatch)}});
  e.forward(false);
  NDArrayMap params = e.arg_dict();
  const NDArray data = params.at("data");
  params.erase("data");
  const Predictor predictor(net, params, {});
  for (int run = 0; run < 2; ++run) {
    const std::vector<NDArray> outputs = predictor.predict(data);
    EXPECT_EQ(outputs[0].shape(), (Shape{kBatch, 5}));
    EXPECT_TRUE(near(HostTensor::from(outputs[0]), HostTensor::from(e.outputs()[0]), {1e-6, 1e-7}));
  }
}

}  // namespace
}  // namespace symbind
