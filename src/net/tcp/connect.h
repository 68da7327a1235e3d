#pragma once
// Connected sockets between the workers of a job.

#include <functional>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "net/messages.h"

namespace symbind::net {

/// A socket; closes itself.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Listens at an address and a port that the system chooses.
class Listener {
 public:
  Listener() = default;
  explicit Listener(const std::string& bind);
  int fd() const { return socket_.fd(); }
  /// "host:port"
  const std::string& address() const { return address_; }

 private:
  Socket socket_;
  std::string address_;
};

/// Accepts connections that prove to belong to the job. Others are closed.
class Acceptor {
 public:
  /// `me` is what the other end calls this process. `wants` says whether a process may connect;
  /// `take` gets its socket.
  Acceptor(const Job& job, int me, const Listener& listener, std::function<bool(int from)> wants,
           std::function<void(int from, Socket)> take);
  ~Acceptor();
  /// Accepts and reads what is there, waiting at most one poll.
  void turn();

 private:
  struct Stranger;
  void accept_one();
  bool hear(Stranger& stranger);

  const Job& job_;
  int me_;
  const Listener& listener_;
  std::function<bool(int)> wants_;
  std::function<void(int, Socket)> take_;
  std::list<Stranger> strangers_;
};

/// The number of a server in the proofs of connections, where workers have their ranks.
constexpr int number_of_server(int rank) { return -1 - rank; }

/// Connects to a process that accepts; both prove that they know the token. `other_number` is what
/// it calls itself.
Socket connect_member(const Job& job, int me, const Member& other, int other_number);

/// Connects this worker with all others; every pair proves that it knows the job's token. Returns
/// the sockets by rank, none for this one. `failure` says why the job failed meanwhile, or "".
std::vector<Socket> connect_workers(const Job& job, int rank, const std::vector<Member>& workers,
                                    const Listener& listener,
                                    const std::function<std::string()>& failure);

}  // namespace symbind::net
