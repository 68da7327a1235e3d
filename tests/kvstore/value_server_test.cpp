// A server of dist_async without a network: what it answers, what it refuses, what waits.

#include "kvstore/value_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include <symbind/error.h>

#include "kvstore/wire.h"

namespace symbind {
namespace {

using net::ValueCall;
using testing::HasSubstr;
using Verb = ValueCall::Verb;

/// A call with an array of float32.
ValueCall call_of(Verb verb, const std::vector<float>& values, std::vector<std::int64_t> shape) {
  auto bytes = std::make_shared<std::vector<float>>(values);
  ValueCall call;
  call.verb = verb;
  call.key = "sw";
  call.shape = std::move(shape);
  call.bytes = std::as_bytes(std::span(*bytes));
  call.owner = bytes;
  return call;
}

/// A server whose update adds the gradient; its states are the number of updates.
class AddingServer : public testing::Test {
 protected:
  AddingServer()
      : server_([this](const std::string& name, const std::string& text) {
          made_.push_back(name + ":" + text);
          return ServerUpdate{
              .update =
                  [this](const Key&, const NDArray& gradient, NDArray& value) {
                    ++updates_;
                    value += gradient;
                  },
              .states = [this] { return std::to_string(updates_); },
              .set_states = [this](const std::string& s) { updates_ = std::stoi(s); }};
        }) {}

  net::ValueAnswer ask(const ValueCall& call) {
    return server_.answer(call, [this] { return ending_; });
  }
  void set_optimizer(bool rejoined = false) {
    ValueCall call;
    call.verb = Verb::kSetOptimizer;
    call.key = "name";
    call.text = "text";
    call.rejoined = rejoined;
    ask(call);
  }
  std::vector<float> value() {
    const net::ValueAnswer answer = ask(call_of(Verb::kPull, {}, {}));
    std::vector<float> values(answer.bytes.size() / sizeof(float));
    std::memcpy(values.data(), answer.bytes.data(), answer.bytes.size());
    return values;
  }
  std::string refusal(const ValueCall& call) {
    try {
      ask(call);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }

  std::vector<std::string> made_;
  int updates_ = 0;
  bool ending_ = false;
  ValueServer server_;
};

TEST_F(AddingServer, a_push_changes_the_value_at_once) {
  set_optimizer();
  EXPECT_EQ(made_, std::vector<std::string>{"name:text"});
  ask(call_of(Verb::kInit, {1, 2}, {2}));
  ask(call_of(Verb::kPush, {10, 20}, {2}));
  EXPECT_EQ(value(), (std::vector<float>{11, 22}));
  ask(call_of(Verb::kAssign, {5, 6}, {2}));
  EXPECT_EQ(value(), (std::vector<float>{5, 6}));
}

TEST_F(AddingServer, a_worker_that_joins_again_changes_nothing_by_what_it_sends_first) {
  set_optimizer();
  ask(call_of(Verb::kInit, {1, 2}, {2}));
  ask(call_of(Verb::kPush, {10, 20}, {2}));
  set_optimizer(true);
  EXPECT_EQ(made_.size(), 1u);
  ValueCall again = call_of(Verb::kInit, {1, 2}, {2});
  again.rejoined = true;
  ask(again);
  again = call_of(Verb::kAssign, {7, 7}, {2});
  again.rejoined = true;
  ask(again);
  EXPECT_EQ(value(), (std::vector<float>{11, 22}));
  ValueCall states;
  states.verb = Verb::kSetStates;
  states.text = "70";
  states.rejoined = true;
  ask(states);
  EXPECT_EQ(updates_, 1);
}

TEST_F(AddingServer, refuses_what_does_not_fit) {
  EXPECT_THAT(refusal(call_of(Verb::kPull, {}, {})), HasSubstr("has not been initialised"));
  ask(call_of(Verb::kInit, {1, 2}, {2}));
  EXPECT_THAT(refusal(call_of(Verb::kPush, {1, 2}, {2})), HasSubstr("have no optimizer"));
  set_optimizer();
  EXPECT_THAT(refusal(call_of(Verb::kPush, {1, 2, 3}, {3})), HasSubstr("worker 0 pushes (3,)"));
  EXPECT_THAT(refusal(call_of(Verb::kInit, {1, 2}, {1, 2})), HasSubstr("gives float32 (1, 2)"));
  EXPECT_THAT(refusal(call_of(Verb::kPush, {1, 2}, {4})), HasSubstr("8 bytes for an array of 16"));
  EXPECT_THAT(refusal(call_of(Verb::kPush, {1, 2}, {-2})), HasSubstr("the extent -2"));
  EXPECT_NE(refusal(call_of(Verb::kPush, {1}, {std::int64_t{1} << 40, std::int64_t{1} << 40})),
            "no error");
  ValueCall call = call_of(Verb::kPush, {1, 2}, {2});
  call.dtype = 99;
  EXPECT_NE(refusal(call), "no error");
  call = call_of(Verb::kPush, {1, 2}, {2});
  call.text = "2bit, threshold 0.5";
  EXPECT_THAT(refusal(call), HasSubstr("a compressed push of key w has 8 bytes"));
  call.key = "x";
  EXPECT_THAT(refusal(call), HasSubstr("'x' is not a key"));
  call.key = "i12345678901234567890";
  EXPECT_THAT(refusal(call), HasSubstr("is not a key"));
  EXPECT_EQ(value(), (std::vector<float>{1, 2})) << "an error changes nothing";
}

TEST_F(AddingServer, others_wait_for_the_first_value) {
  std::thread other([this] { ask(call_of(Verb::kExpect, {}, {2})); });
  ask(call_of(Verb::kInit, {1, 2}, {2}));
  other.join();
  EXPECT_THAT(refusal(call_of(Verb::kExpect, {}, {3})), HasSubstr("key w is float32 (2,)"));
  ending_ = true;
  ValueCall absent = call_of(Verb::kExpect, {}, {2});
  absent.key = "sother";
  EXPECT_THAT(refusal(absent), HasSubstr("the server ends"));
}

TEST(Parts, large_arrays_are_divided_evenly) {
  const auto parts = parts_of(Key("w"), 11, 4, 10);
  ASSERT_EQ(parts.size(), 4u);
  std::int64_t next = 0;
  for (int s = 0; s < 4; ++s) {
    EXPECT_EQ(parts[static_cast<std::size_t>(s)].server, s);
    EXPECT_EQ(parts[static_cast<std::size_t>(s)].begin, next);
    next = parts[static_cast<std::size_t>(s)].end;
    EXPECT_EQ(next - parts[static_cast<std::size_t>(s)].begin, s < 3 ? 3 : 2);
  }
  EXPECT_EQ(next, 11);
}

TEST(Parts, small_arrays_are_spread_by_their_keys) {
  std::vector<int> uses(4);
  for (int i = 0; i < 400; ++i) {
    const auto parts = parts_of(Key("layer" + std::to_string(i)), 10, 4, 10);
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_EQ(parts[0].end, 10);
    ++uses[static_cast<std::size_t>(parts[0].server)];
  }
  for (const int n : uses) EXPECT_GT(n, 60);
}

TEST(Keys, travel_as_text) {
  for (const Key& key : {Key("weight"), Key("i7"), Key(std::int64_t{-3}), Key(std::int64_t{7})})
    EXPECT_EQ(key_from_wire(key_to_wire(key)), key);
}

}  // namespace
}  // namespace symbind
