#pragma once
// The element types of our CUDA kernels. Kept simple for nvcc: launchers take a Number and void
// pointers.

namespace symbind::cuda {

enum class Number : int { kFloat, kDouble };

}  // namespace symbind::cuda
