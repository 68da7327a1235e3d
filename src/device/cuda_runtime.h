#pragma once
// The CUDA side of runtime.h. device/cuda implements it, or device/absent_cuda in a CPU build.

#include "device/runtime.h"

namespace symbind {

/// Throws kValue when there is no such device, saying how many there are and why.
DeviceRuntime& cuda_runtime(int id);
/// Devices that can be used; 0 without a driver. Never throws.
int cuda_device_count();

}  // namespace symbind
