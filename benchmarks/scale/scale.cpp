// Predicts how long a sum over many workers takes: the library's own Exchange, over links that
// SimGrid simulates.
//
// Decided here: Exchange is driven by messages that end, so it runs unchanged on simulated time;
// only bytes are sent, no memory is touched. Hosts have one link each to a switch without limit. A
// pair of workers has one connection: its messages follow each other, and those of different pairs
// share the links as TCP does. Each worker has one thread; it needs time per byte and per message.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <simgrid/s4u.hpp>

#include "net/exchange.h"

namespace s4u = simgrid::s4u;
using symbind::net::Exchange;
using symbind::net::Links;

namespace {

struct Options {
  std::vector<int> workers = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  double megabytes = 26;
  double gbits = 25;
  double efficiency = 0.95;  ///< of the link's speed that a TCP connection reaches (wire.py)
  double latency_us = 20;    ///< from host to host
  double copy_ns = 0.16;     ///< per byte sent or received; these three are from sums on loopback
  double add_ns = 0.07;      ///< per byte that is added
  double message_us = 2;     ///< per message sent or received
  bool ring = true;
};

/// The workers of one simulated job.
class Network {
 public:
  Network(const Options& options, int workers) : options_(options) {
    s4u::NetZone* zone = s4u::create_star_zone("switch");
    const double rate = options.gbits * 1e9 / 8 * options.efficiency;
    for (int rank = 0; rank < workers; ++rank) {
      const std::string name = std::to_string(rank);
      hosts_.push_back(zone->create_host("worker" + name, 1e9));
      const s4u::Link* up =
          zone->create_link("up" + name, rate)->set_latency(options.latency_us * 0.5e-6)->seal();
      const s4u::Link* down =
          zone->create_link("down" + name, rate)->set_latency(options.latency_us * 0.5e-6)->seal();
      zone->add_route(hosts_.back()->get_netpoint(), nullptr, nullptr, nullptr,
                      {s4u::LinkInRoute(up)}, false);
      zone->add_route(nullptr, hosts_.back()->get_netpoint(), nullptr, nullptr,
                      {s4u::LinkInRoute(down)}, false);
    }
    zone->seal();
    inboxes_.resize(hosts_.size());
    for (Inbox& inbox : inboxes_) inbox.filled = s4u::Semaphore::create(0);
  }

  struct Arrival {
    int from;
    std::uint64_t tag;
    std::size_t bytes;
  };

  int size() const { return static_cast<int>(hosts_.size()); }
  s4u::Host* host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }
  const Options& options() const { return options_; }

  /// Messages of a pair travel one after the other.
  void send(int from, int to, std::uint64_t tag, std::size_t bytes) {
    auto& queue = pairs_[{from, to}];
    queue.push_back({from, tag, bytes});
    if (queue.size() > 1) return;
    s4u::Actor::create("connection", host(from), [this, from, to, &queue] {
      s4u::Mailbox* const box =
          s4u::Mailbox::by_name(std::to_string(from) + "-" + std::to_string(to));
      box->set_receiver(inbox(to).owner);  // a message travels before it is asked for
      while (!queue.empty()) {
        box->put(this, queue.front().bytes + kHeader);
        inbox(to).arrivals.push_back(queue.front());
        inbox(to).filled->release();
        queue.pop_front();
      }
    });
  }

  struct Inbox {
    s4u::ActorPtr owner;
    std::deque<Arrival> arrivals;
    s4u::SemaphorePtr filled;
  };
  Inbox& inbox(int rank) { return inboxes_[static_cast<std::size_t>(rank)]; }

  Arrival next(int rank) {
    inbox(rank).filled->acquire();
    const Arrival arrival = inbox(rank).arrivals.front();
    inbox(rank).arrivals.pop_front();
    return arrival;
  }

 private:
  static constexpr std::size_t kHeader = 16;

