// Decided here: a message is a header (tag, size) and its bytes, written from and read into the
// caller's memory. A message that arrives before its receive was called is kept. One thread reads
// all sockets, and writes what a socket did not accept at once.

#include "net/tcp/links.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/signals.h"

namespace symbind::net {
namespace {

constexpr std::size_t kMostEarly = std::size_t{4} << 30;  // bytes kept per worker
constexpr std::size_t kTurnBytes = std::size_t{8} << 20;  // read from a socket before the next one

struct Header {
  std::uint64_t tag = 0, bytes = 0;
};

class TcpLinks;

/// A message, from the call until its end.
struct Message {
  Header header;
  std::byte* data = nullptr;
  bool over = false;
  std::string error;
};
using MessagePtr = std::shared_ptr<Message>;

struct Peer {
  int rank = 0;
  Socket socket;
  std::mutex guard;
  std::string error;  ///< why the link is broken; empty while it works
  std::uint32_t events = EPOLLIN;
  // Out.
  std::deque<MessagePtr> out;
  std::size_t written = 0;  ///< of the first one, header included
  // In.
  std::unordered_map<std::uint64_t, MessagePtr> expected;
  std::unordered_map<std::uint64_t, std::vector<std::byte>> early;
  std::size_t early_bytes = 0;
  Header header;
  std::size_t read = 0;  ///< of the message that arrives, header included
  MessagePtr target;     ///< where it goes; null: into `unexpected`
  std::vector<std::byte> unexpected;
};

class TcpTransfer final : public Transfer {
 public:
  TcpTransfer(TcpLinks& links, Peer& peer, MessagePtr message)
      : links_(links), peer_(peer), message_(std::move(message)) {}
  ~TcpTransfer() override;
  void wait() override;

 private:
  TcpLinks& links_;
  Peer& peer_;
  MessagePtr message_;
};

class TcpLinks final : public Links {
 public:
  TcpLinks(int rank, std::vector<Socket> sockets);
  ~TcpLinks() override;
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(peers_.size()); }
  std::unique_ptr<Transfer> send(int to, std::uint64_t tag, const std::byte* data,
                                 std::size_t bytes) override;
  std::unique_ptr<Transfer> receive(int from, std::uint64_t tag, std::byte* data,
                                    std::size_t bytes) override;
  void cancel(const std::string& reason) override;
  std::uint64_t bytes_sent() const override { return sent_; }

  void wait(const Message& message);
  /// Takes a message out of the queues, so that nothing uses its memory any more.
  void drop(Peer& peer, const MessagePtr& message);

 private:
  Peer& peer(int rank);
  void finish(Message& message, const std::string& error = "");
  void watch(Peer& peer);
  void loop();
  // All with the peer's mutex held.
  void break_link(Peer& peer, const std::string& why);
  void write_some(Peer& peer);
  void read_some(Peer& peer);
  bool begin_message(Peer& peer);
  void end_message(Peer& peer);

