// Links over real TCP connections: bytes in pieces, order, wrong sizes, closed ends, cancellation.

#include "net/tcp/links.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/exchange.h"
#include "net/tcp/sockets.h"

namespace symbind::net {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMoreThanFits = 24 << 20;  // into the system's buffers of both ends

/// Ends of messages, in their order.
class Ends {
 public:
  Links::Ended operator()(const std::string& name) {
    return [this, name](const std::string& error) {
      const std::lock_guard lock(guard_);
      EXPECT_TRUE(errors_.emplace(name, error).second) << name << " ended twice";
      order_.push_back(name);
      changed_.notify_all();
    };
  }
  /// The error of a message; waits for its end.
  std::string error_of(const std::string& name) {
    std::unique_lock lock(guard_);
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [&] { return errors_.contains(name); }))
      return "it did not end";
    return errors_[name];
  }
  bool has(const std::string& name) {
    const std::lock_guard lock(guard_);
    return errors_.contains(name);
  }
  std::vector<std::string> order() {
    const std::lock_guard lock(guard_);
    return order_;
  }

 private:
  std::mutex guard_;
  std::condition_variable changed_;
  std::map<std::string, std::string> errors_;
  std::vector<std::string> order_;
};

/// A message as it is on the wire: tag and size, 8 bytes each in the machine's order, then the
/// bytes.
Bytes on_wire(std::uint64_t tag, const Bytes& bytes, std::optional<std::uint64_t> size = {}) {
  const std::uint64_t header[] = {tag, size.value_or(bytes.size())};
  Bytes all(sizeof header + bytes.size());
  std::memcpy(all.data(), header, sizeof header);
  std::ranges::copy(bytes, all.begin() + sizeof header);
  return all;
}

/// Worker 0 of two, whose other end is the test's.
struct OneEnd {
  OneEnd() {
    auto [mine, theirs] = connected_sockets();
    raw.emplace(std::move(theirs));
    std::vector<Socket> sockets(2);
    sockets[1] = std::move(mine);
    links = make_tcp_links(0, std::move(sockets));
  }
  ~OneEnd() { links->cancel("the test ends"); }
  Ends ends;  // outlives the links, whose thread calls it
  std::optional<RawEnd> raw;
  std::shared_ptr<Links> links;
};

/// All workers of a job.
std::vector<std::shared_ptr<Links>> connect_all(int workers) {
  const auto n = static_cast<std::size_t>(workers);
  std::vector<std::vector<Socket>> sockets(n);
  for (auto& one : sockets) one.resize(n);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b)
      std::tie(sockets[a][b], sockets[b][a]) = connected_sockets();
  std::vector<std::shared_ptr<Links>> links;
  for (int rank = 0; rank < workers; ++rank)
    links.push_back(make_tcp_links(rank, std::move(sockets[static_cast<std::size_t>(rank)])));
  return links;
}

TEST(TcpLinks, messages_arrive_where_their_tag_is_expected) {
  const std::size_t sizes[] = {0, 1, 15, 16, 17, 4096, 3000001};
  std::map<std::size_t, Bytes> sent, got;
  Ends ends;
  const auto links = connect_all(2);
  EXPECT_EQ(links[1]->rank(), 1);
  EXPECT_EQ(links[1]->size(), 2);
  std::uint64_t tag = 0, all = 0;
  for (const std::size_t size : sizes) {
    sent[size] = bytes_of_size(size, static_cast<unsigned>(size));
    links[0]->send(1, tag++, sent[size].data(), size, ends("send " + std::to_string(size)));
    all += size;
  }
  for (std::size_t k = std::size(sizes); k-- > 0;) {  // not in their order: most are early
    got[sizes[k]].resize(sizes[k]);
    links[1]->receive(0, k, got[sizes[k]].data(), sizes[k],
                      ends("receive " + std::to_string(sizes[k])));
  }
  for (const std::size_t size : sizes) {
    EXPECT_EQ(ends.error_of("receive " + std::to_string(size)), "");
    EXPECT_EQ(ends.error_of("send " + std::to_string(size)), "");
    EXPECT_EQ(got[size], sent[size]) << size << " bytes";
  }
  EXPECT_EQ(links[0]->bytes_sent(), all);
  EXPECT_EQ(links[1]->bytes_sent(), 0u);
}

