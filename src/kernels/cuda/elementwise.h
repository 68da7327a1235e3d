#pragma once
// Elementwise kernels on the GPU. Launchers return CUDA's status; nothing is launched for n = 0.

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/number.h"

namespace symbind::cuda {

int relu(void* stream, Number number, const void* x, void* y, std::int64_t n);
/// dx = dy · [y > 0]
int relu_backward(void* stream, Number number, const void* dy, const void* y, void* dx,
                  std::int64_t n);
/// y = a + b; y may be a or b.
int add(void* stream, Number number, const void* a, const void* b, void* y, std::int64_t n);
int copy(void* stream, const void* from, void* to, std::size_t bytes);

}  // namespace symbind::cuda
