#pragma once
// Memory of an executor's intermediates: one block that grows in place.
//
// Decided here: growing never moves the block. Prepared kernels and captured GPU graphs hold
// pointers into it, and buckets and reshapes share one arena of the largest.

#include <cstddef>

namespace symbind {

class Arena {
 public:
  virtual ~Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Makes at least `bytes` usable and touches new pages; contents and base() stay. Throws kMemory
  /// and changes nothing if memory runs out.
  virtual void grow_to(std::size_t bytes) = 0;
  /// 2 MiB aligned; the same for the arena's lifetime.
  void* base() const { return base_; }
  std::size_t capacity() const { return capacity_; }

 protected:
  Arena() = default;
  void* base_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace symbind
