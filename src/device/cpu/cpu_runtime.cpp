// The host as a device: everything is synchronous in the calling thread.
//
// Decided here: blocks of 4 MiB and more are aligned to huge pages and request them (a first touch
// then costs a fifth); only requests of 64 MiB and more are compared with free memory first,
// because that reads two files.

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "device/cpu/cpu_arena.h"
#include "device/cpu/host_memory.h"
#include "device/runtime.h"

namespace symbind {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLarge = std::size_t{4} << 20;
constexpr std::size_t kWorthChecking = std::size_t{64} << 20;

class CpuRuntime : public DeviceRuntime {
 public:
  void* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    if (bytes >= kWorthChecking) check_host_memory(bytes, "array");
    const std::size_t alignment = bytes >= kLarge ? kHugePage : kAlignment;
    void* data = nullptr;
    if (::posix_memalign(&data, alignment, bytes) != 0) fail_host_memory(bytes, "array");
    if (bytes >= kLarge) ::madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
    return data;
  }

  void release(void* data, std::size_t) noexcept override { std::free(data); }

  void copy(void* dst, const void* src, std::size_t bytes, CopyKind) override {
    if (bytes > 0) std::memmove(dst, src, bytes);
  }

  void zero(void* data, std::size_t bytes) override {
    if (bytes > 0) std::memset(data, 0, bytes);
  }

  void synchronize() override {}
  std::unique_ptr<Arena> make_arena() override { return make_cpu_arena(); }
  MemoryInfo memory() override { return host_memory(); }
  void* stream() override { return nullptr; }
};

}  // namespace

DeviceRuntime& cpu_runtime() {
  // Never destroyed: arrays in static variables may outlive every other static.
  static CpuRuntime& instance = *new CpuRuntime;
  return instance;
}

}  // namespace symbind
