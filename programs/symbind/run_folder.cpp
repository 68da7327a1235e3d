#include "run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "program.h"

namespace symbind::program {

namespace fs = std::filesystem;

RunFolder::RunFolder(const std::string& runs, const std::string& name) : path_(runs + "/" + name) {
  const bool plain =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
      std::string::npos;
  if (name.empty() || !plain || name.front() == '.')
    throw UsageError(
        fmt::format("--run {}: a name has letters, digits, '.', '_' and '-'; the folder of all "
                    "runs is set with --runs",
                    name));
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

std::optional<Config> RunFolder::saved_config() const {
  std::error_code ignored;
  if (!newest() || !fs::exists(config_path(), ignored)) return std::nullopt;
  return read_config(config_path());
}

void RunFolder::open() {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error)
    fail(ErrorKind::kIo, fmt::format("cannot create the folder '{}': {}; --runs sets another",
                                     path_, error.message()));
  const std::string lock = path_ + "/.lock";
  lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0)
    fail(ErrorKind::kIo,
         fmt::format("cannot write '{}': {}", lock, std::generic_category().message(errno)));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0)
    fail(ErrorKind::kState,
         fmt::format("another process trains in '{}': wait for it, or give this run another name "
                     "with --run",
                     path_));
}

std::string RunFolder::set_aside() {
  std::error_code ignored;
  bool has_files = false;
  for (const auto& entry : fs::directory_iterator(path_, ignored))
    has_files = has_files || entry.path().filename() != ".lock";
  if (!has_files) return {};
  for (int i = 1;; ++i) {
    const std::string aside = fmt::format("{}.{}", path_, i);
    if (fs::exists(aside, ignored)) continue;
    std::error_code error;
    fs::rename(path_, aside, error);
    if (error)
      fail(ErrorKind::kIo,
           fmt::format("cannot rename '{}' to '{}': {}", path_, aside, error.message()));
    ::close(lock_);
    lock_ = -1;
    open();
    return aside;
  }
}

}  // namespace symbind::program
