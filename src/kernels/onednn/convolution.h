// Convolution through oneDNN: by one of two algorithms, each a kernel with its own name; blocked
// layouts where the channels allow them.
#pragma once

#include <cstdint>

#include <symbind/kernel.h>

#include "kernels/convolution_sizes.h"

namespace symbind::onednn {

enum class ConvolutionAlgorithm : std::uint8_t { kWinograd, kDirect };

/// Inputs x, W[, b][, sum_data]; output y, plus sum_data where `with_sum`.
Offer offer_convolution(ConvolutionAlgorithm algorithm, const ConvolutionSizes& sizes,
                        bool with_sum, const KernelRequest& request);
Prepared prepare_convolution(const KernelRequest& request, const Offer& offer);

/// Inputs dy, x, W; outputs dx, dW and, with a bias, db.
Offer offer_convolution_backward(ConvolutionAlgorithm algorithm, const ConvolutionSizes& sizes,
                                 const KernelRequest& request);
Prepared prepare_convolution_backward(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::onednn
