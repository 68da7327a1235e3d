// Decided here: a worker connects to those of lower rank, then accepts those of higher rank. What
// does not prove within kProofTime that it belongs to the job is closed, and nothing else happens.

#include "net/tcp/connect.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "net/auth/proof.h"

namespace symbind::net {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kProofTime = std::chrono::seconds(5);
constexpr auto kBetweenPolls = std::chrono::milliseconds(50);
constexpr std::size_t kMostStrangers = 256;  // connections that have proved nothing yet

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int rc = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  check(rc == 0, ErrorKind::kIo, "the address '{}' is unknown: {}", host, gai_strerror(rc));
  return {found, &freeaddrinfo};
}

std::string numeric(const sockaddr* address, socklen_t bytes) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  const int rc = getnameinfo(address, bytes, host, sizeof host, port, sizeof port,
                             NI_NUMERICHOST | NI_NUMERICSERV);
  check(rc == 0, ErrorKind::kIo, "an address has no text: {}", gai_strerror(rc));
  return address->sa_family == AF_INET6 ? fmt::format("[{}]:{}", host, port)
                                        : fmt::format("{}:{}", host, port);
}

std::pair<std::string, std::string> host_and_port(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  check(colon != address.npos && colon > 0, "'{}' is not of the form host:port", address);
  std::string host = address.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return {host, address.substr(colon + 1)};
}

/// Waits for a socket; false after the time.
bool ready(int fd, short events, Clock::time_point until) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return false;
    pollfd one{fd, events, 0};
    const int n = poll(&one, 1, static_cast<int>(std::min(left, {kBetweenPolls}).count()));
    if (n > 0) return true;
    interruption_point();
  }
}

bool write_all(int fd, const void* data, std::size_t bytes, Clock::time_point until) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      at += n;
      bytes -= static_cast<std::size_t>(n);
    } else if ((errno != EAGAIN && errno != EINTR) || !ready(fd, POLLOUT, until)) {
      return false;
    }
  }
  return true;
}

bool read_all(int fd, void* data, std::size_t bytes, Clock::time_point until) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = recv(fd, at, bytes, MSG_DONTWAIT);
    if (n == 0) return false;
    if (n > 0) {
      at += n;
      bytes -= static_cast<std::size_t>(n);
    } else if ((errno != EAGAIN && errno != EINTR) || !ready(fd, POLLIN, until)) {
      return false;
    }
  }
  return true;
}

/// Small messages leave at once.
void set_no_delay(const Socket& socket) {
  const int on = 1;
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Socket connect_to(const Member& other, Clock::time_point until) {
  const auto [host, port] = host_and_port(other.address);
  const Addresses found = resolve(host, port, AI_NUMERICSERV);
  std::string why = "no address";
  for (const addrinfo* a = found.get(); a != nullptr; a = a->ai_next) {
    Socket socket(
        ::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol));
    if (!socket) continue;
    int error = connect(socket.fd(), a->ai_addr, a->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      socklen_t bytes = sizeof error;
      if (!ready(socket.fd(), POLLOUT, until))
        error = ETIMEDOUT;
      else
        getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    }
    if (error == 0) {
      set_no_delay(socket);
      return socket;
    }
    why = std::strerror(error);
  }
  fail(ErrorKind::kIo, "cannot connect to {} at {}: {}", other.str(), other.address, why);
}

/// The connecting end: proves itself and checks the other's proof.
Socket introduce(const Job& job, int me, const Member& other, int other_number,
                 Clock::time_point until) {
  Socket socket = connect_to(other, until);
  Proof challenge, answer;
  Hello hello{.nonce = random_nonce(),
              .from = me,
              .to = other_number,
              .generation = job.generation,
              .proof = {}};
  const bool heard = read_all(socket.fd(), challenge.data(), challenge.size(), until);
  if (heard) hello.proof = proof_of(job.token, hello_text(challenge, hello));
  const bool done = heard && write_all(socket.fd(), &hello, sizeof hello, until) &&
                    read_all(socket.fd(), answer.data(), answer.size(), until);
  check(done, ErrorKind::kIo,
        "{} at {} does not answer as a process of this job: it closed the connection or is silent",
        other.str(), other.address);
  check(same_proof(answer, proof_of(job.token, answer_text(challenge, hello))), ErrorKind::kIo,
        "{} at {} does not know the job's token", other.str(), other.address);
  return socket;
}

Clock::time_point deadline(const Job& job) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(job.join_wait));
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