  int rank_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::atomic<std::uint64_t> sent_ = 0;
  std::mutex guard_;  ///< of every Message's result; after a peer's mutex
  std::condition_variable finished_;
  int epoll_ = -1, wake_ = -1;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

TcpTransfer::~TcpTransfer() { links_.drop(peer_, message_); }
void TcpTransfer::wait() { links_.wait(*message_); }

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

void TcpLinks::finish(Message& message, const std::string& error) {
  const std::lock_guard lock(guard_);
  message.over = true;
  message.error = error;
  finished_.notify_all();
}

void TcpLinks::wait(const Message& message) {
  std::unique_lock lock(guard_);
  finished_.wait(lock, [&] { return message.over; });
  check(message.error.empty(), ErrorKind::kState, "{}", message.error);
}

void TcpLinks::drop(Peer& p, const MessagePtr& message) {
  {
    const std::lock_guard lock(guard_);
    if (message->over) return;
  }
  const std::lock_guard lock(p.guard);
  if (!message->over) break_link(p, "a message was given up");
}

std::unique_ptr<Transfer> TcpLinks::send(int to, std::uint64_t tag, const std::byte* data,
                                         std::size_t bytes) {
  Peer& p = peer(to);
  auto message = std::make_shared<Message>();
  message->header = {tag, bytes};
  message->data = const_cast<std::byte*>(data);  // only read from
  const std::lock_guard lock(p.guard);
  if (!p.error.empty()) {
    finish(*message, p.error);
  } else {
    sent_ += bytes;
    p.out.push_back(message);
    if (p.out.size() == 1) write_some(p);
    watch(p);
  }
  return std::make_unique<TcpTransfer>(*this, p, std::move(message));
}

std::unique_ptr<Transfer> TcpLinks::receive(int from, std::uint64_t tag, std::byte* data,
                                            std::size_t bytes) {
  Peer& p = peer(from);
  auto message = std::make_shared<Message>();
  message->header = {tag, bytes};
  message->data = data;
  const std::lock_guard lock(p.guard);
  if (const auto it = p.early.find(tag); it != p.early.end()) {
    const bool fits = it->second.size() == bytes;
    if (fits) {
      std::memcpy(data, it->second.data(), bytes);
      finish(*message);
    } else {
      finish(*message, fmt::format("worker {} sends {} bytes where {} are expected", from,
                                   it->second.size(), bytes));
    }
    p.early_bytes -= it->second.size();
    p.early.erase(it);
  } else if (!p.error.empty()) {
    finish(*message, p.error);
  } else {
    p.expected.emplace(tag, message);
  }
  watch(p);
  return std::make_unique<TcpTransfer>(*this, p, std::move(message));
}

void TcpLinks::cancel(const std::string& reason) {
  for (const auto& p : peers_) {
    if (p->rank == rank_) continue;
    const std::lock_guard lock(p->guard);
    break_link(*p, reason);
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
  for (const MessagePtr& m : p.out) finish(*m, why);
  p.out.clear();
  for (const auto& [tag, m] : p.expected) finish(*m, why);
  p.expected.clear();
  if (p.target) finish(*p.target, why);
  p.target.reset();
}

void TcpLinks::write_some(Peer& p) {
  while (!p.out.empty()) {
    std::array<iovec, 16> parts;
    std::size_t count = 0, skip = p.written;
    for (const MessagePtr& m : p.out) {
      if (count + 2 > parts.size()) break;
      std::size_t from = std::min(skip, sizeof m->header);
      if (from < sizeof m->header)
        parts[count++] = {reinterpret_cast<char*>(&m->header) + from, sizeof m->header - from};
      from = skip - from;
      if (from < m->header.bytes) parts[count++] = {m->data + from, m->header.bytes - from};
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
    while (!p.out.empty() && p.written >= sizeof(Header) + p.out.front()->header.bytes) {
      p.written -= sizeof(Header) + p.out.front()->header.bytes;
      finish(*p.out.front());
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
  p.target = it->second;
  p.expected.erase(it);
  if (p.target->header.bytes == p.header.bytes) return true;
  break_link(p, fmt::format("worker {} sends {} bytes where {} are expected", p.rank,
                            p.header.bytes, p.target->header.bytes));
  return false;
}

void TcpLinks::end_message(Peer& p) {
  p.read = 0;
  if (p.target) {
    finish(*p.target);
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
  const MessagePtr message = it->second;
  p.expected.erase(it);
  if (message->header.bytes != p.header.bytes) {
    const std::string why = fmt::format("worker {} sends {} bytes where {} are expected", p.rank,
                                        p.header.bytes, message->header.bytes);
    finish(*message, why);
    return break_link(p, why);
  }
  std::memcpy(message->data, p.unexpected.data(), p.unexpected.size());
  finish(*message);
}

void TcpLinks::read_some(Peer& p) {
  std::size_t turn = 0;
  while (turn < kTurnBytes && p.error.empty()) {
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
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0)
      return break_link(p, n == 0 ? fmt::format("worker {} closed its link", p.rank)
                                  : fmt::format("the link to worker {} is broken: {}", p.rank,
                                                std::strerror(errno)));
    p.read += static_cast<std::size_t>(n);
    turn += static_cast<std::size_t>(n);
    if (p.read == sizeof p.header && !begin_message(p)) return;
    if (p.read >= sizeof p.header && p.read == sizeof p.header + p.header.bytes) {
      end_message(p);
      if (p.early_bytes > kMostEarly) return;
    }
  }
}

void TcpLinks::loop() {
  std::array<epoll_event, 64> events;
  while (!ending_) {
    const int n = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < n; ++i) {
      if (events[static_cast<std::size_t>(i)].data.ptr == nullptr) continue;
      Peer& p = *static_cast<Peer*>(events[static_cast<std::size_t>(i)].data.ptr);
      const std::lock_guard lock(p.guard);
      try {
        if (!p.error.empty()) continue;
        write_some(p);
        if (p.error.empty()) read_some(p);
        watch(p);
      } catch (const std::exception& e) {  // out of memory
        break_link(p, fmt::format("the link to worker {} is broken: {}", p.rank, e.what()));
      }
    }
  }
}

}  // namespace

std::shared_ptr<Links> make_tcp_links(int rank, std::vector<Socket> sockets) {
  return std::make_shared<TcpLinks>(rank, std::move(sockets));
}

}  // namespace symbind::net
