#pragma once
// Shared by our kernels: how many blocks, which type, sums over a warp.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/number.h"

namespace symbind::cuda {

constexpr int kThreads = 256;

/// Blocks for a loop that strides over the grid: enough to fill a large GPU, no more.
inline int blocks_for(std::int64_t n, int per_block = kThreads) {
  const std::int64_t blocks = (n + per_block - 1) / per_block;
  return static_cast<int>(blocks < 4096 ? blocks : 4096);
}

inline cudaStream_t native(void* stream) { return static_cast<cudaStream_t>(stream); }

/// f(float or double), as `number` says; then CUDA's status of the launch.
template <class F>
int launch(Number number, const F& f) {
  if (number == Number::kDouble)
    f(double{});
  else
    f(float{});
  return static_cast<int>(cudaGetLastError());
}

/// The sum over the warp, in every lane.
template <class T>
__device__ T warp_sum(T value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  return value;
}

template <class T>
__device__ T warp_max(T value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const T other = __shfl_xor_sync(~0u, value, offset);
    value = value > other ? value : other;
  }
  return value;
}

}  // namespace symbind::cuda
