// Decided here: a message is a header (tag, size) and its bytes, written from and read into the
// caller's memory. A message that arrives before its receive was called is kept. One thread reads
// all sockets, and writes what a socket did not accept at once. It calls `ended` after each
// message, while the bytes are in its cache.

#include "net/tcp/links.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/signals.h"

namespace symbind::net {
namespace {

constexpr std::size_t kMostEarly = std::size_t{4} << 30;  // bytes kept per worker
constexpr std::size_t kTurnBytes = std::size_t{1} << 20;  // read from a socket before the next one
// The most that the system keeps of what it has not sent: an urgent message cannot overtake it.
constexpr int kMostUnsent = 128 << 10;

struct Header {
  std::uint64_t tag = 0, bytes = 0;
};

/// A message, from the call until its end.
struct Message {
  Header header;
  std::byte* data = nullptr;
  Links::Ended ended;
};

struct Peer {
  int rank = 0;
  Socket socket;
  std::mutex guard;
  std::string error;  ///< why the link is broken; empty while it works
  std::uint32_t events = EPOLLIN;
  std::vector<std::pair<Links::Ended, std::string>> over;  ///< to be called without the mutex
  // Out.
  std::deque<Message> out;
  std::size_t written = 0;  ///< of the first one, header included
  // In.
  std::unordered_map<std::uint64_t, Message> expected;
  std::unordered_map<std::uint64_t, std::vector<std::byte>> early;
  std::size_t early_bytes = 0;
  Header header;
  std::size_t read = 0;           ///< of the message that arrives, header included
  std::optional<Message> target;  ///< where it goes; none: into `unexpected`
  std::vector<std::byte> unexpected;

  void finish(Message& message, const std::string& why = "") {
    over.emplace_back(std::move(message.ended), why);
  }
};

/// Not on the loopback interface: there nothing waits to be sent, and sums of large arrays need
/// fewer calls without it.
void limit_unsent(const Socket& socket) {
  sockaddr_storage other{};
  socklen_t bytes = sizeof other;
  if (getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&other), &bytes) != 0) return;
  const auto& four = reinterpret_cast<const sockaddr_in&>(other);
  const auto& six = reinterpret_cast<const sockaddr_in6&>(other);
  const bool loops = other.ss_family == AF_INET ? ntohl(four.sin_addr.s_addr) >> 24 == 127
                                                : IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
  if (!loops)
    setsockopt(socket.fd(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kMostUnsent, sizeof kMostUnsent);
}

std::string wrong_size(const Peer& peer, std::size_t sent, std::size_t expected) {
  return fmt::format("worker {} sends {} bytes where {} are expected", peer.rank, sent, expected);
}

class TcpLinks final : public Links {
 public:
  TcpLinks(int rank, std::vector<Socket> sockets);
  ~TcpLinks() override;
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(peers_.size()); }
  void send(int to, std::uint64_t tag, const std::byte* data, std::size_t bytes,
            Ended ended) override;
  void receive(int from, std::uint64_t tag, std::byte* data, std::size_t bytes,
               Ended ended) override;
  void cancel(const std::string& reason) override;
  std::uint64_t bytes_sent() const override { return sent_; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  Peer& peer(int rank);
  /// Releases the peer's mutex and reports the messages that are over.
  static void settle(Lock& lock, Peer& peer);
  void loop();
  void attend(Peer& peer);
  // All with the peer's mutex held.
  void watch(Peer& peer);
  void break_link(Peer& peer, const std::string& why);
  void write_some(Peer& peer);
  std::size_t read_some(Peer& peer);
  bool begin_message(Peer& peer);
  void end_message(Peer& peer);

  int rank_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::atomic<std::uint64_t> sent_ = 0;
  int epoll_ = -1, wake_ = -1;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

TcpLinks::TcpLinks(int rank, std::vector<Socket> sockets) : rank_(rank) {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  check(epoll_ >= 0 && wake_ >= 0, ErrorKind::kMemory, "the system gives no more descriptors: {}",
        std::strerror(errno));
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    peers_.push_back(std::make_unique<Peer>());
    Peer& p = *peers_.back();
    p.rank = static_cast<int>(i);
    p.socket = std::move(sockets[i]);
    if (!p.socket) continue;
    limit_unsent(p.socket);
    event = {.events = p.events, .data = {.ptr = &p}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, p.socket.fd(), &event);
  }
  const SignalsBlocked within;  // the thread inherits this
  thread_ = std::thread([this] { loop(); });
}

TcpLinks::~TcpLinks() {
  ending_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_, &one, sizeof one);
  thread_.join();
  close(wake_);
  close(epoll_);
}