TEST(TcpLinks, a_message_may_arrive_byte_by_byte) {
  for (const bool early : {false, true}) {
    OneEnd one;
    const Bytes bytes = bytes_of_size(40);
    Bytes got(40, std::byte{0xee}), second(3);
    if (!early) one.links->receive(1, 7, got.data(), got.size(), one.ends("first"));
    Bytes wire = on_wire(7, bytes);
    const Bytes next = on_wire(8, bytes_of_size(3));
    wire.insert(wire.end(), next.begin(), next.end());
    for (std::size_t i = 0; i < wire.size(); ++i) {
      EXPECT_FALSE(i < 56 && one.ends.has("first")) << "after " << i << " bytes";
      one.raw->write(std::span(wire).subspan(i, 1));
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      if (early && i == 30) one.links->receive(1, 7, got.data(), got.size(), one.ends("first"));
    }
    one.links->receive(1, 8, second.data(), second.size(), one.ends("second"));
    EXPECT_EQ(one.ends.error_of("first"), "");
    EXPECT_EQ(one.ends.error_of("second"), "");
    EXPECT_EQ(got, bytes);
    EXPECT_EQ(second, bytes_of_size(3));
  }
}

TEST(TcpLinks, a_slow_reader_gets_every_byte) {
  OneEnd one;
  std::vector<Bytes> sent;
  Bytes wire;
  for (std::uint64_t k = 0; k < 20; ++k) {
    sent.push_back(
        bytes_of_size(k % 3 == 0 ? 5 : kMoreThanFits / 10 + k, static_cast<unsigned>(k)));
    const Bytes message = on_wire(k, sent.back());
    wire.insert(wire.end(), message.begin(), message.end());
  }
  for (std::uint64_t k = 0; k < 20; ++k)
    one.links->send(1, k, sent[k].data(), sent[k].size(), one.ends(std::to_string(k)));
  EXPECT_FALSE(one.ends.has("19")) << "nothing has read it";
  Bytes read;
  while (read.size() < wire.size()) {
    const Bytes piece = one.raw->read(std::min<std::size_t>(77777, wire.size() - read.size()));
    ASSERT_FALSE(piece.empty());
    read.insert(read.end(), piece.begin(), piece.end());
  }
  EXPECT_EQ(read, wire);
  EXPECT_EQ(one.ends.error_of("19"), "");
  std::vector<std::string> in_order;
  for (int k = 0; k < 20; ++k) in_order.push_back(std::to_string(k));
  EXPECT_EQ(one.ends.order(), in_order);
}

// The system takes bytes up to any place: also within a header.
TEST(TcpLinks, small_messages_may_be_cut_anywhere) {
  constexpr std::uint64_t kMessages = 400000;
  const Bytes bytes = bytes_of_size(31);
  std::atomic<std::uint64_t> sent = 0;
  OneEnd one;
  Bytes wire;
  for (std::uint64_t k = 0; k < kMessages; ++k) {
    const Bytes message = on_wire(k, Bytes(bytes.begin(), bytes.begin() + k % 31));
    wire.insert(wire.end(), message.begin(), message.end());
    one.links->send(1, k, bytes.data(), k % 31, [&](const std::string& error) {
      if (error.empty()) ++sent;
    });
  }
  EXPECT_LT(sent, kMessages) << "nothing has read them";
  EXPECT_TRUE(one.raw->read(wire.size()) == wire);
}

TEST(TcpLinks, urgent_messages_overtake_those_that_wait) {
  OneEnd one;
  const Bytes large = bytes_of_size(kMoreThanFits), small = bytes_of_size(10);
  const auto tag = [](std::uint64_t urgency, std::uint64_t k) {
    return urgency << Links::kUrgencyShift | k;
  };
  one.links->send(1, tag(1, 0), large.data(), large.size(), one.ends("under way"));
  one.links->send(1, tag(1, 1), small.data(), small.size(), one.ends("low"));
  one.links->send(1, tag(2, 2), small.data(), small.size(), one.ends("high"));
  one.links->send(1, tag(2, 3), small.data(), small.size(), one.ends("high, later"));
  one.links->send(1, tag(0, 4), small.data(), small.size(), one.ends("lowest"));
  Bytes wire = on_wire(tag(1, 0), large);
  for (const std::uint64_t t : {tag(2, 2), tag(2, 3), tag(1, 1), tag(0, 4)}) {
    const Bytes message = on_wire(t, small);
    wire.insert(wire.end(), message.begin(), message.end());
  }
  EXPECT_EQ(one.raw->read(wire.size()), wire);
  for (const char* name : {"under way", "low", "high", "high, later", "lowest"})
    EXPECT_EQ(one.ends.error_of(name), "");  // nothing uses the memory any more
}

TEST(TcpLinks, a_wrong_size_breaks_the_link) {
  for (const std::size_t size : {std::size_t{9}, std::size_t{11}, std::size_t{0}}) {
    OneEnd one;
    Bytes got(10, std::byte{0xee});
    one.links->receive(1, 7, got.data(), got.size(), one.ends("wrong"));
    one.links->receive(1, 8, got.data(), got.size(), one.ends("other"));
    one.raw->write(on_wire(7, bytes_of_size(size)));
    const std::string error =
        "worker 1 sends " + std::to_string(size) + " bytes where 10 are expected";
    EXPECT_EQ(one.ends.error_of("wrong"), error);
    EXPECT_EQ(one.ends.error_of("other"), error);
    EXPECT_EQ(got, Bytes(10, std::byte{0xee})) << "nothing is written";
    one.links->send(1, 9, got.data(), got.size(), one.ends("later"));
    EXPECT_EQ(one.ends.error_of("later"), error);
    EXPECT_TRUE(one.raw->read(1).empty()) << "the other end learns it";
  }
}

