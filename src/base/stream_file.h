// A file written from its start to its end through a buffer, by one process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace symbind {

/// The buffer belongs to the process that opened the file. A forked child has a copy of it, which
/// it never writes: not when it exits (as it would the buffers of <cstdio>), not when it destroys
/// the object, and a write by the child is an error.
class StreamFile {
 public:
  /// Creates or truncates the file; an Error of kind kIo names it on failure.
  explicit StreamFile(const std::string& path);
  /// Closes. An error while the rest is written is lost; call close() to get it.
  ~StreamFile();
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;

  void write(const void* data, std::size_t size);
  /// Bytes written so far, those in the buffer included.
  std::uint64_t size() const { return size_; }
  /// Writes what is in the buffer and closes.
  void close();
  bool is_open() const { return descriptor_ >= 0; }
  const std::string& path() const { return path_; }

 private:
  bool is_ours() const;
  void put_out(const std::byte* bytes, std::size_t size);

  std::string path_;
  int descriptor_ = -1;
  ::pid_t process_;
  std::uint64_t size_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace symbind
