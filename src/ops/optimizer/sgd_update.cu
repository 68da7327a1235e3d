// The rates are read on the device at every run: a recorded launch uses the values at its replay.
#include "kernels/cuda/grid.cuh"
#include "ops/optimizer/sgd_update_cuda.h"

namespace symbind::cuda {
namespace {

template <class T>
struct Rates {
  T lr, wd, rescale, clip;
  __device__ Rates(double lr_, const double* rest)
      : lr(static_cast<T>(lr_)),
        wd(static_cast<T>(rest[0])),
        rescale(static_cast<T>(rest[1])),
        clip(static_cast<T>(rest[2])) {}
  __device__ T gradient(T g) const {
    const T scaled = rescale * g;
    if (clip < T(0)) return scaled;
    return scaled > clip ? clip : scaled < -clip ? -clip : scaled;
  }
};

template <class T>
__global__ void sgd_step(const double* values, const T* w, const T* g, T* y, std::int64_t n) {
  const Rates<T> rate(values[0], values + 1);
  const T keep = T(1) - rate.lr * rate.wd;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step)
    y[i] = keep * w[i] - rate.lr * rate.gradient(g[i]);
}

template <class T>
__global__ void sgd_mom_step(const double* values, const T* w, const T* g, T* mom, T* y,
                             std::int64_t n) {
  const Rates<T> rate(values[0], values + 2);
  const T momentum = static_cast<T>(values[1]);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const T m = momentum * mom[i] - rate.lr * rate.wd * w[i] - rate.lr * rate.gradient(g[i]);
    mom[i] = m;
    y[i] = w[i] + m;
  }
}

}  // namespace

int sgd(void* stream, Number number, const double* values, const void* w, const void* g, void* y,
        std::int64_t n) {
  if (n == 0) return 0;
  return launch(number, [&](auto type) {
    using T = decltype(type);
    sgd_step<<<blocks_for(n), kThreads, 0, native(stream)>>>(
        values, static_cast<const T*>(w), static_cast<const T*>(g), static_cast<T*>(y), n);
  });
}

int sgd_mom(void* stream, Number number, const double* values, const void* w, const void* g,
            void* mom, void* y, std::int64_t n) {
  if (n == 0) return 0;
  return launch(number, [&](auto type) {
    using T = decltype(type);
    sgd_mom_step<<<blocks_for(n), kThreads, 0, native(stream)>>>(
        values, static_cast<const T*>(w), static_cast<const T*>(g), static_cast<T*>(mom),
        static_cast<T*>(y), n);
  });
}

}  // namespace symbind::cuda
