#pragma once
// Calls and answers as bytes. All processes of a job have the same byte order.

#include <cstddef>
#include <cstdint>
#include <span>

namespace symbind::net {

// The header is followed by the extents of the shape, the key, the text and the bytes.
struct CallHeader {
  std::uint32_t verb = 0, rejoined = 0;
  std::int32_t dtype = 0;
  std::uint32_t extents = 0;
  std::uint64_t key = 0, text = 0, bytes = 0;  ///< sizes
};
// Followed by the text, or the message of the error, and the bytes.
struct AnswerHeader {
  std::int32_t error_kind = -1;  ///< of an ErrorKind; -1: none
  std::uint32_t unused = 0;
  std::uint64_t text = 0, bytes = 0;  ///< sizes
};

/// Both wait until all is done; false if the connection is closed.
bool write_parts(int fd, std::span<const std::span<const std::byte>> parts);
bool read_exactly(int fd, void* data, std::size_t bytes);

template <class T>
std::span<const std::byte> as_part(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace symbind::net
