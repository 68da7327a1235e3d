#include "net/tcp/value_frames.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace symbind::net {
namespace {

/// Waits until the socket is ready after a call that returned -1; false if it is broken.
bool wait_after_error(int fd, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd one{fd, events, 0};
  return poll(&one, 1, -1) >= 0 || errno == EINTR;
}

}  // namespace

bool write_parts(int fd, std::span<const std::span<const std::byte>> parts) {
  std::array<iovec, 8> all;
  std::size_t count = 0;
  for (const auto& part : parts)
    if (!part.empty()) all.at(count++) = {const_cast<std::byte*>(part.data()), part.size()};
  for (std::size_t first = 0; first < count;) {
    msghdr message{};
    message.msg_iov = &all[first];
    message.msg_iovlen = count - first;
    ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
      if (!wait_after_error(fd, POLLOUT)) return false;
      continue;
    }
    while (first < count && static_cast<std::size_t>(n) >= all[first].iov_len)
      n -= static_cast<ssize_t>(all[first++].iov_len);
    if (first == count) break;
    all[first].iov_base = static_cast<char*>(all[first].iov_base) + n;
    all[first].iov_len -= static_cast<std::size_t>(n);
  }
  return true;
}

bool read_exactly(int fd, void* data, std::size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = recv(fd, at, bytes, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && !wait_after_error(fd, POLLIN))) return false;
    if (n < 0) continue;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace symbind::net
