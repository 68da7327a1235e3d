// Convolution and FullyConnected as products whose rows are pixels.
#pragma once

#include <symbind/epilogue.h>
#include <symbind/kernel.h>

#include "kernels/convolution_sizes.h"
#include "kernels/matrix_sizes.h"

namespace symbind::pixels {

/// Inputs x, W[, b] and the operands of the epilogue; output y.
Offer offer_convolution(const ConvolutionSizes& sizes, const Epilogue& epilogue,
                        const KernelRequest& request);
/// FullyConnected with the same inputs.
Offer offer_inner_product(const MatrixSizes& sizes, bool bias, const Epilogue& epilogue,
                          const KernelRequest& request);
/// Of either.
Prepared prepare(const Offer& offer);

}  // namespace symbind::pixels