  Options options_;
  std::vector<s4u::Host*> hosts_;
  std::vector<Inbox> inboxes_;
  std::map<std::pair<int, int>, std::deque<Arrival>> pairs_;
};

/// A worker's links; everything runs in its actor.
class SimulatedLinks final : public Links {
 public:
  SimulatedLinks(Network& network, int rank) : network_(network), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return network_.size(); }
  void send(int to, std::uint64_t tag, const std::byte*, std::size_t bytes, Ended ended) override {
    work(bytes);
    sent_ += bytes;
    network_.send(rank_, to, tag, bytes);
    ended("");
  }
  void receive(int from, std::uint64_t tag, std::byte*, std::size_t, Ended ended) override {
    expected_[{from, tag}] = std::move(ended);
    deliver();
  }
  void cancel(const std::string&) override {}
  std::uint64_t bytes_sent() const override { return sent_; }

  /// Handles messages until none is expected.
  void run() {
    while (!expected_.empty()) {
      const Network::Arrival arrival = network_.next(rank_);
      work(arrival.bytes);
      arrived_.push_back({arrival.from, arrival.tag});
      deliver();
    }
  }

 private:
  using Name = std::pair<int, std::uint64_t>;
  void work(std::size_t bytes) const {
    const Options& o = network_.options();
    s4u::this_actor::sleep_for(o.message_us * 1e-6 + o.copy_ns * 1e-9 * static_cast<double>(bytes));
  }
  void deliver() {
    for (std::size_t i = 0; i < arrived_.size();) {
      const auto it = expected_.find(arrived_[i]);
      if (it == expected_.end()) {
        ++i;
        continue;
      }
      const Ended ended = std::move(it->second);
      expected_.erase(it);
      arrived_.erase(arrived_.begin() + static_cast<std::ptrdiff_t>(i));
      ended("");
      i = 0;
    }
  }

  Network& network_;
  int rank_;
  std::uint64_t sent_ = 0;
  std::map<Name, Ended> expected_;
  std::vector<Name> arrived_;  ///< before they were expected
};

void sum(Network& network, int rank) {
  const auto links = std::make_shared<SimulatedLinks>(network, rank);
  Exchange exchange(links);
  // Nothing reads or writes it.
  const symbind::net::Buffer buffer{
      .data = nullptr,
      .bytes = static_cast<std::size_t>(network.options().megabytes * 1e6 / 4) * 4,
      .element = 4};
  const double per_byte = network.options().add_ns * 1e-9;
  const auto done = exchange.start_sum(
      0, buffer, [per_byte](std::span<const std::byte* const> in, std::byte*, std::size_t bytes) {
        s4u::this_actor::sleep_for(per_byte * static_cast<double>(bytes * in.size()));
      });
  links->run();
  done->wait();
}

/// A ring in 2 (n - 1) equal steps; only `steps` of them are simulated.
void ring(Network& network, int rank, int steps) {
  const int n = network.size();
  const auto links = std::make_shared<SimulatedLinks>(network, rank);
  const std::size_t chunk = static_cast<std::size_t>(network.options().megabytes * 1e6 / n);
  for (int step = 0; step < steps; ++step) {
    const auto tag = static_cast<std::uint64_t>(step);
    links->send((rank + 1) % n, tag, nullptr, chunk, [](const std::string&) {});
    links->receive((rank + n - 1) % n, tag, nullptr, chunk, [](const std::string&) {});
    links->run();
    if (2 * step < steps)
      s4u::this_actor::sleep_for(network.options().add_ns * 2e-9 * static_cast<double>(chunk));
  }
}

