// Sums by direct exchange over links of memory: bits, sizes, order of calls, failures.

#include "net/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "base/check.h"

namespace symbind::net {
namespace {

/// Messages between threads of one process.
class Hub {
 public:
  explicit Hub(int size) : sent(static_cast<std::size_t>(size)) {}

  using Name = std::tuple<int, int, std::uint64_t>;  ///< from, to, tag

  void send(const Name& name, const std::byte* data, std::size_t bytes) {
    sent[static_cast<std::size_t>(std::get<0>(name))] += bytes;
    ++messages;
    Receiving waiting;
    {
      const std::lock_guard lock(guard_);
      const auto it = receiving_.find(name);
      if (it == receiving_.end()) {
        EXPECT_TRUE(arrived_.emplace(name, std::vector<std::byte>(data, data + bytes)).second);
        return;
      }
      waiting = it->second;
      receiving_.erase(it);
    }
    deliver(waiting, data, bytes);
  }
  void receive(const Name& name, std::byte* data, std::size_t bytes, Links::Ended ended) {
    const Receiving waiting{data, bytes, std::move(ended)};
    std::vector<std::byte> message;
    {
      const std::lock_guard lock(guard_);
      const auto it = arrived_.find(name);
      if (it == arrived_.end() && reason_.empty()) {
        EXPECT_TRUE(receiving_.emplace(name, waiting).second);
        return;
      }
      if (it != arrived_.end()) {
        message = std::move(it->second);
        arrived_.erase(it);
      }
    }
    if (reason_.empty())
      deliver(waiting, message.data(), message.size());
    else
      waiting.ended(reason_);
  }
  void cancel(const std::string& reason) {
    std::map<Name, Receiving> all;
    {
      const std::lock_guard lock(guard_);
      if (reason_.empty()) reason_ = reason;
      all.swap(receiving_);
    }
    for (const auto& [name, waiting] : all) waiting.ended(reason);
  }
  int size() const { return static_cast<int>(sent.size()); }
  bool is_empty() {
    const std::lock_guard lock(guard_);
    return arrived_.empty() && receiving_.empty();
  }
  std::vector<std::atomic<std::uint64_t>> sent;  ///< bytes by rank
  std::atomic<int> messages = 0;

 private:
  struct Receiving {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    Links::Ended ended;
  };
  static void deliver(const Receiving& waiting, const std::byte* data, std::size_t bytes) {
    EXPECT_EQ(waiting.bytes, bytes);
    std::copy(data, data + std::min(bytes, waiting.bytes), waiting.data);
    waiting.ended("");
  }

  std::mutex guard_;
  std::map<Name, std::vector<std::byte>> arrived_;
  std::map<Name, Receiving> receiving_;
  std::string reason_;
};

class MemoryLinks final : public Links {
 public:
  MemoryLinks(Hub& hub, int rank) : hub_(hub), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return hub_.size(); }
  void send(int to, std::uint64_t tag, const std::byte* data, std::size_t bytes,
            Ended ended) override {
    EXPECT_NE(to, rank_);
    hub_.send({rank_, to, tag}, data, bytes);
    ended("");
  }
  void receive(int from, std::uint64_t tag, std::byte* data, std::size_t bytes,
               Ended ended) override {
    EXPECT_NE(from, rank_);
    hub_.receive({from, rank_, tag}, data, bytes, std::move(ended));
  }
  void cancel(const std::string& reason) override {
    if (cancels) hub_.cancel(reason);
  }
  std::uint64_t bytes_sent() const override { return hub_.sent[static_cast<std::size_t>(rank_)]; }
  bool cancels = false;  ///< not when a test ends in order: the others still read

 private:
  Hub& hub_;
  int rank_;
};

void add_floats(std::span<const std::byte* const> in, std::byte* out, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
    float sum = 0;
    for (std::size_t k = 0; k < in.size(); ++k) {
      const float value = reinterpret_cast<const float*>(in[k])[i];
      sum = k == 0 ? value : sum + value;
    }
    reinterpret_cast<float*>(out)[i] = sum;
  }
}

Buffer buffer_of(std::vector<float>& values) {
  return {.data = reinterpret_cast<std::byte*>(values.data()),
          .bytes = values.size() * sizeof(float),
          .element = sizeof(float)};
}

/// Values of very different sizes: the order of the additions shows in the bits.
std::vector<float> values_of(int rank, std::size_t n) {
  std::mt19937 engine(static_cast<unsigned>(rank + 17));
  std::vector<float> values(n);
  for (float& v : values)
    v = std::ldexp(static_cast<float>(engine() % 2001) - 1000.f,
                   static_cast<int>(engine() % 40) - 20);
  return values;
}

/// What n workers give, added up in rank order from worker `first` on.
std::vector<float> sum_of(int first, int last, std::size_t n) {
  std::vector<float> sum = values_of(first, n);
  for (int r = first + 1; r < last; ++r) {
    const std::vector<float> more = values_of(r, n);
    for (std::size_t i = 0; i < n; ++i) sum[i] += more[i];
  }
  return sum;
}

