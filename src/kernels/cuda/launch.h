#pragma once
// Host-side helpers for launchers: these return CUDA's status as an int, which becomes an Error
// here.

#include <symbind/kernel.h>

#include "kernels/cuda/number.h"

namespace symbind::cuda {

/// Throws kState naming the kernel, unless `status` (a cudaError_t) is success.
void check_launch(int status, const char* kernel);

/// Plain layouts for float32 and float64, a refusal for other types.
Offer offer_floats(const KernelRequest& request, std::size_t workspace_bytes = 0);
/// Of a dtype that offer_floats accepted.
Number number_of(DType dtype);

}  // namespace symbind::cuda
