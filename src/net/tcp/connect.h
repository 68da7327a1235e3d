#pragma once
// Connected sockets between the workers of a job.

#include <functional>
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

/// Connects this worker with all others; every pair proves that it knows the job's token. Returns
/// the sockets by rank, none for this one. `failure` says why the job failed meanwhile, or "".
std::vector<Socket> connect_workers(const Job& job, int rank, const std::vector<Member>& workers,
                                    const Listener& listener,
                                    const std::function<std::string()>& failure);

}  // namespace symbind::net