Peer& TcpLinks::peer(int rank) {
  SYMBIND_ASSERT(rank >= 0 && rank < size() && rank != rank_);
  return *peers_[static_cast<std::size_t>(rank)];
}

void TcpLinks::settle(Lock& lock, Peer& p) {
  const auto over = std::exchange(p.over, {});
  lock.unlock();
  for (const auto& [ended, error] : over) ended(error);
}

void TcpLinks::send(int to, std::uint64_t tag, const std::byte* data, std::size_t bytes,
                    Ended ended) {
  Peer& p = peer(to);
  // The memory is only read from.
  Message message{{tag, bytes}, const_cast<std::byte*>(data), std::move(ended)};
  Lock lock(p.guard);
  if (!p.error.empty()) {
    p.finish(message, p.error);
  } else {
    sent_ += bytes;
    auto place = p.out.end();
    const auto first = p.out.begin() + (p.written > 0 ? 1 : 0);  // not before what is under way
    while (place > first && Links::urgency(std::prev(place)->header.tag) < Links::urgency(tag))
      --place;
    p.out.insert(place, std::move(message));
    if (p.out.size() == 1) write_some(p);
    watch(p);
  }
  settle(lock, p);
}

void TcpLinks::receive(int from, std::uint64_t tag, std::byte* data, std::size_t bytes,
                       Ended ended) {
  Peer& p = peer(from);
  Message message{{tag, bytes}, data, std::move(ended)};
  Lock lock(p.guard);
  if (const auto it = p.early.find(tag); it != p.early.end()) {
    const std::size_t found = it->second.size();
    if (found == bytes) {
      std::copy_n(it->second.data(), bytes, data);  // of 0 bytes, pointers may be null
      p.finish(message);
    } else {
      p.finish(message, wrong_size(p, found, bytes));
    }
    p.early_bytes -= found;
    p.early.erase(it);
  } else if (!p.error.empty()) {
    p.finish(message, p.error);
  } else {
    p.expected.emplace(tag, std::move(message));
  }
  watch(p);
  settle(lock, p);
}

void TcpLinks::cancel(const std::string& reason) {
  for (const auto& p : peers_) {
    if (p->rank == rank_) continue;
    Lock lock(p->guard);
    break_link(*p, reason);
    p->early.clear();
    p->early_bytes = 0;
    settle(lock, *p);
  }
}

// Asks for the events that there is something to do for.
void TcpLinks::watch(Peer& p) {
  if (!p.error.empty()) return;
  std::uint32_t events = p.early_bytes <= kMostEarly ? EPOLLIN : 0u;
  if (!p.out.empty()) events |= EPOLLOUT;
  if (events == p.events) return;
  p.events = events;
  epoll_event event{.events = events, .data = {.ptr = &p}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, p.socket.fd(), &event);
}

void TcpLinks::break_link(Peer& p, const std::string& why) {
  if (!p.error.empty()) return;
  p.error = why;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, p.socket.fd(), nullptr);
  shutdown(p.socket.fd(), SHUT_RDWR);
  for (Message& m : p.out) p.finish(m, why);
  p.out.clear();
  for (auto& [tag, m] : p.expected) p.finish(m, why);
  p.expected.clear();
  if (p.target) p.finish(*p.target, why);
  p.target.reset();
}

void TcpLinks::write_some(Peer& p) {
  while (!p.out.empty()) {
    std::array<iovec, 16> parts;
    std::size_t count = 0, skip = p.written;
    for (Message& m : p.out) {
      if (count + 2 > parts.size()) break;
      std::size_t from = std::min(skip, sizeof m.header);
      if (from < sizeof m.header)
        parts[count++] = {reinterpret_cast<char*>(&m.header) + from, sizeof m.header - from};
      from = skip - from;
      if (from < m.header.bytes) parts[count++] = {m.data + from, m.header.bytes - from};
      skip = 0;
    }
    msghdr all{};
    all.msg_iov = parts.data();
    all.msg_iovlen = count;
    const ssize_t n = sendmsg(p.socket.fd(), &all, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN)
        break_link(
            p, fmt::format("the link to worker {} is broken: {}", p.rank, std::strerror(errno)));
      return;
    }
    p.written += static_cast<std::size_t>(n);
    while (!p.out.empty() && p.written >= sizeof(Header) + p.out.front().header.bytes) {
      p.written -= sizeof(Header) + p.out.front().header.bytes;
      p.finish(p.out.front());
      p.out.pop_front();
    }
  }
}

