#pragma once
// Recorded work as a CUDA graph.

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

#include "device/recording.h"

namespace symbind {

/// Records on a separate stream: other threads may keep using `stream`, where it will replay.
std::unique_ptr<Recording> record_cuda(int device, cudaStream_t stream,
                                       const std::function<void(void* stream)>& work);

}  // namespace symbind
