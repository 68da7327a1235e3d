// The executor on a GPU: the same plan, its step recorded once and replayed with changing values;
// memory and errors of the device. Skipped without a GPU.

#include <gtest/gtest.h>
#include <symbind/executor.h>

#include <chrono>
#include <cstdio>
#include <numeric>

#include "cuda/mlp.h"
#include "device/runtime.h"
#include "executor/fused_step.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using testing::Mlp;
using testing::relative_difference;

class CudaExecutor : public ::testing::Test {
 protected:
  void SetUp() override {
    if (num_gpus() == 0) GTEST_SKIP() << "no GPU";
  }
};

template <class F>
ErrorKind error_of(F&& f, std::string* text = nullptr) {
  try {
    f();
  } catch (const Error& e) {
    if (text != nullptr) *text = e.what();
    return e.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::kState;
}

double seconds_of(int times, const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) f();
  waitall();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

TEST_F(CudaExecutor, recorded_step_equals_verbs_and_cpu) {
  Mlp fused(gpu()), verbs(gpu()), host(cpu());
  fused.add_updates();
  const Recording* recording = nullptr;
  constexpr int kSteps = 102;  // one to warm up, one to record, a hundred replays of it
  for (int i = 0; i < kSteps; ++i) {
    fused.set_rate(Mlp::rate(i));
    fused.executor.step(fused.batch(i));
    if (i == 0) {
      EXPECT_EQ(fused_step_of(fused.executor).recording(), nullptr);
    }
    if (i == 1) {
      recording = fused_step_of(fused.executor).recording();
      ASSERT_NE(recording, nullptr);
    }
    verbs.step_by_verbs(Mlp::rate(i), verbs.batch(i));
    host.step_by_verbs(Mlp::rate(i), host.batch(i));
  }
  EXPECT_EQ(fused_step_of(fused.executor).recording(), recording) << "recorded more than once";
  std::printf("after %d steps     |recorded - verbs|   |recorded - cpu|   (of the largest)\n",
              kSteps);
  const auto compare = [](const std::string& name, const NDArray& a, const NDArray& b,
                          const NDArray& c) {
    const double by_verbs = relative_difference(a, b), by_cpu = relative_difference(a, c);
    std::printf("%-18s %12.3g        %12.3g\n", name.c_str(), by_verbs, by_cpu);
    EXPECT_LE(by_verbs, 1e-6) << name;
    EXPECT_LE(by_cpu, 1e-4) << name;
  };
  for (std::size_t p = 0; p < fused.params.size(); ++p) {
    compare(fused.params[p], fused.weights[p], verbs.weights[p], host.weights[p]);
    compare(fused.params[p] + " grad", fused.gradients[p], verbs.gradients[p], host.gradients[p]);
    compare(fused.params[p] + " mom", fused.momenta[p], verbs.momenta[p], host.momenta[p]);
  }
  compare("output", fused.executor.outputs()[0], verbs.executor.outputs()[0],
          host.executor.outputs()[0]);
  // The rates matter: with the first one throughout, the weights end up elsewhere.
  Mlp constant(gpu());
  for (int i = 0; i < kSteps; ++i) constant.step_by_verbs(Mlp::rate(0), constant.batch(i));
  EXPECT_GT(relative_difference(constant.weights.back(), verbs.weights.back()), 1e-3);

  const double replayed = seconds_of(2000, [&] { fused.executor.step(); });
  int i = 0;
  const double changing = seconds_of(2000, [&] {
    fused.set_rate(Mlp::rate(++i % 100));
    fused.executor.step();
  });
  const double by_verbs = seconds_of(500, [&] { verbs.step_by_verbs(0.01); });
  std::printf("us per step: recorded %.2f, recorded with a new rate %.2f, by verbs %.2f\n",
              replayed * 1e6, changing * 1e6, by_verbs * 1e6);
}

TEST_F(CudaExecutor, records_again_for_updates_and_monitors) {
  Mlp fused(gpu()), verbs(gpu());
  const auto both = [&](int i) {
    fused.executor.step(fused.batch(i));
    verbs.executor.forward(true, verbs.batch(i));
    verbs.executor.backward();
  };
  for (int i = 0; i < 3; ++i) both(i);
  EXPECT_NE(fused_step_of(fused.executor).recording(), nullptr);
  fused.add_updates();
  EXPECT_EQ(fused_step_of(fused.executor).recording(), nullptr);
  for (int i = 0; i < 3; ++i) {
    fused.executor.step(fused.batch(i));
    verbs.step_by_verbs(Mlp::rate(0), verbs.batch(i));
  }
  EXPECT_NE(fused_step_of(fused.executor).recording(), nullptr);
  int seen = 0;
  fused.executor.set_monitor_callback([&](const std::string&, const NDArray&) { ++seen; });
  fused.executor.step(fused.batch(3));
  verbs.step_by_verbs(Mlp::rate(0), verbs.batch(3));
  EXPECT_GT(seen, 4);
  EXPECT_EQ(fused_step_of(fused.executor).recording(), nullptr);
  fused.executor.set_monitor_callback(nullptr);
  for (int i = 0; i < 3; ++i) {
    fused.executor.step(fused.batch(i));
    verbs.step_by_verbs(Mlp::rate(0), verbs.batch(i));
  }
  EXPECT_NE(fused_step_of(fused.executor).recording(), nullptr);
  for (std::size_t p = 0; p < fused.params.size(); ++p)
    EXPECT_LE(relative_difference(fused.weights[p], verbs.weights[p]), 1e-6) << fused.params[p];
}

TEST_F(CudaExecutor, replays_add_to_gradients) {
  Mlp adding(gpu(), "add"), writing(gpu());
  for (int i = 0; i < 5; ++i) adding.executor.step(adding.batch(0));
  EXPECT_NE(fused_step_of(adding.executor).recording(), nullptr);
  writing.executor.forward(true, writing.batch(0));
  writing.executor.backward();
  for (std::size_t p = 0; p < adding.params.size(); ++p) {
    std::vector<float> five = writing.gradients[p].to_vector<float>();
    for (float& v : five) v *= 5;
    const NDArray expected = NDArray::from_vector(five, writing.gradients[p].shape());
    EXPECT_LE(relative_difference(adding.gradients[p], expected), 1e-6) << adding.params[p];
  }
}

// Hundreds of calls in flight, each with its own values.
TEST_F(CudaExecutor, values_in_flight_stay_apart) {
  const NDArray w = NDArray::zeros({1000}, gpu()), g = NDArray::full({1000}, -1, gpu());
  for (int i = 1; i <= 500; ++i) invoke("sgd_update", {w, g}, {{"lr", std::to_string(i)}}, {w});
  for (const float v : w.to_vector<float>()) ASSERT_EQ(v, 125250.0f);
}

TEST_F(CudaExecutor, arena_grows_in_place) {
  DeviceRuntime& device = runtime(gpu());
  const std::unique_ptr<Arena> arena = device.make_arena();
  arena->grow_to(1000);
  void* const base = arena->base();
  ASSERT_NE(base, nullptr);
  EXPECT_GE(arena->capacity(), 1000u);
  std::vector<int> written(250), read(250);
  std::iota(written.begin(), written.end(), 1);
  device.copy(base, written.data(), 1000, CopyKind::kHostToDevice);
  for (const std::size_t bytes : {std::size_t{100} << 20, std::size_t{1} << 30}) {
    arena->grow_to(bytes);
    EXPECT_EQ(arena->base(), base);
    EXPECT_GE(arena->capacity(), bytes);
    auto* end = static_cast<std::byte*>(base) + bytes - 1000;
    device.copy(end, base, 1000, CopyKind::kDeviceToDevice);
    device.copy(read.data(), end, 1000, CopyKind::kDeviceToHost);
    EXPECT_EQ(read, written);
  }
  const std::size_t before = arena->capacity();
  EXPECT_EQ(error_of([&] { arena->grow_to(device.memory().total - (1 << 20)); }),
            ErrorKind::kMemory);
  EXPECT_EQ(error_of([&] { arena->grow_to(std::size_t{1} << 50); }), ErrorKind::kMemory);
  EXPECT_EQ(arena->capacity(), before);
  device.copy(read.data(), base, 1000, CopyKind::kDeviceToHost);
  EXPECT_EQ(read, written);
}

TEST_F(CudaExecutor, large_copies_go_through_small_slots) {
  std::vector<float> values(5'000'001);
  std::iota(values.begin(), values.end(), 0.0f);
  const NDArray there =
      NDArray::from_vector(values, {static_cast<std::int64_t>(values.size())}, gpu());
  EXPECT_EQ(there.to_vector<float>(), values);
}

TEST_F(CudaExecutor, missing_device_is_an_error) {
  std::string text;
  EXPECT_EQ(error_of([] { NDArray::zeros({2}, gpu(99)); }, &text), ErrorKind::kValue);
  EXPECT_NE(text.find("gpu(99) cannot be used"), std::string::npos) << text;
  EXPECT_EQ(error_of([] {
              Mlp::network().simple_bind(gpu(99), {{"data", {1, 4}}});
            }),
            ErrorKind::kValue);
  std::printf("%s\n", text.c_str());
}

TEST_F(CudaExecutor, graphs_over_several_devices_are_refused) {
  const AttrScope group{{"ctx_group", "far"}};
  const Symbol net =
      make_symbol("Activation", "relu", std::vector<Symbol>{Variable("x")}, {{"act_type", "relu"}});
  EXPECT_EQ(error_of([&] {
              net.simple_bind(gpu(), {{"x", {2, 3}}}, {.group2ctx = {{"far", cpu()}}});
            }),
            ErrorKind::kNotImplemented);
}

TEST_F(CudaExecutor, out_of_memory_is_an_error_and_passes) {
  std::string text;
  EXPECT_EQ(error_of([] { NDArray::zeros({1 << 20, 1 << 20}, gpu()); }, &text), ErrorKind::kMemory);
  std::printf("%s\n", text.c_str());
  EXPECT_EQ(error_of([] {
              Mlp::network().simple_bind(gpu(), {{"data", {1 << 20, 1 << 20}}});
            }),
            ErrorKind::kMemory);
  // Arguments that fit beside intermediates that do not.
  const auto free = static_cast<std::int64_t>(runtime(gpu()).memory().free);
  const std::int64_t rows = free / 10 * 3 / 1024;
  Symbol wide = Variable("x");
  for (int i = 0; i < 5; ++i)
    wide = make_symbol("FullyConnected", "fc" + std::to_string(i), std::vector<Symbol>{wide},
                       {{"num_hidden", "256"}});
  const auto bind_wide = [&] { wide.simple_bind(gpu(), {{"x", {rows, 256}}}); };
  EXPECT_EQ(error_of(bind_wide, &text), ErrorKind::kMemory);
  std::printf("%s\n", text.c_str());
  Mlp after(gpu());
  after.add_updates();
  for (int i = 0; i < 3; ++i) after.executor.step(after.batch(i));
  for (const float p : after.executor.outputs()[0].to_vector<float>())
    ASSERT_TRUE(p >= 0 && p <= 1);
}

}  // namespace
}  // namespace symbind
