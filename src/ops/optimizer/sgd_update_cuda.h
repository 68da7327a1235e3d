#pragma once
// sgd_update and sgd_mom_update on the GPU (sgd_update.cu). Launchers return CUDA's status.

#include <cstdint>

#include "kernels/cuda/number.h"

namespace symbind::cuda {

/// `values` are on the device: lr, wd, rescale_grad, clip_gradient. y may be w.
int sgd(void* stream, Number number, const double* values, const void* w, const void* g, void* y,
        std::int64_t n);
/// `values`: lr, momentum, wd, rescale_grad, clip_gradient.
int sgd_mom(void* stream, Number number, const double* values, const void* w, const void* g,
            void* mom, void* y, std::int64_t n);

}  // namespace symbind::cuda
