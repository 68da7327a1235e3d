#pragma once
// What a device offers to everything above it: memory, ordered copies, waiting.
//
// Decided here: one runtime per physical device. All cpu ids share the host's, and cpu_pinned and
// cpu_shared are ordinary host memory. `runtime(context)` returns it.

#include <cstddef>
#include <functional>
#include <memory>

#include <symbind/context.h>

#include "device/arena.h"
#include "device/device_values.h"
#include "device/recording.h"

namespace symbind {

enum class CopyKind { kHostToDevice, kDeviceToHost, kDeviceToDevice };

struct MemoryInfo {
  std::size_t total = 0;
  std::size_t free = 0;
};

class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  /// 64-byte aligned and uninitialised; null for 0 bytes. Throws kMemory naming needed and
  /// free.
  virtual void* allocate(std::size_t bytes) = 0;
  /// `bytes` as given to allocate.
  virtual void release(void* data, std::size_t bytes) noexcept = 0;
  /// Ordered with the device's stream. Copies to the host return when they are done, copies from
  /// it when the host's memory may be reused; device to device is asynchronous where the device is.
  virtual void copy(void* dst, const void* src, std::size_t bytes, CopyKind kind) = 0;
  virtual void zero(void* data, std::size_t bytes) = 0;
  virtual void synchronize() = 0;
  virtual std::unique_ptr<Arena> make_arena() = 0;
  virtual MemoryInfo memory() = 0;
  /// The native stream (cudaStream_t); null on the CPU.
  virtual void* stream() = 0;
  /// The calling thread's launches go to this device from now on.
  virtual void make_current() {}
  /// A block for values that change between runs; null where kernels read the host's.
  virtual std::unique_ptr<DeviceValues> make_values(std::size_t /*count*/) { return nullptr; }
  /// Records what `work` launches on the stream it is given; nothing runs. Null on the CPU.
  virtual std::unique_ptr<Recording> record(const std::function<void(void* stream)>& /*work*/) {
    return nullptr;
  }
};

/// The runtime of a context. Throws kValue for negative ids and for missing GPUs.
DeviceRuntime& runtime(Context context);

/// The host's runtime.
DeviceRuntime& cpu_runtime();

}  // namespace symbind
