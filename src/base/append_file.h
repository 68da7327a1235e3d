// A file that grows by whole records: each is written in one piece, and one that could not be is
// taken back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace symbind {

class AppendFile {
 public:
  enum class Open { kContinue, kMustBeNew };
  /// Opens `path`, or makes it; an Error of kind kIo that names it otherwise.
  AppendFile(const std::string& path, Open how);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Appends a record. When it does not fit, the file is as before, and the first time a warning
  /// says so: a log must not end what it tells about.
  void append(std::string_view record);
  /// What is in it now.
  std::string contents() const;
  /// Cuts it off at `size`.
  void truncate(std::uint64_t size);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool warned_ = false;
};

}  // namespace symbind