/// Simulated seconds of `work` on all workers, in a child process: SimGrid simulates once per
/// process.
template <class F>
double simulate(const char* program, const Options& options, int workers, F&& work) {
  std::fflush(stdout);
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  if (const pid_t child = fork(); child != 0) {
    double seconds = 0;
    close(ends[1]);
    const bool complete = read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    if (complete) return seconds;
    std::fprintf(stderr, "the simulation of %d workers failed\n", workers);
    std::exit(1);
  }
  int count = 2;
  std::string name = program, quiet = "--log=xbt_cfg.thres:warning";
  char* arguments[] = {name.data(), quiet.data(), nullptr};
  s4u::Engine engine(&count, arguments);
  for (const char* setting : {"network/model:CM02", "network/crosstraffic:0",
                              "contexts/stack-size:32", "contexts/guard-size:0"})
    s4u::Engine::set_config(setting);
  Network network(options, workers);
  double last = 0;
  for (int rank = 0; rank < workers; ++rank)
    network.inbox(rank).owner =
        s4u::Actor::create("worker", network.host(rank), [&network, &last, &work, rank] {
          work(network, rank);
          last = std::max(last, s4u::Engine::get_clock());
        });
  engine.run();
  const bool written = write(ends[1], &last, sizeof last) == sizeof last;
  _exit(written ? 0 : 1);
}

constexpr const char* kHelp =
    R"(Simulated time of a sum over many workers: direct exchange, and a ring for comparison.

    bench_scale [--workers 16,1024] [--megabytes 26] [--gbits 25] [--efficiency 0.95] [--latency-us 20]
                [--copy-ns 0.16] [--add-ns 0.07] [--message-us 2] [--no-ring]

Above 64 workers the exchange has two levels; 1,024 workers need 4 GB of memory. --efficiency is the part of the wire's speed that plain TCP
reaches (benchmarks/dist/wire.py prints it). --copy-ns, --add-ns and --message-us are what one thread of a
worker needs per byte sent or received, per byte added, and per message; 0 leaves only the network.
)";

double number(const char* text, const char* flag) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || value < 0) {
    std::fprintf(stderr, "%s '%s' is not a number of at least 0\n", flag, text);
    std::exit(2);
  }
  return value;
}

Options read_options(int argc, char** argv) {
  Options o;
  const std::map<std::string, double*> numbers = {
      {"--megabytes", &o.megabytes},   {"--gbits", &o.gbits},     {"--efficiency", &o.efficiency},
      {"--latency-us", &o.latency_us}, {"--copy-ns", &o.copy_ns}, {"--add-ns", &o.add_ns},
      {"--message-us", &o.message_us}};
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--no-ring") {
      o.ring = false;
    } else if (flag == "--workers") {
      o.workers.clear();
      std::stringstream list(argv[++i] == nullptr ? "" : argv[i]);
      for (std::string one; std::getline(list, one, ',');)
        o.workers.push_back(static_cast<int>(number(one.c_str(), "--workers")));
    } else if (const auto it = numbers.find(flag); it != numbers.end()) {
      *it->second = number(value, flag.c_str());
      ++i;
    } else {
      std::fputs(kHelp, flag == "--help" ? stdout : stderr);
      std::exit(flag == "--help" ? 0 : 2);
    }
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  std::printf("%g MB, %g Gbit/s\nworkers  levels    sum, ms  of wire speed", options.megabytes,
              options.gbits);
  std::printf(options.ring ? "   ring, ms\n" : "\n");
  for (const int n : options.workers) {
    const double wire =
        2.0 * (n - 1) / n * options.megabytes * 1e6 / (options.gbits * 1e9 / 8) * 1e3;
    const double milliseconds = 1e3 * simulate(argv[0], options, n, sum);
    std::printf("%7d  %6d  %9.2f  %13.3f", n, n > Exchange::kMostInOneLevel ? 2 : 1, milliseconds,
                wire / milliseconds);
    if (options.ring) {
      constexpr int kMostSteps = 40;
      const int all = 2 * (n - 1), steps = std::min(all, kMostSteps);
      const double part = simulate(
          argv[0], options, n, [steps](Network& network, int rank) { ring(network, rank, steps); });
      std::printf("  %9.2f", 1e3 * part * all / steps);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}
