// A training step and a repeated call on arrays make no lookups: they do not read the environment,
// make and parse no attribute text, and the library allocates only the result.

#include <gtest/gtest.h>
#include <symbind/symbind.h>

#include <atomic>
#include <cstring>

#include "graph/attribute_texts.h"
#include "module/nets.h"
#if SYMBIND_WATCHES_HEAP
#include "benchmarks/support/heap_watch.h"
#endif

namespace {
std::atomic<std::int64_t> environment_reads{0};
}

extern "C" char** environ;
extern "C" char* getenv(const char* name) {
  ++environment_reads;
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
      return *entry + length + 1;
  return nullptr;
}

namespace symbind {
namespace {

struct Counts {
  std::int64_t environment, texts, allocations;
};

Counts counts() {
  Counts now{environment_reads, static_cast<std::int64_t>(attribute_texts()), 0};
#if SYMBIND_WATCHES_HEAP
  now.allocations = bench::heap_counts().ours;
#endif
  return now;
}

/// What `work` takes after it ran a few times.
template <class F>
Counts warm(F&& work) {
  for (int i = 0; i < 3; ++i) work();
  const Counts before = counts();
  for (int i = 0; i < 10; ++i) work();
  const Counts after = counts();
  return {after.environment - before.environment, after.texts - before.texts,
          after.allocations - before.allocations};
}

void expect_nothing(const Counts& c, const std::string& what) {
  EXPECT_EQ(c.environment, 0) << what << ": reads of the environment";
  EXPECT_EQ(c.texts, 0) << what << ": attributes made to text or parsed";
  EXPECT_EQ(c.allocations, 0) << what << ": allocations";
}

TEST(Lookups, the_counters_count) {
  const Counts before = counts();
  (void)std::getenv("HOME");
  (void)make_symbol("Activation", "a", std::vector{Variable("x")}, {{"act_type", "relu"}});
  const Counts after = counts();
  EXPECT_GT(after.environment, before.environment);
  EXPECT_GT(after.texts, before.texts);
#if SYMBIND_WATCHES_HEAP
  EXPECT_GT(after.allocations, before.allocations);
#endif
}

TEST(Lookups, a_training_step) {
  const std::pair<const char*, OptimizerParams> setups[] = {
      {"sgd", {{"learning_rate", 0.1}}},
      {"sgd", {{"learning_rate", 0.1}, {"momentum", 0.9}, {"wd", 0.01}}},
      {"nag", {{"momentum", 0.9}}},
      {"adam", {}},
      {"rmsprop", {}}};
  for (const auto& [name, params] : setups) {
    const auto module = ready({}, {.optimizer = name, .optimizer_params = params});
    const DataBatch given = batch();
    const MetricPtr metric = Accuracy();
    expect_nothing(warm([&] { module->step(given, *metric); }), std::string(name) + ", step");
    expect_nothing(warm([&] {
                     module->forward_backward(given);
                     module->update();
                   }),
                   std::string(name) + ", forward_backward and update");
  }
}

TEST(Lookups, a_call_that_was_made_before_and_writes_out) {
  const NDArray a = NDArray::full({4, 5}, 2), b = NDArray::full({5}, 3), out({4, 5});
  NDArray sum = NDArray::zeros({4, 5});
  expect_nothing(warm([&] { relu(a, {}, out); }), "relu");
  expect_nothing(warm([&] { broadcast_add(a, b, {}, out); }), "broadcast_add");
  expect_nothing(warm([&] { clip(a, {.a_min = 0, .a_max = 1.5}, out); }), "clip");
  expect_nothing(warm([&] { sum += a; }), "+=");
  expect_nothing(warm([&] { sum *= 0.5; }), "*= of a number");
  EXPECT_EQ(out.to_vector<float>().front(), 1.5F);
}

TEST(Lookups, without_out_only_the_result_is_allocated) {
  const NDArray a = NDArray::full({4, 5}, 2), b = NDArray::full({5}, 3);
  const Counts array = warm([] { const NDArray result({4, 5}); });
  const Counts call = warm([&] { const NDArray result = a + b; });
  EXPECT_EQ(call.environment, 0);
  EXPECT_EQ(call.texts, 0);
  EXPECT_EQ(call.allocations, array.allocations);
}

}  // namespace
}  // namespace symbind
