#pragma once
// CUDA's status codes as Errors.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace symbind {

/// Throws kMemory or kState naming the call, unless it succeeded.
void check_cuda(cudaError_t status, const char* call);
void check_cuda(CUresult status, const char* call);

/// Throws kMemory with needed and free bytes of the current device. `what` opens the message.
[[noreturn]] void fail_device_memory(std::size_t bytes, const char* what, int device);

}  // namespace symbind
