// One loop for all functions of one or two operands; a function is a functor.
#include "kernels/cuda/elementwise.h"

#include "kernels/cuda/grid.cuh"

namespace symbind::cuda {
namespace {

struct Relu {
  template <class T>
  __device__ T operator()(T x) const {
    return x > 0 || x != x ? x : T(0);
  }
};
struct ReluSlope {
  template <class T>
  __device__ T operator()(T dy, T y) const {
    return y > 0 ? dy : T(0);
  }
};
struct Add {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

// No __restrict__: y may be one of the operands.
template <class F, class T, class... Operands>
__global__ void map(F f, T* y, std::int64_t n, Operands... x) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step)
    y[i] = f(x[i]...);
}

template <class T>
const T* as(const void* p, T) {
  return static_cast<const T*>(p);
}

template <class F, class... Operands>
int run(void* stream, Number number, F f, void* y, std::int64_t n, Operands... x) {
  if (n == 0) return 0;
  return launch(number, [&](auto type) {
    map<<<blocks_for(n), kThreads, 0, native(stream)>>>(f, static_cast<decltype(type)*>(y), n,
                                                        as(x, type)...);
  });
}

}  // namespace

int relu(void* stream, Number number, const void* x, void* y, std::int64_t n) {
  return run(stream, number, Relu{}, y, n, x);
}

int relu_backward(void* stream, Number number, const void* dy, const void* y, void* dx,
                  std::int64_t n) {
  return run(stream, number, ReluSlope{}, dx, n, dy, y);
}

int add(void* stream, Number number, const void* a, const void* b, void* y, std::int64_t n) {
  return run(stream, number, Add{}, y, n, a, b);
}

int copy(void* stream, const void* from, void* to, std::size_t bytes) {
  if (bytes == 0 || from == to) return 0;
  return static_cast<int>(
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, native(stream)));
}

}  // namespace symbind::cuda
