// Batch normalisation, with or without the relu of Activation after it, through oneDNN.
#pragma once

#include <symbind/kernel.h>

#include "kernels/batch_norm_sizes.h"

namespace symbind::onednn {

/// Inputs x, gamma, beta, moving_mean, moving_var; outputs y, mean, inverse std and, with relu, the
/// opaque mask of its positive elements.
Offer offer_batch_norm(const BatchNormSizes& sizes, const KernelRequest& request);
Prepared prepare_batch_norm(const KernelRequest& request, const Offer& offer);

/// Inputs dy, x, gamma, mean, inverse std, moving_mean, moving_var, with relu the mask, and with
/// `two_heads` a second dy, which is added to the first; outputs dx, dgamma, dbeta. Updates the
/// moving statistics.
Offer offer_batch_norm_backward(const BatchNormSizes& sizes, bool two_heads,
                                const KernelRequest& request);
Prepared prepare_batch_norm_backward(const KernelRequest& request, const Offer& offer);

/// The output again. Inputs x, gamma, beta, mean, inverse std; output y.
Offer offer_batch_norm_again(const BatchNormSizes& sizes, const KernelRequest& request);
Prepared prepare_batch_norm_again(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::onednn
