// Questions of workers to servers over real TCP connections.

#include "net/tcp/values.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <symbind/error.h>

#include "net/tcp/sockets.h"
#include "net/tcp/value_frames.h"

namespace symbind::net {
namespace {

using testing::HasSubstr;
using Verb = ValueCall::Verb;

/// A server of a job with two workers, and connections to it.
class TcpValues : public testing::Test {
 protected:
  TcpValues() {
    job_.workers = 2;
    job_.servers = 1;
    job_.token = std::string(64, 'a');
  }
  void serve(ValueHandler handler) {
    service_ = make_value_service(job_, std::move(handler));
    service_->start(0);
  }
  std::unique_ptr<Servers> worker(int rank) {
    return connect_servers(job_, rank,
                           {{.role = Role::kServer,
                             .rank = 0,
                             .host = "here",
                             .pid = 5,
                             .address = service_->address()}});
  }
  static ValueCall call_of(Verb verb, const std::string& key = "") {
    ValueCall call;
    call.verb = verb;
    call.key = key;
    return call;
  }
  /// The error of a question, or "".
  static std::string error_of(const std::shared_ptr<Asked>& asked) {
    try {
      asked->wait();
      asked->text();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  Job job_;
  std::atomic<bool> asked_ = false,
                    release_ = false;  // of handlers, which may outlive a test's body
  std::unique_ptr<ValueService> service_;
};

TEST_F(TcpValues, a_call_arrives_as_it_was_made) {
  const Bytes bytes = bytes_of_size(3000001);
  const auto answer = std::make_shared<Bytes>(bytes_of_size(500003, 7));
  serve([&bytes, answer](const ValueCall& call, const std::function<bool()>&) -> ValueAnswer {
    EXPECT_EQ(call.verb, Verb::kPush);
    EXPECT_EQ(call.worker, 1);
    EXPECT_TRUE(call.rejoined);
    EXPECT_EQ(call.key, "a key");
    EXPECT_EQ(call.text, std::string("a text\0of bytes", 15));
    EXPECT_EQ(call.dtype, 3);
    EXPECT_EQ(call.shape, (std::vector<std::int64_t>{7, -1, std::int64_t{1} << 40}));
    EXPECT_TRUE(std::ranges::equal(call.bytes, bytes));
    return {.text = "thanks", .bytes = *answer, .owner = answer};
  });
  const auto servers = worker(1);
  EXPECT_EQ(servers->count(), 1);
  ValueCall call = call_of(Verb::kPush, "a key");
  call.rejoined = true;
  call.text = std::string("a text\0of bytes", 15);
  call.dtype = 3;
  call.shape = {7, -1, std::int64_t{1} << 40};
  call.bytes = bytes;
  Bytes into(answer->size());
  const auto asked = servers->start(0, call, into);
  asked->wait();
  EXPECT_EQ(asked->text(), "thanks");
  EXPECT_EQ(into, *answer);
}

TEST_F(TcpValues, questions_of_a_worker_are_answered_in_their_order) {
  constexpr int kEach = 500;
  std::atomic<int> wrong = 0;
  std::array<int, 2> next{};  // by worker; each has its own thread of the server
  serve([&](const ValueCall& call, const std::function<bool()>&) -> ValueAnswer {
    if (call.key != std::to_string(next[static_cast<std::size_t>(call.worker)]++)) ++wrong;
    return {.text = call.key + "!", .bytes = {}, .owner = {}};
  });
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      const auto servers = worker(rank);
      std::vector<std::shared_ptr<Asked>> asked;
      for (int i = 0; i < kEach; ++i)
        asked.push_back(servers->start(0, call_of(Verb::kPull, std::to_string(i))));
      for (int i = 0; i < kEach; ++i) {
        asked[static_cast<std::size_t>(i)]->wait();
        EXPECT_EQ(asked[static_cast<std::size_t>(i)]->text(), std::to_string(i) + "!");
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(TcpValues, an_error_reaches_the_worker_with_its_kind_and_the_next_call_works) {
  serve([&](const ValueCall& call, const std::function<bool()>&) -> ValueAnswer {
    if (call.key == "bad") throw Error(ErrorKind::kShape, "it does not fit");
    return {.text = "good", .bytes = {}, .owner = {}};
  });
  const auto servers = worker(0);
  Bytes into(10);
  const auto bad = servers->start(0, call_of(Verb::kPull, "bad"), into);
  const auto good = servers->start(0, call_of(Verb::kPull, "good"));
  bad->wait();
  try {
    bad->text();
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kShape);
    EXPECT_STREQ(e.what(), "it does not fit");
  }
  good->wait();
  EXPECT_EQ(good->text(), "good");
}

TEST_F(TcpValues, an_answer_of_another_size_breaks_the_connection) {
  const auto nine = std::make_shared<Bytes>(bytes_of_size(9));
  serve([nine](const ValueCall&, const std::function<bool()>&) -> ValueAnswer {
    return {.text = "", .bytes = *nine, .owner = nine};
  });
  const auto servers = worker(0);
  Bytes into(10, std::byte{0xee});
  const auto asked = servers->start(0, call_of(Verb::kPull), into);
  EXPECT_THAT(error_of(asked), HasSubstr("server 0 (here, pid 5)"));
  EXPECT_THAT(error_of(asked), HasSubstr("it sends 9 bytes where 10 are expected"));
  EXPECT_EQ(into, Bytes(10, std::byte{0xee}));
  EXPECT_NE(error_of(servers->start(0, call_of(Verb::kPull), into)), "");
}

TEST_F(TcpValues, a_server_that_ends_ends_the_waits) {
  serve([&](const ValueCall&, const std::function<bool()>& ending) -> ValueAnswer {
    asked_ = true;
    while (!ending()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw Error(ErrorKind::kState, "the server ends");
  });
  const auto servers = worker(0);
  const auto under_way = servers->start(0, call_of(Verb::kExpect));
  const auto waiting = servers->start(0, call_of(Verb::kExpect));
  while (!asked_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  service_.reset();
  EXPECT_NE(error_of(under_way), "");
  EXPECT_THAT(error_of(waiting), HasSubstr("lost: it closed the connection"));
  EXPECT_THAT(error_of(servers->start(0, call_of(Verb::kPull))), HasSubstr("lost"));
}

TEST_F(TcpValues, cancellation_ends_the_waits_now_and_later) {
  serve([&](const ValueCall&, const std::function<bool()>&) -> ValueAnswer {
    asked_ = true;
    while (!release_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {};
  });
  const auto servers = worker(0);
  const auto under_way = servers->start(0, call_of(Verb::kExpect));
  const auto waiting = servers->start(0, call_of(Verb::kExpect));
  while (!asked_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  servers->cancel("worker 1 lost");
  EXPECT_EQ(error_of(under_way), "worker 1 lost");
  EXPECT_EQ(error_of(waiting), "worker 1 lost");
  EXPECT_EQ(error_of(servers->start(0, call_of(Verb::kPull))), "worker 1 lost");
  release_ = true;
}

TEST_F(TcpValues, impossible_sizes_close_that_connection_only) {
  serve([&](const ValueCall& call, const std::function<bool()>&) -> ValueAnswer {
    return {.text = call.key, .bytes = {}, .owner = {}};
  });
  const auto servers = worker(0);
  const Member server{
      .role = Role::kServer, .rank = 0, .host = "here", .pid = 5, .address = service_->address()};
  for (const CallHeader& header :
       {CallHeader{.verb = 99}, CallHeader{.extents = 33}, CallHeader{.key = (1 << 16) + 1},
        CallHeader{.text = (std::uint64_t{1} << 47) + 1},
        CallHeader{.bytes = (std::uint64_t{1} << 47) + 1}}) {
    const Socket socket = connect_member(job_, 1, server, number_of_server(0));
    ASSERT_EQ(send(socket.fd(), &header, sizeof header, MSG_NOSIGNAL), 40);
    pollfd one{socket.fd(), POLLIN, 0};
    ASSERT_EQ(poll(&one, 1, 20000), 1) << "the server waits for more";
    std::byte none;
    EXPECT_LE(recv(socket.fd(), &none, 1, 0), 0) << "it is closed";
  }
  const auto asked = servers->start(0, call_of(Verb::kPull, "still here"));
  asked->wait();
  EXPECT_EQ(asked->text(), "still here");
}

}  // namespace
}  // namespace symbind::net
