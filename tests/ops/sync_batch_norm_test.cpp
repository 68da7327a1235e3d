// SyncBatchNorm: recorded on one device; on two it equals BatchNorm of both batches together.

#include <gtest/gtest.h>
#include <symbind/executor.h>

#include <optional>
#include <thread>

#include "base/settings.h"
#include "kernels/device_meeting.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_SyncBatchNorm) {
  c.recorded([](OpCase& recorded) {
    // Mean and variance as outputs pass no gradient back, though the data moves them.
    if (recorded.name() == "mean and variance") recorded.no_grad();
  });
  c.add("no channels")
      .attr("key", "k")
      .in({3})
      .in({3})
      .in({3})
      .in({3})
      .in({3})
      .raises("(batch, channels");
}

struct Layer {
  Layer(const char* op, AttrDict attrs, Context context, const HostTensor& x, const HostTensor& dy)
      : head(dy.array(DType::kFloat64, context)) {
    attrs.insert({{"fix_gamma", "False"}, {"eps", "0.0009765625"}});
    const Symbol net = make_symbol(op, "bn", std::vector{Variable("data")}, attrs);
    exe = net.simple_bind(context, {{"data", x.shape}}, {.types = {{"data", DType::kFloat64}}});
    x.array(DType::kFloat64, context).copy_to(exe->arg_dict()["data"]);
    HostTensor::formula({3}, 5, 0.5, 2).array(DType::kFloat64).copy_to(exe->arg_dict()["bn_gamma"]);
    HostTensor::formula({3}, 6).array(DType::kFloat64).copy_to(exe->arg_dict()["bn_beta"]);
  }
  void step() {
    exe->forward(true);
    exe->backward({head});
  }
  HostTensor output() { return HostTensor::from(exe->outputs()[0]); }
  HostTensor grad(const char* name) { return HostTensor::from(exe->grad_dict()[name]); }
  HostTensor aux(const char* name) { return HostTensor::from(exe->aux_dict()[name]); }

  NDArray head;
  std::optional<Executor> exe;
};

HostTensor rows(const HostTensor& x, std::int64_t begin, std::int64_t end) {
  Shape shape = x.shape;
  shape[0] = end - begin;
  const std::int64_t row = x.shape.count(1);
  return {shape, std::vector(x.values.begin() + begin * row, x.values.begin() + end * row)};
}

TEST(ThreadsSyncBatchNorm, two_devices_normalise_as_one) {
  const HostTensor x = HostTensor::formula({5, 3, 2, 2}, 1), dy = HostTensor::formula(x.shape, 2);
  Layer whole("BatchNorm", {}, cpu(), x, dy);
  whole.step();
  const AttrDict attrs = {{"ndev", "2"}, {"key", "two_devices"}};
  // Batches of different sizes: statistics are over elements, not over devices.
  Layer first("_contrib_SyncBatchNorm", attrs, cpu(0), rows(x, 0, 3), rows(dy, 0, 3));
  Layer second("_contrib_SyncBatchNorm", attrs, cpu(1), rows(x, 3, 5), rows(dy, 3, 5));
  std::thread other([&] { second.step(); });
  first.step();
  other.join();
  const Tolerance exact{1e-12, 1e-12};
  EXPECT_TRUE(near(first.output(), rows(whole.output(), 0, 3), exact));
  EXPECT_TRUE(near(second.output(), rows(whole.output(), 3, 5), exact));
  EXPECT_TRUE(near(first.grad("data"), rows(whole.grad("data"), 0, 3), exact));
  EXPECT_TRUE(near(second.grad("data"), rows(whole.grad("data"), 3, 5), exact));
  for (const char* name : {"bn_gamma", "bn_beta"}) {
    HostTensor sum = first.grad(name);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += second.grad(name)[i];
    EXPECT_TRUE(near(sum, whole.grad(name), exact)) << name;
  }
  for (const char* name : {"bn_moving_mean", "bn_moving_var"})
    EXPECT_TRUE(near(second.aux(name), whole.aux(name), exact)) << name;
}

TEST(ThreadsSyncBatchNorm, a_device_that_does_not_come_is_an_error) {
  std::vector<double> numbers{1, 2};
  try {
    const settings::override_for_test at_once("SYMBIND_LIMIT_DEVICE_WAIT", "0");
    sum_over_devices("alone", 2, 0, numbers);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("'alone' for 2 devices, of which 1 arrived"),
              std::string::npos)
        << e.what();
  }
  // The key is free again.
  std::thread other([] {
    std::vector<double> theirs{10, 20};
    sum_over_devices("alone", 2, 1, theirs);
  });
  sum_over_devices("alone", 2, 0, numbers);
  other.join();
  EXPECT_EQ(numbers, (std::vector<double>{11, 22}));
}

}  // namespace
}  // namespace symbind
