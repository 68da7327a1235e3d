// Convolution through oneDNN: by one of three algorithms, each a kernel with its own name; blocked
// layouts where the channels allow them.
#pragma once

#include <cstdint>

#include <symbind/epilogue.h>
#include <symbind/kernel.h>

#include "kernels/convolution_sizes.h"

namespace symbind::onednn {

/// kBFloat16 is the direct algorithm on data and weights in bfloat16, forward only.
enum class ConvolutionAlgorithm : std::uint8_t { kWinograd, kDirect, kBFloat16 };

/// Inputs x, W[, b] and the operands of the epilogue; output y.
Offer offer_convolution(ConvolutionAlgorithm algorithm, const ConvolutionSizes& sizes,
                        const Epilogue& epilogue, const KernelRequest& request);
Prepared prepare_convolution(const KernelRequest& request, const Offer& offer);

/// Inputs dy, x, W; outputs dx, dW and, with a bias, db.
Offer offer_convolution_backward(ConvolutionAlgorithm algorithm, const ConvolutionSizes& sizes,
                                 const KernelRequest& request);
Prepared prepare_convolution_backward(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::onednn