// The header is there: decides where the bytes go. False if the link is broken.
bool TcpLinks::begin_message(Peer& p) {
  const auto it = p.expected.find(p.header.tag);
  if (it == p.expected.end()) {
    if (p.header.bytes > kMostEarly) {
      break_link(p, fmt::format("worker {} sends a message of {} bytes that nothing waits for",
                                p.rank, p.header.bytes));
      return false;
    }
    p.unexpected.resize(p.header.bytes);
    return true;
  }
  p.target = std::move(it->second);
  p.expected.erase(it);
  if (p.target->header.bytes == p.header.bytes) return true;
  break_link(p, wrong_size(p, p.header.bytes, p.target->header.bytes));
  return false;
}

void TcpLinks::end_message(Peer& p) {
  p.read = 0;
  if (p.target) {
    p.finish(*p.target);
    p.target.reset();
    return;
  }
  const auto it = p.expected.find(p.header.tag);  // it was called for meanwhile
  if (it == p.expected.end()) {
    p.early_bytes += p.unexpected.size();
    p.early.emplace(p.header.tag, std::move(p.unexpected));
    p.unexpected = {};
    return;
  }
  Message message = std::move(it->second);
  p.expected.erase(it);
  if (message.header.bytes != p.header.bytes) {
    const std::string why = wrong_size(p, p.header.bytes, message.header.bytes);
    p.finish(message, why);
    return break_link(p, why);
  }
  std::copy_n(p.unexpected.data(), p.unexpected.size(), message.data);
  p.finish(message);
}

// Reads until a message ends; returns how many bytes were there.
std::size_t TcpLinks::read_some(Peer& p) {
  std::size_t all = 0;
  while (p.error.empty()) {
    std::byte* into;
    std::size_t most;
    if (p.read < sizeof p.header) {
      into = reinterpret_cast<std::byte*>(&p.header) + p.read;
      most = sizeof p.header - p.read;
    } else {
      const std::size_t at = p.read - sizeof p.header;
      into = (p.target ? p.target->data : p.unexpected.data()) + at;
      most = p.header.bytes - at;
    }
    const ssize_t n = recv(p.socket.fd(), into, most, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) {
      break_link(p, n == 0 ? fmt::format("worker {} closed its link", p.rank)
                           : fmt::format("the link to worker {} is broken: {}", p.rank,
                                         std::strerror(errno)));
      break;
    }
    p.read += static_cast<std::size_t>(n);
    all += static_cast<std::size_t>(n);
    if (p.read == sizeof p.header && !begin_message(p)) break;
    if (p.read >= sizeof p.header && p.read == sizeof p.header + p.header.bytes) {
      end_message(p);
      break;
    }
  }
  return all;
}

// Something can be written or read.
void TcpLinks::attend(Peer& p) {
  Lock lock(p.guard);
  std::size_t turn = 0;
  while (p.error.empty()) {
    std::size_t read = 0;
    try {
      write_some(p);
      if (p.early_bytes <= kMostEarly) read = read_some(p);
      watch(p);
    } catch (const std::exception& e) {  // out of memory
      break_link(p, fmt::format("the link to worker {} is broken: {}", p.rank, e.what()));
    }
    turn += read;
    settle(lock, p);
    if (read == 0 || turn >= kTurnBytes) return;
    lock.lock();
  }
}

void TcpLinks::loop() {
  std::array<epoll_event, 64> events;
  while (!ending_) {
    const int n = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < n; ++i)
      if (void* const p = events[static_cast<std::size_t>(i)].data.ptr; p != nullptr)
        attend(*static_cast<Peer*>(p));
  }
}

}  // namespace

std::shared_ptr<Links> make_tcp_links(int rank, std::vector<Socket> sockets) {
  return std::make_shared<TcpLinks>(rank, std::move(sockets));
}

}  // namespace symbind::net
