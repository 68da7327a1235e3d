#pragma once
// FullyConnected through cuBLASLt: y = x Wᵀ + b and its gradients, in float32.

#include <symbind/kernel.h>

#include "kernels/matrix_sizes.h"

namespace symbind::cublas {

/// Inputs x, W and, with a bias, b; output y.
Offer offer_inner_product(const MatrixSizes& sizes, bool bias, const KernelRequest& request);
Prepared prepare_inner_product(const Offer& offer);

/// Inputs dy, x, W; outputs dx, dW and, with a bias, db.
Offer offer_inner_product_backward(const MatrixSizes& sizes, bool bias,
                                   const KernelRequest& request);
Prepared prepare_inner_product_backward(const Offer& offer);

}  // namespace symbind::cublas