TEST(TcpLinks, a_wrong_size_of_an_early_message_is_an_error) {
  // Whole before it is called for.
  OneEnd one;
  Bytes got(10), mark(1);
  one.links->receive(1, 1, mark.data(), 1, one.ends("mark"));
  one.raw->write(on_wire(7, bytes_of_size(9)));
  one.raw->write(on_wire(1, bytes_of_size(1)));
  EXPECT_EQ(one.ends.error_of("mark"), "");
  one.links->receive(1, 7, got.data(), got.size(), one.ends("whole"));
  EXPECT_EQ(one.ends.error_of("whole"), "worker 1 sends 9 bytes where 10 are expected");
  // Called for while it arrives.
  OneEnd other;
  Bytes wire = on_wire(7, bytes_of_size(9));
  other.links->receive(1, 1, mark.data(), 1, other.ends("mark"));
  other.raw->write(on_wire(1, bytes_of_size(1)));
  other.raw->write(std::span(wire).first(20));
  EXPECT_EQ(other.ends.error_of("mark"), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the header is read
  other.links->receive(1, 7, got.data(), got.size(), other.ends("part"));
  other.raw->write(std::span(wire).subspan(20));
  EXPECT_EQ(other.ends.error_of("part"), "worker 1 sends 9 bytes where 10 are expected");
}

TEST(TcpLinks, a_size_that_no_message_has_breaks_the_link) {
  for (const std::uint64_t size : {std::uint64_t{5} << 30, ~std::uint64_t{0}}) {
    OneEnd one;
    Bytes got(10);
    one.links->receive(1, 8, got.data(), got.size(), one.ends("other"));
    one.raw->write(on_wire(7, {}, size));
    EXPECT_EQ(one.ends.error_of("other"), "worker 1 sends a message of " + std::to_string(size) +
                                              " bytes that nothing waits for");
  }
}

TEST(TcpLinks, a_peer_that_closes_ends_its_messages_only) {
  auto [mine, theirs] = connected_sockets();
  auto [third, fourth] = connected_sockets();
  std::vector<Socket> sockets(3), of_two(3);
  sockets[1] = std::move(mine);
  sockets[2] = std::move(third);
  of_two[0] = std::move(fourth);
  RawEnd raw(std::move(theirs));
  Ends ends;
  const Bytes large = bytes_of_size(kMoreThanFits);
  Bytes half(100), early(5), never(1), got(4), mark(1);
  const auto links = make_tcp_links(0, std::move(sockets));
  const auto two = make_tcp_links(2, std::move(of_two));
  links->receive(1, 1, half.data(), half.size(), ends("half"));
  links->receive(1, 2, never.data(), never.size(), ends("never"));
  links->send(1, 3, large.data(), large.size(), ends("send"));
  links->receive(1, 4, mark.data(), mark.size(), ends("mark"));
  raw.write(on_wire(9, bytes_of_size(5)));
  raw.write(on_wire(4, bytes_of_size(1)));
  EXPECT_EQ(ends.error_of("mark"), "") << "what came before it is here, too";
  const Bytes wire = on_wire(1, bytes_of_size(100));
  raw.write(std::span(wire).first(60));
  raw.close();
  for (const char* name : {"half", "never", "send"})
    EXPECT_THAT(ends.error_of(name),
                testing::AnyOf("worker 1 closed its link",
                               HasSubstr("the link to worker 1 is broken: Connection reset")));
  links->receive(1, 9, early.data(), early.size(), ends("early"));
  EXPECT_EQ(ends.error_of("early"), "") << "it had arrived";
  EXPECT_EQ(early, bytes_of_size(5));
  links->receive(1, 10, early.data(), early.size(), ends("later"));
  EXPECT_NE(ends.error_of("later"), "");
  const Bytes four = bytes_of_size(4);
  two->receive(0, 1, got.data(), got.size(), ends("receive of 2"));
  links->send(2, 1, four.data(), four.size(), ends("send to 2"));
  EXPECT_EQ(ends.error_of("receive of 2"), "");
  EXPECT_EQ(ends.error_of("send to 2"), "");
  EXPECT_EQ(got, four);
}

TEST(TcpLinks, cancellation_ends_every_message_now_and_later) {
  OneEnd one;
  const Bytes large = bytes_of_size(kMoreThanFits);
  Bytes half(100), never(1), early(5), mark(1);
  one.links->receive(1, 1, half.data(), half.size(), one.ends("half"));
  one.links->receive(1, 2, never.data(), never.size(), one.ends("never"));
  one.links->receive(1, 4, mark.data(), mark.size(), one.ends("mark"));
  one.links->send(1, 3, large.data(), large.size(), one.ends("under way"));
  one.links->send(1, 5, large.data(), large.size(), one.ends("waits"));
  one.raw->write(on_wire(9, bytes_of_size(5)));
  one.raw->write(on_wire(4, bytes_of_size(1)));
  const Bytes wire = on_wire(1, bytes_of_size(100));
  one.raw->write(std::span(wire).first(60));
  EXPECT_EQ(one.ends.error_of("mark"), "");
  one.links->cancel("worker 7 lost");
  const std::vector<std::string> names = {"half", "never", "under way", "waits"};
  for (const std::string& name : names) {
    EXPECT_TRUE(one.ends.has(name)) << "before cancel() returns";
    EXPECT_EQ(one.ends.error_of(name), "worker 7 lost");
  }
  one.links->cancel("another reason");
  one.links->send(1, 6, large.data(), large.size(), one.ends("send"));
  one.links->receive(1, 6, never.data(), never.size(), one.ends("receive"));
  one.links->receive(1, 9, early.data(), early.size(), one.ends("early"));
  for (const char* name : {"send", "receive", "early"})
    EXPECT_EQ(one.ends.error_of(name), "worker 7 lost") << name;
}

TEST(TcpLinks, an_end_may_send_and_receive) {
  constexpr int kTurns = 2000;
  Ends ends;
  std::vector<Bytes> ball(2, Bytes(64));
  // Each end of a message starts the next one, on whichever thread it is.
  std::array<std::function<void(int)>, 2> play;
  const auto links = connect_all(2);
  for (int me = 0; me < 2; ++me)
    play[static_cast<std::size_t>(me)] = [&, me](int turn) {
      Links& mine = *links[static_cast<std::size_t>(me)];
      Bytes& bytes = ball[static_cast<std::size_t>(me)];
      const auto again = [&, me, turn](const std::string& error) {
        EXPECT_EQ(error, "");
        if (error.empty()) play[static_cast<std::size_t>(me)](turn + 1);
      };
      if (turn == kTurns) return ends("end " + std::to_string(me))("");
      const auto tag = static_cast<std::uint64_t>(turn);
      if (turn % 2 == me) {
        bytes[0] = static_cast<std::byte>(turn);
        mine.send(1 - me, tag, bytes.data(), bytes.size(), again);
      } else {
        mine.receive(1 - me, tag, bytes.data(), bytes.size(), again);
      }
    };
  play[1](0);
  play[0](0);
  EXPECT_EQ(ends.error_of("end 0"), "");
  EXPECT_EQ(ends.error_of("end 1"), "");
  EXPECT_EQ(ball[0][0], ball[1][0]);
}

// The sums of Exchange over real connections, several under way and from several threads. Whole
// numbers: every order of additions gives the same.
TEST(TcpLinks, sums_of_four_workers) {
  constexpr int kWorkers = 4, kSums = 6;
  constexpr std::size_t kNumbers = 200001;
  std::vector<std::unique_ptr<Exchange>> exchanges;  // until all have ended: closing one cancels
  for (const auto& links : connect_all(kWorkers))
    exchanges.push_back(std::make_unique<Exchange>(links));
  const auto add = [](std::span<const std::byte* const> in, std::byte* out, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
      float sum = 0;
      for (const std::byte* one : in) sum += reinterpret_cast<const float*>(one)[i];
      reinterpret_cast<float*>(out)[i] = sum;
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kWorkers; ++rank)
    threads.emplace_back([&, rank] {
      Exchange& exchange = *exchanges[static_cast<std::size_t>(rank)];
      std::vector<std::vector<float>> values;
      std::vector<std::shared_ptr<Pending>> sums;
      for (int k = 0; k < kSums; ++k) {
        values.emplace_back(kNumbers);
        for (std::size_t i = 0; i < kNumbers; ++i)
          values.back()[i] = static_cast<float>((i + static_cast<std::size_t>(k)) % 1000) *
                             static_cast<float>(rank + 1);
        sums.push_back(exchange.start_sum(
            static_cast<std::uint64_t>(k) << 20,
            {.data = reinterpret_cast<std::byte*>(values[static_cast<std::size_t>(k)].data()),
             .bytes = kNumbers * sizeof(float),
             .element = sizeof(float)},
            add));
      }
      for (const auto& one : sums) one->wait();
      for (std::size_t k = 0; k < kSums; ++k)
        for (std::size_t i = 0; i < kNumbers; ++i)
          ASSERT_EQ(values[k][i], static_cast<float>((i + k) % 1000) * 10) << k << " " << i;
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace symbind::net
