// Offsets of a kernel's parts in its workspace.
#pragma once

#include <cstddef>

#include <symbind/kernel.h>

namespace symbind {

/// Assigns offsets in a workspace.
class Carver {
 public:
  /// The offset of `bytes` bytes, aligned for vectors.
  std::size_t take(std::size_t bytes) {
    const std::size_t at = total_;
    total_ += (bytes + 63) / 64 * 64;
    return at;
  }
  std::size_t total() const { return total_; }

 private:
  std::size_t total_ = 0;
};

template <class T = void>
T* at(const Args& args, std::size_t offset) {
  return static_cast<T*>(static_cast<void*>(static_cast<char*>(args.workspace) + offset));
}

}  // namespace symbind
