#include "base/stream_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/files.h"

namespace symbind {
namespace {

constexpr std::size_t kBuffer = 1 << 16;

}  // namespace

StreamFile::StreamFile(const std::string& path) : path_(path), process_(::getpid()) {
  check_path(path);
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  check(descriptor_ >= 0, ErrorKind::kIo, "{}: {}", path, std::strerror(errno));
}

StreamFile::~StreamFile() {
  try {
    close();
  } catch (const Error&) {
    // Callers that need the error call close().
  }
}

bool StreamFile::is_ours() const { return process_ == ::getpid(); }

void StreamFile::write(const void* data, std::size_t size) {
  check(is_open(), ErrorKind::kState, "{}: the writer is closed", path_);
  check(is_ours(), ErrorKind::kState,
        "{}: process {} opened this file, and process {}, forked from it, writes; open another "
        "file there",
        path_, process_, ::getpid());
  if (size == 0) return;
  const auto* bytes = static_cast<const std::byte*>(data);
  size_ += size;
  if (buffer_.size() + size > kBuffer) {
    const std::vector<std::byte> full = std::exchange(buffer_, {});
    put_out(full.data(), full.size());
  }
  if (size < kBuffer)
    buffer_.insert(buffer_.end(), bytes, bytes + size);
  else
    put_out(bytes, size);
}

void StreamFile::put_out(const std::byte* bytes, std::size_t size) {
  while (size > 0) {
    const ::ssize_t done = ::write(descriptor_, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    check(done > 0, ErrorKind::kIo, "{}: {} (at byte {})", path_,
          std::strerror(done < 0 ? errno : EIO), size_ - buffer_.size() - size);
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
}

void StreamFile::close() {
  if (!is_open()) return;
  const int descriptor = descriptor_;
  std::string error;
  try {
    if (is_ours()) put_out(buffer_.data(), buffer_.size());
  } catch (const Error& e) {
    error = e.what();
  }
  descriptor_ = -1;
  if (::close(descriptor) != 0 && error.empty())
    error = fmt::format("{}: {}", path_, std::strerror(errno));
  check(error.empty(), ErrorKind::kIo, "{}", error);
}

}  // namespace symbind
