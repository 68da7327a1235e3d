#pragma once
// Sums over the rows of a matrix, on the GPU.

#include <cstdint>

#include "kernels/cuda/number.h"

namespace symbind::cuda {

/// sums[j] = Σ over i of x[i, j]; always in the same order. Returns CUDA's status.
int column_sums(void* stream, Number number, const void* x, void* sums, std::int64_t rows,
                std::int64_t columns);

}  // namespace symbind::cuda
