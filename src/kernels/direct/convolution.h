// Convolution over plain tensors, as a kernel, for channels that form no whole blocks.
#pragma once

#include <symbind/epilogue.h>
#include <symbind/kernel.h>

#include "kernels/convolution_sizes.h"

namespace symbind::direct {

/// Inputs x, W[, b] and the operands of the epilogue; output y.
Offer offer_convolution(const ConvolutionSizes& sizes, const Epilogue& epilogue,
                        const KernelRequest& request);
Prepared prepare_convolution(const KernelRequest& request, const Offer& offer);

/// Inputs dy, x, W; outputs dx, dW and, with a bias, db.
Offer offer_convolution_backward(const ConvolutionSizes& sizes, const KernelRequest& request);
Prepared prepare_convolution_backward(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::direct
