#include "device/cuda/cuda_error.h"

#include "base/check.h"
#include "device/cuda/driver_calls.h"

namespace symbind {

void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) [[likely]]
    return;
  cudaGetLastError();  // clears errors that are not sticky
  const bool memory = status == cudaErrorMemoryAllocation;
  fail(memory ? ErrorKind::kMemory : ErrorKind::kState, "{} failed: {} ({})", call,
       cudaGetErrorString(status), cudaGetErrorName(status));
}

void check_cuda(CUresult status, const char* call) {
  if (status == CUDA_SUCCESS) [[likely]]
    return;
  const char* text = nullptr;
  driver().get_error_string(status, &text);
  const bool memory = status == CUDA_ERROR_OUT_OF_MEMORY;
  fail(memory ? ErrorKind::kMemory : ErrorKind::kState, "{} failed: {} ({})", call,
       text == nullptr ? "unknown error" : text, static_cast<int>(status));
}

void fail_device_memory(std::size_t bytes, const char* what, int device) {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) cudaGetLastError();
  fail(ErrorKind::kMemory,
       "{}: not enough memory on gpu({})\n"
       "  needed {:.3g} GB ({} bytes)   free {:.3g} GB of {:.3g} GB\n"
       "  fix:  use a smaller batch or shape, or drop arrays that are no longer used",
       what, device, static_cast<double>(bytes) / 1e9, bytes, static_cast<double>(free) / 1e9,
       static_cast<double>(total) / 1e9);
}

}  // namespace symbind
