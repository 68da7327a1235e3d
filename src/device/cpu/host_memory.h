#pragma once
// How much host memory this process can still allocate.

#include <cstddef>

#include "device/runtime.h"

namespace symbind {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Total and free bytes: what the kernel calls available, within the control group's limit.
MemoryInfo host_memory();
/// Throws kMemory when `bytes` more cannot be backed. `what` opens the message.
void check_host_memory(std::size_t bytes, const char* what);
/// Throws kMemory with needed and free bytes.
[[noreturn]] void fail_host_memory(std::size_t bytes, const char* what);

}  // namespace symbind
