// Convolution over plain tensors, as a kernel, for channels that form no whole blocks.
#pragma once

#include <symbind/kernel.h>

#include "kernels/convolution_sizes.h"

namespace symbind::direct {

/// Inputs x, W[, b][, sum_data]; output y, plus sum_data where `with_sum`.
Offer offer_convolution(const ConvolutionSizes& sizes, bool with_sum, const KernelRequest& request);
Prepared prepare_convolution(const KernelRequest& request, const Offer& offer);

/// Inputs dy, x, W; outputs dx, dW and, with a bias, db.
Offer offer_convolution_backward(const ConvolutionSizes& sizes, const KernelRequest& request);
Prepared prepare_convolution_backward(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::direct
