// Malicious files of states: they would use much memory or time, or ruin the weights.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <symbind/detail/states.h>

#include "base/settings.h"
#include "optimizer/recorded.h"

namespace symbind {
namespace {

using namespace std::string_literals;

std::string refusal(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo) << error.what();
    return error.what();
  }
  return "it was read";
}

void expect_in(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

std::int64_t peak_kilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// A dictionary of `entries` under memo 1, and `objects` that are given it as their state.
std::string many_states(const std::string& cls, int entries, int objects) {
  std::string bytes = "\x80\x02"s + "c" + cls + "\nq\x02" + "}q\x01("s;
  for (int i = 0; i < entries; ++i) bytes += "NN";
  bytes += "u0(";
  for (int i = 0; i < objects; ++i)
    bytes +=
        "h\x02)\x81h\x01"
        "b";
  return bytes + "t.";
}

// 56 KB: 14,000 entries, 6,000 objects; copied into each they took 2.5 GB.
TEST(BadInputStatesGrowth, objects_share_their_attributes) {
  const std::string bytes = many_states("mxnet.optimizer.optimizer\nSGD", 7000, 6000);
  EXPECT_LT(bytes.size(), 60000U);
  const std::int64_t before = peak_kilobytes();
  expect_in(refusal([&] { load_states(bytes, "my.states"); }), {"my.states", "memo", "larger"});
  EXPECT_LT(peak_kilobytes() - before, 300'000);
  expect_in(refusal([] {
              load_states(
                  "\x80\x02"
                  "cmxnet.optimizer.optimizer\nSGD\n)\x81}b}b.",
                  "my.states");
            }),
            {"a second state"});
}

TEST(BadInputStatesGrowth, the_state_of_an_array_is_small) {
  const std::string bytes = many_states("mxnet.ndarray.ndarray\nNDArray", 20'000, 10'000);
  const auto start = std::chrono::steady_clock::now();
  expect_in(refusal([&] { load_states(bytes, "my.states"); }),
            {"the state of an array has 20000 entries; the limit is 64"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(BadInputStatesGrowth, arrays_nesting_and_digits_have_limits) {
  const std::string states = recorded::bytes("sgd_dump.states");
  EXPECT_NO_THROW(load_states(states));
  {
    const settings::override_for_test lowered("SYMBIND_LIMIT_FILE_ARRAYS", "2");
    expect_in(refusal([&] { load_states(states, "my.states"); }), {"3 arrays; the limit is 2"});
  }
  {
    const settings::override_for_test lowered("SYMBIND_LIMIT_NESTING", "2");
    expect_in(refusal([&] { load_states(states, "my.states"); }), {"nested deeper than 2"});
  }
  expect_in(refusal([] { load_states("L" + std::string(5000, '1') + "L\n."); }),
            {"a number of 5000 digits; the limit is 4300"});
  expect_in(refusal([] { load_states("\x8b\xb8\x0b\x00\x00"s + std::string(3000, '\x11') + "."); }),
            {"a number of 6000 digits"});
}

// ---- Invalid numbers ----------------------------------------------------------------------------

/// Adam with its attributes, one of them replaced.
StateValue adam_with(const char* name, const StateValue& value) {
  StateValue object = optimizer_value(*create_optimizer("adam"));
  object.add(name, value);  // of equal names the last counts
  return object;
}

StateValue counts(const StateValue& value) {
  StateValue of_device = StateValue::dict(), all = StateValue::dict();
  of_device.add(StateValue::of(std::int64_t{0}), value);
  all.add(StateValue::of(std::int64_t{0}), of_device);
  return all;
}

TEST(BadInputStatesNumbers, counts_are_whole_and_within_reach) {
  const std::int64_t most = std::int64_t{1} << 53;
  const double inf = std::numeric_limits<double>::infinity();
  const StateValue bad[] = {
      StateValue::of(std::nan("")), StateValue::of(inf),
      StateValue::of(-inf),         StateValue::of(2.5),
      StateValue::of(1e300),        StateValue::of(std::int64_t{-1}),
      StateValue::of(most + 1),     StateValue::of(std::numeric_limits<std::int64_t>::max()),
      StateValue::of("many"s)};
  for (const StateValue& value : bad) {
    for (const char* name : {"num_update", "begin_num_update"})
      expect_in(refusal([&] { optimizer_from(adam_with(name, value)); }), {name});
    expect_in(
        refusal([&] { optimizer_from(adam_with("_all_index_update_counts", counts(value))); }),
        {"update count"});
  }
  const auto good = optimizer_from(adam_with("num_update", StateValue::of(most)));
  EXPECT_EQ(good->num_update, most);
  const auto counted =
      optimizer_from(adam_with("_all_index_update_counts", counts(StateValue::of(7.0))));
  EXPECT_EQ(counted->count_of(std::int64_t{0}), 7);
}

TEST(BadInputStatesNumbers, rates_and_multipliers_are_finite) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const char* name : {"lr", "wd", "rescale_grad", "beta1", "epsilon"})
      expect_in(refusal([&] { optimizer_from(adam_with(name, StateValue::of(value))); }), {name});
    StateValue mult = StateValue::dict();
    mult.add("w", StateValue::of(value));
    for (const char* name : {"lr_mult", "wd_mult"})
      expect_in(refusal([&] { optimizer_from(adam_with(name, mult)); }), {"multiplier"});
  }
  // Nothing of a refused file is taken: the weights stay numbers.
  Updater updater(create_optimizer("adam"));
  const StateValue pair = StateValue::sequence(
      StateValue::Kind::kTuple,
      {StateValue::dict(), adam_with("num_update", StateValue::of(std::nan("")))});
  expect_in(refusal([&] { updater.set_states(dump_states(pair)); }), {"num_update", "nan"});
  const NDArray weight = NDArray::ones({3});
  updater(std::int64_t{0}, NDArray::ones({3}), weight);
  for (const float w : weight.to_vector<float>()) EXPECT_NEAR(w, 0.999, 1e-4);
}

TEST(BadInputStatesNumbers, schedules_that_would_loop_or_divide_by_zero) {
  const auto scheduled = [](const char* cls, const char* name, std::int64_t value) {
    StateValue scheduler = StateValue::sequence(StateValue::Kind::kObject);
    scheduler.text = "mxnet.lr_scheduler."s + cls;
    scheduler.add(name, StateValue::of(value));
    return adam_with("lr_scheduler", scheduler);
  };
  expect_in(refusal([&] { optimizer_from(scheduled("FactorScheduler", "step", 0)); }), {"step"});
  expect_in(refusal([&] { optimizer_from(scheduled("FactorScheduler", "count", -9)); }), {"count"});
  expect_in(refusal([&] { optimizer_from(scheduled("PolyScheduler", "max_steps", 0)); }),
            {"max_steps", "1 to"});
  FactorScheduler far(1, 0.999999999);
  try {
    far(std::int64_t{1} << 50);
    FAIL();
  } catch (const Error& error) {
    expect_in(error.what(), {"FactorScheduler", "steps of 1"});
  }
}

}  // namespace
}  // namespace symbind
