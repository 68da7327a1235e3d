// Decided here: an arena reserves as much address space as the machine has memory (it could never
// back more) and commits it page by page; less if a limit on address space forbids that. New pages
// are huge where possible and are touched at once, so that a step never has a page fault.

#include "device/cpu/cpu_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "base/parallel.h"
#include "base/profiling.h"
#include "device/cpu/host_memory.h"

namespace symbind {
namespace {

constexpr std::size_t kSmallPage = 4096;
constexpr std::size_t kLeastReserve = std::size_t{64} << 20;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

class CpuArena : public Arena {
 public:
  ~CpuArena() override {
    if (counted_ > 0) profiling::memory_changed("cpu/0", -counted_);
    if (mapping_ != nullptr) ::munmap(mapping_, mapping_bytes_);
  }

  void grow_to(std::size_t bytes) override {
    if (bytes <= capacity_) return;
    if (mapping_ == nullptr) reserve(bytes);
    if (bytes > reserved_) fail_host_memory(bytes, "arena");
    const std::size_t target = std::min(round_up(bytes, kHugePage), reserved_);
    const std::size_t more = target - capacity_;
    check_host_memory(more, "arena");
    auto* fresh = static_cast<std::byte*>(base_) + capacity_;
    if (::mprotect(fresh, more, PROT_READ | PROT_WRITE) != 0) fail_host_memory(more, "arena");
    ::madvise(fresh, more, MADV_HUGEPAGE);
    touch(fresh, more);
    capacity_ = target;
    if (profiling::on(profiling::kMemory)) {
      counted_ += static_cast<std::int64_t>(more);
      profiling::memory_changed("cpu/0", static_cast<std::int64_t>(more));
    }
  }

 private:
  void reserve(std::size_t least) {
    const std::size_t most = std::max(host_memory().total, kLeastReserve);
    if (least > most) fail_host_memory(least, "arena");
    for (std::size_t wanted = round_up(most, kHugePage);;
         wanted = round_up(wanted / 2, kHugePage)) {
      // One huge page more than wanted, so that the base can be aligned.
      void* mapping = ::mmap(nullptr, wanted + kHugePage, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (mapping != MAP_FAILED) {
        mapping_ = mapping;
        mapping_bytes_ = wanted + kHugePage;
        reserved_ = wanted;
        base_ =
            reinterpret_cast<void*>(round_up(reinterpret_cast<std::uintptr_t>(mapping), kHugePage));
        return;
      }
      if (wanted / 2 < least) fail_host_memory(least, "arena");
    }
  }

  static void touch(std::byte* fresh, std::size_t bytes) {
    const auto pages = static_cast<std::int64_t>(bytes / kHugePage);
    parallel_for(pages, 1, [=](std::int64_t begin, std::int64_t end) {
      for (std::size_t at = static_cast<std::size_t>(begin) * kHugePage;
           at < static_cast<std::size_t>(end) * kHugePage; at += kSmallPage)
        *static_cast<volatile std::byte*>(fresh + at) = std::byte{0};
    });
  }

  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::size_t reserved_ = 0;
  std::int64_t counted_ = 0;  ///< bytes reported to the profiler
};

}  // namespace

std::unique_ptr<Arena> make_cpu_arena() { return std::make_unique<CpuArena>(); }

}  // namespace symbind
