// Convolution by Winograd's method, as a kernel: it states where it is faster than others, and
// packs and caches the transformed filters.
#pragma once

#include <symbind/epilogue.h>
#include <symbind/kernel.h>

#include "kernels/convolution_sizes.h"

namespace symbind::winograd {

/// Inputs x, W[, b] and the operands of the epilogue; output y.
Offer offer_convolution(const ConvolutionSizes& sizes, const Epilogue& epilogue,
                        const KernelRequest& request);
Prepared prepare_convolution(const KernelRequest& request, const Offer& offer);

/// Inputs dy, x, W; outputs dx, dW and, with a bias, db.
Offer offer_convolution_backward(const ConvolutionSizes& sizes, const KernelRequest& request);
Prepared prepare_convolution_backward(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::winograd
