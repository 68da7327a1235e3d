// FullyConnected through oneDNN: y = x Wᵀ + b and its gradients.
#pragma once

#include <symbind/kernel.h>

#include "kernels/matrix_sizes.h"

namespace symbind::onednn {

/// Inputs x, W and, with a bias, b; output y.
Offer offer_inner_product(const MatrixSizes& sizes, bool bias, const KernelRequest& request);
Prepared prepare_inner_product(const KernelRequest& request, const Offer& offer);

/// Inputs dy, x, W; outputs dx, dW and, with a bias, db.
Offer offer_inner_product_backward(const MatrixSizes& sizes, bool bias,
                                   const KernelRequest& request);
Prepared prepare_inner_product_backward(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::onednn
