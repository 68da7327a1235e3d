// Batch normalisation of float32 by our own loops, with the epilogues sum, relu and both: plain,
// blocked and channels-last tensors.
#pragma once

#include <symbind/kernel.h>

#include "kernels/batch_norm_sizes.h"

namespace symbind::batch_norm {

/// Inputs x, gamma, beta, moving_mean, moving_var[, the tensor to add]; outputs y, mean, inverse
/// std and, with relu, the opaque mask of what it kept.
Offer offer(const BatchNormSizes& sizes, const KernelRequest& request);
Prepared prepare(const Offer& offer);

/// Inputs dy, x, gamma, mean, inverse std, moving_mean, moving_var[, mask][, a second dy]; outputs
/// dx, dgamma, dbeta and, with a sum, the gradient of the added tensor. Updates the moving
/// statistics. With `two_heads` the gradient that arrives is dy plus the second one.
Offer offer_backward(const BatchNormSizes& sizes, bool two_heads, const KernelRequest& request);
Prepared prepare_backward(const Offer& offer);

/// The output again. Inputs x, gamma, beta, mean, inverse std; output y.
Offer offer_again(const BatchNormSizes& sizes, const KernelRequest& request);
Prepared prepare_again(const Offer& offer);

}  // namespace symbind::batch_norm
