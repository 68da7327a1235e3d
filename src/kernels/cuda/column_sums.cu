// A block takes 32 columns; its 32 warps take the rows in turn, then one warp adds up their sums.
#include "kernels/cuda/column_sums.h"

#include "kernels/cuda/grid.cuh"

namespace symbind::cuda {
namespace {

constexpr int kColumns = 32, kLines = 32;

template <class T>
__global__ void sum_columns(const T* x, T* sums, std::int64_t rows, std::int64_t columns) {
  __shared__ T partial[kLines][kColumns];
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kColumns; first < columns;
       first += static_cast<std::int64_t>(gridDim.x) * kColumns) {
    const std::int64_t j = first + threadIdx.x;
    T sum = 0;
    if (j < columns)
      for (std::int64_t i = threadIdx.y; i < rows; i += kLines) sum += x[i * columns + j];
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && j < columns) {
      for (int line = 1; line < kLines; ++line) sum += partial[line][threadIdx.x];
      sums[j] = sum;
    }
    __syncthreads();
  }
}

}  // namespace

int column_sums(void* stream, Number number, const void* x, void* sums, std::int64_t rows,
                std::int64_t columns) {
  if (columns == 0) return 0;
  return launch(number, [&](auto type) {
    using T = decltype(type);
    sum_columns<<<blocks_for(columns, kColumns), dim3(kColumns, kLines), 0, native(stream)>>>(
        static_cast<const T*>(x), static_cast<T*>(sums), rows, columns);
  });
}

}  // namespace symbind::cuda
