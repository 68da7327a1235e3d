// Files are written through a table of system calls, which tests replace to make each of them fail;
// they are read directly.
#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/check.h"
#include "base/limits.h"
#include "base/sha256.h"

namespace symbind {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;

[[noreturn]] void fail_io(const char* verb, const std::string& path, int code) {
  fail(ErrorKind::kIo, "cannot {} '{}': {}", verb, path,
       std::error_code(code, std::generic_category()).message());
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) file_calls().close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int close() {
    const int result = file_calls().close(value_);
    value_ = -1;
    return result;
  }

 private:
  int value_;
};

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The target of the last part of a path if it is a link; nothing otherwise.
std::optional<std::string> link_target(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return std::nullopt;
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return std::nullopt;
  target.resize(static_cast<size_t>(size));
  return target.starts_with('/') ? target : folder_of(path) + "/" + target;
}

/// A link stays a link: its target is written, whether it exists or not.
std::string real_target(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux
  std::string target = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::optional<std::string> next = link_target(target);
    if (!next) return target;
    target = std::move(*next);
  }
  fail_io("write", path, ELOOP);
}

/// Removes the temporary file unless it was renamed.
struct Temporary {
  std::string path;
  bool renamed = false;
  ~Temporary() {
    if (!renamed) file_calls().unlink(path.c_str());
  }
};

/// The permissions a plain open() for writing would leave: the old file's, else what umask allows.
mode_t wanted_mode(const std::string& target) {
  struct stat info {};
  if (::stat(target.c_str(), &info) == 0) return info.st_mode & 0777;
  return 0666;
}

}  // namespace

void check_path(const std::string& path) {
  const size_t at = path.find('\0');
  check(at == std::string::npos,
        "a path of {} bytes has a NUL byte at {}, after '{}': no file has such a name", path.size(),
        at, path.substr(0, at));
}

FileCalls& file_calls() {
  static FileCalls calls = {
      [](const char* path, int flags, unsigned mode) { return ::open(path, flags, mode); },
      [](int file, const void* data, size_t size) -> std::int64_t {
        return ::write(file, data, size);
      },
      [](int file) { return ::fsync(file); },
      [](int file) { return ::close(file); },
      [](const char* from, const char* to) { return ::rename(from, to); },
      [](const char* path) { return ::unlink(path); }};
  return calls;
}

void FileWriter::write(const void* data, size_t size) {
  if (size == 0) return;
  const auto* bytes = static_cast<const std::byte*>(data);
  if (buffer_.size() + size <= kBuffer) {
    buffer_.insert(buffer_.end(), bytes, bytes + size);
    return;
  }
  flush();
  if (size < kBuffer)
    buffer_.assign(bytes, bytes + size);
  else
    put_out(bytes, size);
}

