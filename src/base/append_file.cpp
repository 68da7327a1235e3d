#include "base/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <symbind/log.h>

#include "base/check.h"
#include "base/files.h"

namespace symbind {

AppendFile::AppendFile(const std::string& path, Open how) : path_(path) {
  check_path(path);
  const int must_be_new = how == Open::kMustBeNew ? O_EXCL : 0;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | must_be_new, 0666);
  check(descriptor_ >= 0, ErrorKind::kIo, "{}: cannot open it for appending: {}", path,
        std::strerror(errno));
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AppendFile::append(std::string_view record) {
  struct stat before = {};
  const bool sized = ::fstat(descriptor_, &before) == 0 && S_ISREG(before.st_mode);
  std::size_t written = 0;
  while (written < record.size()) {
    const ssize_t n = ::write(descriptor_, record.data() + written, record.size() - written);
    if (n >= 0) {
      written += static_cast<std::size_t>(n);
      continue;
    }
    if (errno == EINTR) continue;
    const int why = errno;
    const bool restored = !sized || ::ftruncate(descriptor_, before.st_size) == 0;
    if (!warned_) {
      log_warning(fmt::format("{}: a record of {} bytes could not be written: {}{}", path_,
                              record.size(), std::strerror(why),
                              restored ? "" : "; part of it remains in the file"));
    }
    warned_ = true;
    return;
  }
}

std::string AppendFile::contents() const {
  const std::vector<std::byte> bytes = read_file(path_);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void AppendFile::truncate(std::uint64_t size) {
  check(::ftruncate(descriptor_, static_cast<off_t>(size)) == 0, ErrorKind::kIo,
        "{}: cannot cut off its last, incomplete line: {}", path_, std::strerror(errno));
}

}  // namespace symbind
