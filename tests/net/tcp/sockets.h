#pragma once
// Connected TCP sockets on the loopback interface, and an end of one that a test reads and writes
// itself.

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "net/tcp/connect.h"

namespace symbind::net {

using Bytes = std::vector<std::byte>;

/// Bytes that tell their place: no two neighbouring pieces are equal.
inline Bytes bytes_of_size(std::size_t n, unsigned start = 1) {
  Bytes all(n);
  for (std::size_t i = 0; i < n; ++i)
    all[i] = static_cast<std::byte>((start + i * 2654435761u) >> 13);
  return all;
}

/// Two ends of one connection.
inline std::pair<Socket, Socket> connected_sockets() {
  const Listener listener("127.0.0.1");
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  Socket one(::socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_EQ(connect(one.fd(), reinterpret_cast<sockaddr*>(&address), size), 0) << strerror(errno);
  Socket other(accept(listener.fd(), nullptr, nullptr));
  EXPECT_TRUE(other);
  return {std::move(one), std::move(other)};
}

/// The test's own end. Its calls wait.
class RawEnd {
 public:
  explicit RawEnd(Socket socket) : socket_(std::move(socket)) {}
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ASSERT_GT(n, 0) << strerror(errno);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  /// Fewer bytes if the other end closes.
  Bytes read(std::size_t bytes) {
    Bytes all(bytes);
    std::size_t got = 0;
    while (got < bytes) {
      const ssize_t n = recv(socket_.fd(), all.data() + got, bytes - got, 0);
      if (n <= 0) break;
      got += static_cast<std::size_t>(n);
    }
    all.resize(got);
    return all;
  }
  void close() { Socket closing = std::move(socket_); }

 private:
  Socket socket_;
};

}  // namespace symbind::net