void FileWriter::put_out(const std::byte* bytes, size_t size) {
  if (hash_ != nullptr) hash_->add({bytes, size});
  size_ += size;
  while (size > 0) {
    const std::int64_t done = file_calls().write(descriptor_, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_io("write", path_, errno);
    if (done == 0) fail_io("write", path_, EIO);  // nothing was written: the loop would never end
    bytes += done;
    size -= static_cast<size_t>(done);
  }
}

void FileWriter::flush() {
  put_out(buffer_.data(), buffer_.size());
  buffer_.clear();
}

namespace {

/// A rename must survive a crash. Some file systems cannot synchronise a folder: the file is
/// complete in either case.
void keep_names(const std::string& path) {
  Descriptor folder(
      file_calls().open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (folder.get() >= 0) (void)file_calls().fsync(folder.get());
}

}  // namespace

class AtomicFile {
 public:
  AtomicFile(const std::string& path, const std::function<void(FileWriter&)>& fill, Sha256* hash)
      : path_(path), fill_(fill), hash_(hash) {
    check(!path.empty(), ErrorKind::kIo, "cannot write a file: its path is empty");
    check_path(path);
  }

  /// Writes it and returns its size.
  std::uint64_t write() const {
    const std::string target = real_target(path_);
    struct stat info {};
    const bool exists = ::stat(target.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) fail_io("write", path_, EISDIR);
    if (exists && !S_ISREG(info.st_mode)) {  // a pipe or a device is written to, never replaced
      Descriptor direct(file_calls().open(target.c_str(), O_WRONLY | O_CLOEXEC, 0));
      return write_through(direct, false);
    }
    static std::atomic<unsigned> serial{0};
    Temporary temporary{fmt::format("{}.tmp-{}-{}", target, ::getpid(), serial.fetch_add(1)),
                        false};
    Descriptor file(file_calls().open(
        temporary.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, wanted_mode(target)));
    if (file.get() < 0) temporary.renamed = true;  // not ours
    const std::uint64_t size = write_through(file, true);
    if (file_calls().rename(temporary.path.c_str(), target.c_str()) != 0)
      fail_io("write", path_, errno);
    temporary.renamed = true;
    keep_names(target);
    return size;
  }

 private:
  std::uint64_t write_through(Descriptor& file, bool synchronise) const {
    if (file.get() < 0) fail_io("write", path_, errno);
    FileWriter writer(file.get(), path_, hash_);
    fill_(writer);
    writer.flush();
    if (synchronise && file_calls().fsync(file.get()) != 0) fail_io("write", path_, errno);
    if (file.close() != 0) fail_io("write", path_, errno);
    return writer.size_;
  }

  const std::string& path_;
  const std::function<void(FileWriter&)>& fill_;
  Sha256* hash_;
};

void write_file_atomic(const std::string& path, const std::function<void(FileWriter&)>& fill) {
  AtomicFile(path, fill, nullptr).write();
}

FileDigest write_file_digested(const std::string& path,
                               const std::function<void(FileWriter&)>& fill) {
  Sha256 hash;
  FileDigest digest;
  digest.size = AtomicFile(path, fill, &hash).write();
  digest.sha256 = hash.digest();
  return digest;
}

void rename_file(const std::string& from, const std::string& to) {
  check_path(from);
  check_path(to);
  if (file_calls().rename(from.c_str(), to.c_str()) != 0) {
    const int code = errno;
    fail(ErrorKind::kIo, "cannot rename '{}' to '{}': {}", from, to,
         std::error_code(code, std::generic_category()).message());
  }
  keep_names(to);
}

bool remove_file(const std::string& path) {
  check_path(path);
  if (file_calls().unlink(path.c_str()) == 0) return true;
  if (errno != ENOENT) fail_io("remove", path, errno);
  return false;
}

std::vector<std::byte> read_file(const std::string& path) {
  check_path(path);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_io("read", path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail_io("read", path, errno);
  if (S_ISDIR(info.st_mode)) fail_io("read", path, EISDIR);

  const auto check_size = [&](size_t size) {
    check_limit(Limit::kFileBytes, static_cast<std::int64_t>(size), path, ErrorKind::kIo);
  };
  check_size(static_cast<size_t>(std::max<off_t>(info.st_size, 0)));

  // The size is a hint only: pipes say 0, and a file may change while it is read.
  std::vector<std::byte> data(static_cast<size_t>(std::max<off_t>(info.st_size, 0)));
  size_t filled = 0;
  for (;;) {
    if (filled == data.size()) {
      std::byte more;
      const ssize_t got = ::read(file.get(), &more, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_io("read", path, errno);
      if (got == 0) break;
      data.resize(std::max(kBuffer, data.size() * 2));
      data[filled++] = more;
      continue;
    }
    const ssize_t got = ::read(file.get(), data.data() + filled, data.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io("read", path, errno);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
    check_size(filled);
  }
  data.resize(filled);
  return data;
}

std::span<const std::byte> ByteReader::bytes(uint64_t n) {
  if (n > remaining())
    fail(fmt::format("the file ends too early: {} bytes wanted, {} left", n, remaining()));
  auto result = data_.subspan(offset_, n);
  offset_ += n;
  return result;
}

void ByteReader::fail(std::string_view what) const {
  symbind::fail(ErrorKind::kIo, "{}: {} (at byte {})", path_, what, offset_);
}

std::string looks_like(std::span<const std::byte> data) {
  using namespace std::string_view_literals;
  static constexpr std::pair<std::string_view, const char*> kMagic[] = {
      {"\x89PNG\r\n\x1a\n"sv, "a PNG image"},
      {"\xff\xd8\xff"sv, "a JPEG image"},
      {"GIF8"sv, "a GIF image"},
      {"\x1f\x8b"sv, "a gzip file"},
      {"PK\x03\x04"sv, "a zip archive (perhaps .npz or .pth)"},
      {"\x93NUMPY"sv, "a NumPy .npy file"},
      {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file"},
      {"BZh"sv, "a bzip2 file"},
      {"\xfd"
       "7zXZ"sv,
       "an xz file"},
      {"\x28\xb5\x2f\xfd"sv, "a zstd file"},
      {"\x7f"
       "ELF"sv,
       "a program or library (ELF)"},
      {"%PDF"sv, "a PDF document"},
      {"\x0a\x23\xd7\xce"sv, "a RecordIO file"},
      {"version https://git-lfs"sv, "a Git LFS pointer, not the file itself"},
      {"<!DOCTYPE"sv, "an HTML page"},
      {"<html"sv, "an HTML page"},
  };
  if (data.empty()) return "an empty file";
  const std::string_view head(reinterpret_cast<const char*>(data.data()),
                              std::min<size_t>(data.size(), 512));
  for (const auto& [magic, name] : kMagic)
    if (head.starts_with(magic)) return name;
  // Protocols 2 to 5 open with 0x80 and the protocol's number.
  if (head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
    return "a Python pickle";
  // Eight zero bytes and the like are no text; UTF-8 beyond ASCII is.
  const bool text = std::all_of(head.begin(), head.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u >= 0x80 || (u >= 0x20 && u != 0x7f) || u == '\n' || u == '\r' || u == '\t';
  });
  const auto plain = std::count_if(head.begin(), head.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (text && plain * 2 >= static_cast<std::ptrdiff_t>(head.size())) {
    const size_t first = head.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && (head[first] == '{' || head[first] == '['))
      return "JSON text";
    return "text";
  }
  return "binary data of an unknown kind";
}

}  // namespace symbind
