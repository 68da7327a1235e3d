#pragma once
// Array records of one file, read one at a time.

#include <cstdint>
#include <span>
#include <string>

#include <symbind/ndarray.h>

namespace symbind {

/// Counts the dense bytes of a file's sparse arrays.
class SparseBudget {
 public:
  SparseBudget(std::string owner, std::size_t file_bytes)
      : owner_(std::move(owner)), file_bytes_(file_bytes) {}
  /// kIo beyond Limit::kSparseBytes, or beyond a plausible size for the file: 256 MiB or 4096 times
  /// its bytes. Called before anything is allocated.
  void take(std::size_t bytes);

 private:
  std::string owner_;
  std::size_t file_bytes_;
  std::int64_t taken_ = 0;
};

/// from_record for one of several records of a file.
NDArray read_record(std::span<const std::byte> bytes, SparseBudget& sparse);

}  // namespace symbind
