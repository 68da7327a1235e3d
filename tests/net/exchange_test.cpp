// Sums by direct exchange over links of memory: bits, sizes, order of calls, failures.

#include "net/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/check.h"

namespace symbind::net {
namespace {

/// Messages between threads of one process.
class Hub {
 public:
  explicit Hub(int size) : size_(size) {}

  struct Slot {
    std::vector<std::byte> data;
    bool sent = false;
  };
  using Name = std::tuple<int, int, std::uint64_t>;  ///< from, to, tag

  void put(const Name& name, const std::byte* data, std::size_t bytes) {
    const std::lock_guard lock(guard_);
    slots_[name] = {{data, data + bytes}, true};
    changed_.notify_all();
  }
  void take(const Name& name, std::byte* data, std::size_t bytes) {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return slots_[name].sent || !reason_.empty(); });
    check(slots_[name].sent, ErrorKind::kState, "{}", reason_);
    ASSERT_EQ(slots_[name].data.size(), bytes);
    std::copy(slots_[name].data.begin(), slots_[name].data.end(), data);
    slots_.erase(name);
  }
  void cancel(const std::string& reason) {
    const std::lock_guard lock(guard_);
    reason_ = reason;
    changed_.notify_all();
  }
  int size() const { return size_; }
  bool is_empty() {
    const std::lock_guard lock(guard_);
    return slots_.empty();
  }

 private:
  int size_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::map<Name, Slot> slots_;
  std::string reason_;
};

class MemoryLinks final : public Links {
 public:
  MemoryLinks(Hub& hub, int rank) : hub_(hub), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return hub_.size(); }
  std::unique_ptr<Transfer> send(int to, std::uint64_t tag, const std::byte* data,
                                 std::size_t bytes) override {
    hub_.put({rank_, to, tag}, data, bytes);
    return std::make_unique<Done>();
  }
  std::unique_ptr<Transfer> receive(int from, std::uint64_t tag, std::byte* data,
                                    std::size_t bytes) override {
    return std::make_unique<Receiving>(hub_, Hub::Name{from, rank_, tag}, data, bytes);
  }
  void cancel(const std::string& reason) override {
    if (cancels) hub_.cancel(reason);
  }
  std::uint64_t bytes_sent() const override { return 0; }
  bool cancels = false;  ///< not when a test ends in order: the others still read

 private:
  struct Done final : Transfer {
    void wait() override {}
  };
  struct Receiving final : Transfer {
    Receiving(Hub& h, const Hub::Name& n, std::byte* d, std::size_t b)
        : hub(h), name(n), data(d), bytes(b) {}
    void wait() override { hub.take(name, data, bytes); }
    Hub& hub;
    Hub::Name name;
    std::byte* data;
    std::size_t bytes;
  };
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
          .element = sizeof(float),
          .owner = nullptr};
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

/// Runs `work(rank, exchange)` on a thread per worker.
template <class F>
void on_workers(Hub& hub, F&& work) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < hub.size(); ++rank)
    threads.emplace_back([&, rank] {
      Exchange exchange(std::make_shared<MemoryLinks>(hub, rank));
      work(rank, exchange);
    });
  for (std::thread& t : threads) t.join();
}

TEST(Exchange, sums_have_the_bits_of_additions_in_rank_order) {
  for (const int workers : {1, 2, 3, 5, 8}) {
    for (const std::size_t n : {0, 1, 2, 7, 1000, 800001}) {
      std::vector<float> want = values_of(0, n);
      for (int r = 1; r < workers; ++r) {
        const std::vector<float> more = values_of(r, n);
        for (std::size_t i = 0; i < n; ++i) want[i] += more[i];
      }
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
