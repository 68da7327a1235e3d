#include <symbind/run.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "base/check.h"
#include "base/files.h"

namespace symbind {

namespace fs = std::filesystem;

RunFolder::RunFolder(const RunOptions& options) : path_(options.folder + "/" + options.name) {
  const std::string& name = options.name;
  const bool plain =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
      std::string::npos;
  check(!name.empty() && plain && name.front() != '.',
        "'{}' cannot be the name of a run: a name has letters, digits, '.', '_' and '-', and does "
        "not begin with '.'",
        name);
  check_path(path_);
}

RunFolder::~RunFolder() {
  if (lock_ >= 0) ::close(lock_);
}

std::optional<CheckpointInfo> RunFolder::newest() const {
  std::error_code ignored;
  if (!fs::is_directory(path_, ignored)) return std::nullopt;
  const std::vector<CheckpointInfo> sets = list_checkpoints(prefix());
  if (sets.empty()) return std::nullopt;
  return sets.back();
}

std::string RunFolder::open(bool restart) {
  lock();
  if (!restart || !has_files()) return {};
  std::error_code error;
  for (int i = 1;; ++i) {
    const std::string aside = fmt::format("{}.{}", path_, i);
    if (fs::exists(aside, error)) continue;
    fs::rename(path_, aside, error);
    check(!error, ErrorKind::kIo, "cannot rename '{}' to '{}': {}", path_, aside, error.message());
    ::close(lock_);  // the lock of the renamed folder
    lock_ = -1;
    lock();
    return aside;
  }
}

bool RunFolder::has_files() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_, ignored))
    if (entry.path().filename() != ".lock") return true;
  return false;
}

void RunFolder::lock() {
  std::error_code error;
  fs::create_directories(path_, error);
  check(!error, ErrorKind::kIo,
        "cannot create the folder '{}': {}\n  fix:  choose another folder for runs", path_,
        error.message());
  const std::string file = path_ + "/.lock";
  lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  check(lock_ >= 0, ErrorKind::kIo, "cannot write '{}': {}", file,
        std::generic_category().message(errno));
  check(::flock(lock_, LOCK_EX | LOCK_NB) == 0, ErrorKind::kState,
        "another process trains in '{}': wait for it, or give this run another name", path_);
}

}  // namespace symbind
