#pragma once
// What a device offers to everything above it: memory, ordered copies, waiting.
//
// Decided here: one runtime per physical device. All cpu ids share the host's, and cpu_pinned and
// cpu_shared are ordinary host memory. Whoever holds a Context asks `runtime(context)`.

#include <cstddef>
#include <memory>

#include <symbind/context.h>

#include "device/arena.h"

namespace symbind {

enum class CopyKind { kHostToDevice, kDeviceToHost, kDeviceToDevice };

struct MemoryInfo {
  std::size_t total = 0;
  std::size_t free = 0;
};

class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  /// 64-byte aligned, undetermined contents; null for 0 bytes. Throws kMemory naming needed and
  /// free.
  virtual void* allocate(std::size_t bytes) = 0;
  /// `bytes` as given to allocate.
  virtual void release(void* data, std::size_t bytes) noexcept = 0;
  /// Ordered with the device's stream. Copies from and to the host return when they are done, so
  /// that host memory may be reused at once; device to device is asynchronous where the device is.
  virtual void copy(void* dst, const void* src, std::size_t bytes, CopyKind kind) = 0;
  virtual void zero(void* data, std::size_t bytes) = 0;
  virtual void synchronize() = 0;
  virtual std::unique_ptr<Arena> make_arena() = 0;
  virtual MemoryInfo memory() = 0;
  /// The native stream (cudaStream_t); null on the CPU.
  virtual void* stream() = 0;
};

/// The runtime behind a context. Throws kValue for negative ids and for GPUs that are not there.
DeviceRuntime& runtime(Context context);

/// The host's runtime.
DeviceRuntime& cpu_runtime();

}  // namespace symbind
