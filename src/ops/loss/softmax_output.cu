// A warp takes a row: maximum, sum and quotient, each over the classes in strides of 32.
#include "kernels/cuda/grid.cuh"
#include "ops/loss/softmax_output_cuda.h"

namespace symbind::cuda {
namespace {

constexpr int kWarps = kThreads / 32;

__device__ std::int64_t first_of_row(const SoftmaxGrid& g, std::int64_t row) {
  return row / g.positions * g.classes * g.positions + row % g.positions;
}

__device__ float exponential(float x) { return expf(x); }
__device__ double exponential(double x) { return exp(x); }

template <class T>
__global__ void softmax(const T* x, T* p, SoftmaxGrid g) {
  const std::int64_t rows = g.batch * g.positions;
  const std::int64_t lane = threadIdx.x % 32;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
       row < rows; row += static_cast<std::int64_t>(gridDim.x) * kWarps) {
    const std::int64_t at = first_of_row(g, row);
    T top = static_cast<T>(-INFINITY);
    for (std::int64_t c = lane; c < g.classes; c += 32) {
      const T value = x[at + c * g.positions];
      top = value > top ? value : top;
    }
    top = warp_max(top);
    T sum = 0;
    for (std::int64_t c = lane; c < g.classes; c += 32)
      sum += exponential(x[at + c * g.positions] - top);
    sum = warp_sum(sum);
    for (std::int64_t c = lane; c < g.classes; c += 32)
      p[at + c * g.positions] = exponential(x[at + c * g.positions] - top) / sum;
  }
}

template <class T>
__device__ int label_at(const T* label, std::int64_t row) {
  const float value = static_cast<float>(label[row]);  // NaN and huge numbers: not a class
  return value >= -0x1p31f && value < 0x1p31f ? static_cast<int>(value) : -2147483647 - 1;
}

/// One block counts; whole numbers may be added in any order.
template <class T>
__global__ void count_valid(const T* label, std::int64_t labels, int ignore,
                            unsigned long long* valid) {
  __shared__ unsigned long long total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  unsigned long long mine = 0;
  for (std::int64_t i = threadIdx.x; i < labels; i += blockDim.x)
    mine += label_at(label, i) != ignore;
  atomicAdd(&total, mine);
  __syncthreads();
  if (threadIdx.x == 0) *valid = total > 0 ? total : 1;
}

template <class T>
__global__ void hard_gradient(const T* p, const T* label, T* dx, SoftmaxGrid g,
                              HardLabelGradient how, const unsigned long long* valid) {
  const T scale =
      static_cast<T>(how.by_valid ? how.scale / static_cast<double>(*valid) : how.scale);
  const T alpha = static_cast<T>(how.smooth_alpha);
  const T others = g.classes > 1 ? alpha / static_cast<T>(g.classes - 1) : T(0);
  const std::int64_t n = g.batch * g.classes * g.positions;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const std::int64_t c = i / g.positions % g.classes;
    const std::int64_t row = i / (g.positions * g.classes) * g.positions + i % g.positions;
    const int hot = label_at(label, row);
    const T y = p[i];
    T d = how.use_ignore && hot == how.ignore ? T(0) : c == hot ? y - 1 + alpha : y - others;
    d *= scale;
    dx[i] = how.times_output ? d * y : d;
  }
}

template <class T>
__global__ void soft_gradient(const T* p, const T* label, T* dx, std::int64_t n, T scale,
                              bool times_output) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const T y = p[i];
    const T d = scale * (y - label[i]);
    dx[i] = times_output ? d * y : d;
  }
}

}  // namespace

int softmax_rows(void* stream, Number number, const void* x, void* p, const SoftmaxGrid& grid) {
  const std::int64_t rows = grid.batch * grid.positions;
  if (rows == 0) return 0;
  return launch(number, [&](auto type) {
    using T = decltype(type);
    softmax<<<blocks_for(rows, kWarps), kThreads, 0, native(stream)>>>(static_cast<const T*>(x),
                                                                       static_cast<T*>(p), grid);
  });
}

int hard_label_gradient(void* stream, Number number, const void* p, const void* label, void* dx,
                        const SoftmaxGrid& grid, const HardLabelGradient& how, void* workspace) {
  const std::int64_t n = grid.batch * grid.classes * grid.positions;
  if (n == 0) return 0;
  auto* valid = static_cast<unsigned long long*>(workspace);
  return launch(number, [&](auto type) {
    using T = decltype(type);
    const auto* labels = static_cast<const T*>(label);
    if (how.by_valid)
      count_valid<<<1, kThreads, 0, native(stream)>>>(labels, how.labels, how.ignore, valid);
    hard_gradient<<<blocks_for(n), kThreads, 0, native(stream)>>>(
        static_cast<const T*>(p), labels, static_cast<T*>(dx), grid, how, valid);
  });
}

int soft_label_gradient(void* stream, Number number, const void* p, const void* label, void* dx,
                        std::int64_t n, double scale, bool times_output) {
  if (n == 0) return 0;
  return launch(number, [&](auto type) {
    using T = decltype(type);
    soft_gradient<<<blocks_for(n), kThreads, 0, native(stream)>>>(
        static_cast<const T*>(p), static_cast<const T*>(label), static_cast<T*>(dx), n,
        static_cast<T>(scale), times_output);
  });
}

}  // namespace symbind::cuda
