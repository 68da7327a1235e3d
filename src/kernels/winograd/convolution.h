// Convolution by Winograd's method, as a kernel: it states where it is faster than others, and
// packs and caches the transformed filters.
#pragma once

#include <symbind/kernel.h>

#include "kernels/convolution_sizes.h"

namespace symbind::winograd {

/// Inputs x, W[, b][, sum_data]; output y, plus sum_data where `with_sum`.
Offer offer_convolution(const ConvolutionSizes& sizes, bool with_sum, const KernelRequest& request);
Prepared prepare_convolution(const KernelRequest& request, const Offer& offer);

/// Inputs dy, x, W; outputs dx, dW and, with a bias, db.
Offer offer_convolution_backward(const ConvolutionSizes& sizes, const KernelRequest& request);
Prepared prepare_convolution_backward(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::winograd