/// Runs `work(rank, exchange)` on a thread per worker.
template <class F>
void on_workers(Hub& hub, F&& work, int most_in_one_level = Exchange::kMostInOneLevel) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < hub.size(); ++rank)
    threads.emplace_back([&, rank] {
      Exchange exchange(std::make_shared<MemoryLinks>(hub, rank), most_in_one_level);
      work(rank, exchange);
    });
  for (std::thread& t : threads) t.join();
}

TEST(Exchange, sums_have_the_bits_of_additions_in_rank_order) {
  for (const int workers : {1, 2, 3, 5, 8}) {
    for (const std::size_t n : {0, 1, 2, 7, 1000, 800001}) {
      const std::vector<float> want = sum_of(0, workers, n);
      Hub hub(workers);
      std::vector<std::vector<float>> got(static_cast<std::size_t>(workers));
      on_workers(hub, [&](int rank, Exchange& exchange) {
        auto& mine = got[static_cast<std::size_t>(rank)];
        mine = values_of(rank, n);
        exchange.start_sum(3, buffer_of(mine), add_floats)->wait();
      });
      for (const auto& one : got)
        EXPECT_EQ(one, want) << workers << " workers, " << n << " numbers";
      EXPECT_TRUE(hub.is_empty());
    }
  }
}

TEST(Exchange, a_sum_may_read_from_one_array_and_write_to_two) {
  constexpr std::size_t kNumbers = 500001;
  for (const int workers : {1, 3}) {
    const std::vector<float> want = sum_of(0, workers, kNumbers);
    Hub hub(workers);
    on_workers(hub, [&](int rank, Exchange& exchange) {
      for (const bool in_place : {false, true}) {
        std::vector<float> given = values_of(rank, kNumbers), sum(kNumbers), copy(kNumbers);
        Buffer buffer = buffer_of(sum);
        buffer.from = reinterpret_cast<const std::byte*>(given.data());
        buffer.copy = reinterpret_cast<std::byte*>(in_place ? given.data() : copy.data());
        exchange.start_sum(in_place, buffer, add_floats)->wait();
        EXPECT_EQ(sum, want);
        EXPECT_EQ(in_place ? given : copy, want);
        if (!in_place) {
          EXPECT_EQ(given, values_of(rank, kNumbers));
        }
      }
    });
    EXPECT_TRUE(hub.is_empty());
  }
}

// Each worker sends its shares once and the sum of its own share to all others.
TEST(Exchange, a_sum_sends_every_number_twice) {
  constexpr std::size_t kNumbers = 400000;
  Hub hub(4);
  on_workers(hub, [&](int rank, Exchange& exchange) {
    std::vector<float> values = values_of(rank, kNumbers);
    exchange.start_sum(0, buffer_of(values), add_floats)->wait();
  });
  for (const std::uint64_t bytes : hub.sent) EXPECT_EQ(bytes, 2 * 3 * kNumbers * sizeof(float) / 4);
}

/// The documented order of two levels: about as many groups of consecutive ranks as members, the
/// first groups one larger; groups add up in rank order, then the sums of the groups in order.
std::vector<float> two_level_sum(int workers, std::size_t n) {
  const int groups = static_cast<int>(std::ceil(std::sqrt(workers)));
  std::vector<float> sum;
  for (int group = 0, first = 0; group < groups; ++group) {
    const int members = workers / groups + (group < workers % groups ? 1 : 0);
    const std::vector<float> part = sum_of(first, first + members, n);
    if (group == 0) sum = part;
    for (std::size_t i = 0; group > 0 && i < n; ++i) sum[i] += part[i];
    first += members;
  }
  return sum;
}

TEST(Exchange, many_workers_sum_in_groups_first) {
  for (const int workers : {3, 4, 5, 7, 9, 11, 16, 23}) {
    for (const std::size_t n : {0, 1, 10, 700001}) {
      if (n > 10 && workers > 9) continue;
      const std::vector<float> want = two_level_sum(workers, n);
      Hub hub(workers);
      on_workers(
          hub,
          [&](int rank, Exchange& exchange) {
            std::vector<float> mine = values_of(rank, n), copy(n);
            Buffer buffer = buffer_of(mine);
            buffer.copy = reinterpret_cast<std::byte*>(copy.data());
            exchange.start_sum(3, buffer, add_floats)->wait();
            EXPECT_EQ(mine, want) << workers << " workers, " << n << " numbers";
            EXPECT_EQ(copy, want);
          },
          2);
      EXPECT_TRUE(hub.is_empty());
    }
  }
}

