#pragma once
// A GPU's arena: reserved addresses that are backed as it grows.

#include <cuda_runtime_api.h>

#include <memory>

#include "device/arena.h"

namespace symbind {

std::unique_ptr<Arena> make_cuda_arena(int device, cudaStream_t stream);

}  // namespace symbind