Listener::Listener(const std::string& bind_address) {
  const Addresses found = resolve(bind_address, "0", AI_NUMERICSERV | AI_PASSIVE);
  const addrinfo& a = *found;
  socket_ =
      Socket(::socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a.ai_protocol));
  const bool listens = socket_ && bind(socket_.fd(), a.ai_addr, a.ai_addrlen) == 0 &&
                       listen(socket_.fd(), 1024) == 0;
  check(listens, ErrorKind::kIo, "cannot listen at {} (SYMBIND_DIST_BIND): {}", bind_address,
        std::strerror(errno));
  sockaddr_storage bound{};
  socklen_t bytes = sizeof bound;
  getsockname(socket_.fd(), reinterpret_cast<sockaddr*>(&bound), &bytes);
  address_ = numeric(reinterpret_cast<const sockaddr*>(&bound), bytes);
}

/// An accepted connection that has proved nothing yet.
struct Acceptor::Stranger {
  Socket socket;
  Clock::time_point until;
  Proof challenge{};
  Hello hello{};
  std::size_t read = 0;
};

Acceptor::Acceptor(const Job& job, int me, const Listener& listener,
                   std::function<bool(int from)> wants, std::function<void(int from, Socket)> take)
    : job_(job), me_(me), listener_(listener), wants_(std::move(wants)), take_(std::move(take)) {}
Acceptor::~Acceptor() = default;

void Acceptor::turn() {
  std::vector<pollfd> all{{listener_.fd(), POLLIN, 0}};
  for (const Stranger& s : strangers_) all.push_back({s.socket.fd(), POLLIN, 0});
  poll(all.data(), all.size(), static_cast<int>(kBetweenPolls.count()));
  std::size_t i = 1;
  for (auto s = strangers_.begin(); s != strangers_.end(); ++i) {
    const bool over = Clock::now() > s->until || (all[i].revents != 0 && !hear(*s));
    s = over ? strangers_.erase(s) : std::next(s);
  }
  if (all.front().revents != 0) accept_one();
}

void Acceptor::accept_one() {
  Socket socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return;
  set_no_delay(socket);
  if (strangers_.size() == kMostStrangers) strangers_.pop_front();
  Stranger s{
      .socket = std::move(socket), .until = Clock::now() + kProofTime, .challenge = random_nonce()};
  if (write_all(s.socket.fd(), s.challenge.data(), s.challenge.size(), Clock::now()))
    strangers_.push_back(std::move(s));
}

// Whether more is to come from it.
bool Acceptor::hear(Stranger& s) {
  char* into = reinterpret_cast<char*>(&s.hello) + s.read;
  const ssize_t n = recv(s.socket.fd(), into, sizeof s.hello - s.read, MSG_DONTWAIT);
  if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
  s.read += static_cast<std::size_t>(n);
  if (s.read < sizeof s.hello) return true;
  const Hello& h = s.hello;
  const bool known = h.to == me_ && h.generation == job_.generation && wants_(h.from) &&
                     same_proof(h.proof, proof_of(job_.token, hello_text(s.challenge, h)));
  if (!known) return false;
  const Proof answer = proof_of(job_.token, answer_text(s.challenge, h));
  if (write_all(s.socket.fd(), answer.data(), answer.size(), s.until))
    take_(h.from, std::move(s.socket));
  return false;
}

Socket connect_member(const Job& job, int me, const Member& other, int other_number) {
  return introduce(job, me, other, other_number, deadline(job));
}

std::vector<Socket> connect_workers(const Job& job, int rank, const std::vector<Member>& workers,
                                    const Listener& listener,
                                    const std::function<std::string()>& failure) {
  const auto until = deadline(job);
  std::vector<Socket> sockets(workers.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i)
    sockets[i] = introduce(job, rank, workers[i], workers[i].rank, until);
  const auto place = [&](int from) -> Socket& { return sockets[static_cast<std::size_t>(from)]; };
  Acceptor acceptor(
      job, rank, listener,
      [&](int from) {
        return from > rank && static_cast<std::size_t>(from) < sockets.size() && !place(from);
      },
      [&](int from, Socket socket) { place(from) = std::move(socket); });
  while (true) {
    std::vector<std::string> missing;
    for (std::size_t i = static_cast<std::size_t>(rank) + 1; i < workers.size(); ++i)
      if (!sockets[i]) missing.push_back(workers[i].str());
    if (missing.empty()) break;
    if (const std::string reason = failure(); !reason.empty())
      fail(ErrorKind::kState, "{}", reason);
    check(Clock::now() < until, ErrorKind::kIo,
          "{} did not connect to worker {} at {} within {:g} s", fmt::join(missing, ", "), rank,
          listener.address(), job.join_wait);
    interruption_point();
    acceptor.turn();
  }
  return sockets;
}

}  // namespace symbind::net