TEST(Exchange, two_levels_begin_above_the_limit) {
  constexpr int kWorkers = 9;
  constexpr std::size_t kNumbers = 1000;
  const std::vector<float> one = sum_of(0, kWorkers, kNumbers);
  const std::vector<float> two = two_level_sum(kWorkers, kNumbers);
  ASSERT_NE(one, two);
  EXPECT_EQ(Exchange::kMostInOneLevel, 64);
  for (const int limit : {kWorkers - 1, kWorkers}) {
    Hub hub(kWorkers);
    on_workers(
        hub,
        [&](int rank, Exchange& exchange) {
          std::vector<float> mine = values_of(rank, kNumbers);
          exchange.start_sum(3, buffer_of(mine), add_floats)->wait();
          EXPECT_EQ(mine, limit == kWorkers ? one : two);
        },
        limit);
    // 9 workers send to 8 others and back; in groups of 3, both levels send to 2 others and back.
    EXPECT_EQ(hub.messages, kWorkers * (limit == kWorkers ? 2 * 8 : 2 * 2 * 2));
  }
}

TEST(Exchange, copies_come_from_the_root) {
  for (const int root : {0, 2}) {
    Hub hub(4);
    std::vector<std::vector<float>> got(4);
    on_workers(hub, [&](int rank, Exchange& exchange) {
      auto& mine = got[static_cast<std::size_t>(rank)];
      mine = values_of(rank, 600001);
      exchange.start_copy(1, buffer_of(mine), root)->wait();
    });
    for (const auto& one : got) EXPECT_EQ(one, values_of(root, 600001));
    EXPECT_TRUE(hub.is_empty());
  }
}

TEST(Exchange, a_gather_has_the_part_of_every_worker) {
  constexpr int kWorkers = 4;
  constexpr std::size_t kPart = 400003;  // more than one piece
  std::vector<float> want;
  for (int r = 0; r < kWorkers; ++r)
    for (const float v : values_of(r, kPart)) want.push_back(v);
  Hub hub(kWorkers);
  std::vector<std::vector<float>> got(kWorkers);
  on_workers(hub, [&](int rank, Exchange& exchange) {
    auto& all = got[static_cast<std::size_t>(rank)];
    all.assign(kPart * kWorkers, -1);
    std::ranges::copy(values_of(rank, kPart), all.begin() + rank * static_cast<long>(kPart));
    exchange.start_gather(9, buffer_of(all))->wait();
  });
  for (const auto& one : got) EXPECT_EQ(one, want);
  EXPECT_TRUE(hub.is_empty());
}

TEST(Exchange, parts_of_a_gather_may_differ_in_size) {
  const std::vector<std::size_t> sizes = {3, 0, 100000, 1};
  std::vector<float> want;
  for (int r = 0; r < 4; ++r)
    for (const float v : values_of(r, sizes[static_cast<std::size_t>(r)])) want.push_back(v);
  Hub hub(4);
  on_workers(hub, [&](int rank, Exchange& exchange) {
    std::vector<float> all(want.size(), -1);
    std::size_t first = 0;
    for (int r = 0; r < rank; ++r) first += sizes[static_cast<std::size_t>(r)];
    std::ranges::copy(values_of(rank, sizes[static_cast<std::size_t>(rank)]),
                      all.begin() + static_cast<long>(first));
    Buffer buffer = buffer_of(all);
    for (const std::size_t size : sizes) buffer.parts.push_back(size * sizeof(float));
    exchange.start_gather(9, buffer)->wait();
    EXPECT_EQ(all, want);
  });
  EXPECT_TRUE(hub.is_empty());
}

TEST(Exchange, work_may_start_in_any_order) {
  constexpr int kWorks = 12;
  Hub hub(3);
  std::vector<std::vector<std::vector<float>>> got(3);
  on_workers(hub, [&](int rank, Exchange& exchange) {
    auto& mine = got[static_cast<std::size_t>(rank)];
    mine.resize(kWorks);
    std::vector<std::shared_ptr<Pending>> pending;
    for (int k = 0; k < kWorks; ++k) {
      const std::size_t which = static_cast<std::size_t>((k * 5 + rank * 7) % kWorks);
      mine[which] = values_of(rank + static_cast<int>(which), 999);
      pending.push_back(exchange.start_sum(which, buffer_of(mine[which]), add_floats));
    }
    for (const auto& one : pending) one->wait();
  });
  for (int k = 0; k < kWorks; ++k) {
    std::vector<float> want = values_of(k, 999);
    for (int r = 1; r < 3; ++r)
      for (std::size_t i = 0; i < want.size(); ++i) want[i] += values_of(k + r, 999)[i];
    for (const auto& one : got) EXPECT_EQ(one[static_cast<std::size_t>(k)], want);
  }
}

TEST(Exchange, a_cancelled_link_ends_the_wait_with_its_reason) {
  Hub hub(2);
  auto links = std::make_shared<MemoryLinks>(hub, 0);
  links->cancels = true;
  Exchange exchange(links);
  std::vector<float> values(10);
  const auto pending = exchange.start_sum(0, buffer_of(values), add_floats);
  std::thread other([&] { links->cancel("worker 1 lost"); });
  try {
    pending->wait();
    ADD_FAILURE() << "the wait ended without an error";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "worker 1 lost");
  }
  other.join();
}

}  // namespace
}  // namespace symbind::net
