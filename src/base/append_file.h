// A file that grows by whole records: each is written in one piece, and a partial write is undone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace symbind {

class AppendFile {
 public:
  enum class Open { kContinue, kMustBeNew };
  /// Opens or creates `path`; an Error of kind kIo names it on failure.
  AppendFile(const std::string& path, Open how);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Appends a record. If the write fails, the file is unchanged and the first failure logs a
  /// warning: a log must not stop the program it describes.
  void append(std::string_view record);
  /// Its current contents.
  std::string contents() const;
  /// Truncates it to `size`.
  void truncate(std::uint64_t size);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool warned_ = false;
};

}  // namespace symbind
