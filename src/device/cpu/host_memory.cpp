// Decided here: a request is compared with the available memory first. Linux hands out address
// space it cannot back and kills the process later; this raises an Error at once.

#include "device/cpu/host_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "base/check.h"

namespace symbind {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

/// The number in a file of control group 2; kUnlimited for "max" or no such file.
std::size_t group_number(const char* path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : kUnlimited;
}

/// Cached file pages count as used in a control group, yet the kernel drops them on demand.
std::size_t group_file_cache() {
  std::ifstream file("/sys/fs/cgroup/memory.stat");
  std::string key;
  std::size_t value = 0, cache = 0;
  while (file >> key >> value)
    if (key == "inactive_file" || key == "active_file") cache += value;
  return cache;
}

std::string readable(std::size_t bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1000 && unit < 6; ++unit) value /= 1000;
  return unit == 0 ? fmt::format("{} B", bytes)
                   : fmt::format("{:.3g} {} ({} bytes)", value, kUnits[unit], bytes);
}

}  // namespace

MemoryInfo host_memory() {
  MemoryInfo info;
  std::ifstream file("/proc/meminfo");
  std::string key, rest;
  std::size_t kilobytes = 0;
  while (file >> key >> kilobytes && std::getline(file, rest)) {
    if (key == "MemTotal:") info.total = kilobytes * 1024;
    if (key == "MemAvailable:" || key == "SwapFree:") info.free += kilobytes * 1024;
    if (key == "SwapFree:") break;
  }
  const std::size_t limit = group_number("/sys/fs/cgroup/memory.max");
  const std::size_t used = group_number("/sys/fs/cgroup/memory.current");
  if (limit != kUnlimited && used != kUnlimited) {
    const std::size_t held = used - std::min(used, group_file_cache());
    info.total = std::min(info.total, limit);
    info.free = std::min(info.free, limit - std::min(limit, held));
  }
  return info;
}

void check_host_memory(std::size_t bytes, const char* what) {
  if (bytes > host_memory().free) fail_host_memory(bytes, what);
}

void fail_host_memory(std::size_t bytes, const char* what) {
  fail(ErrorKind::kMemory,
       "{}: not enough host memory\n"
       "  needed {}   free {}\n"
       "  fix:  use a smaller batch or shape, or drop arrays that are no longer used",
       what, readable(bytes), readable(host_memory().free));
}

}  // namespace symbind
