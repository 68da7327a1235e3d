#pragma once
// A cache of freed blocks of device memory.
//
// Decided here: allocating from the driver halts the device, and imperative calls allocate every
// result. All work of a device runs in one stream, so a block may be reused while work on it is in
// flight.

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace symbind {

class MemoryCache {
 public:
  /// The block size for a request, rounded up so that similar sizes share blocks.
  static std::size_t block_bytes(std::size_t bytes) {
    const std::size_t unit = bytes <= kSmall ? 512 : std::size_t{2} << 20;
    return (bytes + unit - 1) / unit * unit;
  }

  /// A block of exactly `block_bytes`, or null.
  void* take(std::size_t block_bytes) {
    const std::lock_guard lock(guard_);
    const auto it = blocks_.find(block_bytes);
    if (it == blocks_.end() || it->second.empty()) return nullptr;
    void* block = it->second.back();
    it->second.pop_back();
    held_ -= block_bytes;
    return block;
  }
  /// False if the cache is full; the caller then keeps the block.
  bool keep(void* block, std::size_t block_bytes) {
    const std::lock_guard lock(guard_);
    if (held_ + block_bytes > kMost) return false;
    blocks_[block_bytes].push_back(block);
    held_ += block_bytes;
    return true;
  }
  /// Removes and returns all blocks, to be freed by the driver.
  std::vector<void*> drain() {
    const std::lock_guard lock(guard_);
    std::vector<void*> all;
    for (auto& [bytes, blocks] : blocks_) all.insert(all.end(), blocks.begin(), blocks.end());
    blocks_.clear();
    held_ = 0;
    return all;
  }
  std::size_t held() const {
    const std::lock_guard lock(guard_);
    return held_;
  }

 private:
  static constexpr std::size_t kSmall = std::size_t{1} << 20;
  static constexpr std::size_t kMost = std::size_t{512} << 20;

  mutable std::mutex guard_;
  std::map<std::size_t, std::vector<void*>> blocks_;
  std::size_t held_ = 0;
};

}  // namespace symbind
