#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "base/check.h"

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
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int close() {
    const int result = ::close(value_);
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

/// A link keeps being a link: what it points to is replaced.
std::string real_target(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string target = resolved;
  std::free(resolved);
  return target;
}

/// Removes the temporary file unless it was renamed.
struct Temporary {
  std::string path;
  bool renamed = false;
  ~Temporary() {
    if (!renamed) ::unlink(path.c_str());
  }
};

/// The permissions a plain open() for writing would leave: the old file's, else what umask allows.
mode_t wanted_mode(const std::string& target) {
  struct stat info {};
  if (::stat(target.c_str(), &info) == 0) return info.st_mode & 0777;
  return 0666;
}

}  // namespace

void FileWriter::write(const void* data, size_t size) {
  if (size == 0) return;
  const auto* bytes = static_cast<const std::byte*>(data);
  if (buffer_.size() + size <= kBuffer) {
    buffer_.insert(buffer_.end(), bytes, bytes + size);
    return;
  }
  flush();
  if (size < kBuffer) {
    buffer_.assign(bytes, bytes + size);
    return;
  }
  while (size > 0) {
    const ssize_t done = ::write(descriptor_, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_io("write", path_, errno);
    bytes += done;
    size -= static_cast<size_t>(done);
  }
}

void FileWriter::flush() {
  size_t at = 0;
  while (at < buffer_.size()) {
    const ssize_t done = ::write(descriptor_, buffer_.data() + at, buffer_.size() - at);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_io("write", path_, errno);
    at += static_cast<size_t>(done);
  }
  buffer_.clear();
}

void write_file_atomic(const std::string& path, const std::function<void(FileWriter&)>& fill) {
  check(!path.empty(), ErrorKind::kIo, "cannot write a file: its path is empty");
  const std::string target = real_target(path);
  struct stat info {};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) fail_io("write", path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {  // a pipe or a device is written to, never replaced
    Descriptor direct(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (direct.get() < 0) fail_io("write", path, errno);
    FileWriter writer(direct.get(), path);
    fill(writer);
    writer.flush();
    if (direct.close() != 0) fail_io("write", path, errno);
    return;
  }

  static std::atomic<unsigned> serial{0};
  Temporary temporary{fmt::format("{}.tmp-{}-{}", target, ::getpid(), serial.fetch_add(1)), false};
  Descriptor file(
      ::open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, wanted_mode(target)));
  if (file.get() < 0) {
    temporary.renamed = true;  // not ours
    fail_io("write", path, errno);
  }
  FileWriter writer(file.get(), path);
  fill(writer);
  writer.flush();
  if (::fsync(file.get()) != 0) fail_io("write", path, errno);
  if (file.close() != 0) fail_io("write", path, errno);
  if (::rename(temporary.path.c_str(), target.c_str()) != 0) fail_io("write", path, errno);
  temporary.renamed = true;

  // The rename itself must survive a crash. Some file systems cannot synchronise a folder: the
  // file is whole in either case.
  Descriptor folder(::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) (void)::fsync(folder.get());
}

std::vector<std::byte> read_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_io("read", path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail_io("read", path, errno);
  if (S_ISDIR(info.st_mode)) fail_io("read", path, EISDIR);

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
