// Files: written whole or not at all, read with every bound checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace symbind {

class Sha256;

/// The system calls files are written by. Tests replace them, to make each of them fail.
struct FileCalls {
  int (*open)(const char* path, int flags, unsigned mode);
  std::int64_t (*write)(int file, const void* data, size_t size);
  int (*fsync)(int file);
  int (*close)(int file);
  int (*rename)(const char* from, const char* to);
  int (*unlink)(const char* path);
};
/// Those in use; the system's own unless a test changed them.
FileCalls& file_calls();

/// kValue for a path with a NUL byte: the system would open the file that is named before it. Every
/// function here checks its paths.
void check_path(const std::string& path);

/// What a file was written with.
struct FileDigest {
  std::uint64_t size = 0;
  std::string sha256;
};

/// Takes the bytes of a file that is being written.
class FileWriter {
 public:
  void write(const void* data, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Writes a number as it is in memory (every format here is little endian).
  template <class T>
  void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    write(&value, sizeof(value));
  }

  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

 private:
  friend class AtomicFile;
  FileWriter(int descriptor, const std::string& path, Sha256* hash)
      : descriptor_(descriptor), path_(path), hash_(hash) {}
  void put_out(const std::byte* bytes, size_t size);
  void flush();

  int descriptor_;
  const std::string& path_;
  Sha256* hash_;
  std::uint64_t size_ = 0;
  std::vector<std::byte> buffer_;
};

/// Writes `path` through `fill`: a temporary file in the same folder is filled, synchronised and
/// renamed over it. On any error, ours or thrown by `fill`, the old file is untouched, no temporary
/// file remains, and an Error of kind kIo names the path and the system's reason. Anything but a
/// plain file (a pipe, a device) is written to directly, never replaced. A link stays: its target
/// is written, even if it does not exist yet.
void write_file_atomic(const std::string& path, const std::function<void(FileWriter&)>& fill);
/// The same; returns size and hash of what was written.
FileDigest write_file_digested(const std::string& path,
                               const std::function<void(FileWriter&)>& fill);
/// Renames a file durably (the rename survives a crash); kIo names both paths and the reason.
void rename_file(const std::string& from, const std::string& to);
/// Deletes a file; returns whether it existed. kIo if that fails.
bool remove_file(const std::string& path);

/// The whole file, or an Error of kind kIo; one beyond Limit::kFileBytes is refused.
std::vector<std::byte> read_file(const std::string& path);

/// Reads numbers and bytes from a span. Running past its end is an Error of kind kIo that names the
/// path and the offset; nothing is allocated before the bytes are known to exist.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> data, std::string path)
      : data_(data), path_(std::move(path)) {}

  template <class T>
  T read() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, bytes(sizeof(T)).data(), sizeof(T));
    return value;
  }

  /// The next n bytes; they belong to the span this reads from.
  std::span<const std::byte> bytes(uint64_t n);

  size_t offset() const { return offset_; }
  size_t remaining() const { return data_.size() - offset_; }
  const std::string& path() const { return path_; }

  /// Throws an Error of kind kIo: "<path>: <what> (at byte <offset>)".
  [[noreturn]] void fail(std::string_view what) const;

 private:
  std::span<const std::byte> data_;
  std::string path_;
  size_t offset_ = 0;
};

/// What the first bytes look like, for messages: "a PNG image", "a Python pickle", "text", ...
std::string looks_like(std::span<const std::byte> data);

}  // namespace symbind
