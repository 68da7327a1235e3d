// FullyConnected through oneDNN: y = x Wᵀ + b and its gradients.
#pragma once

#include <symbind/epilogue.h>
#include <symbind/kernel.h>

#include "kernels/matrix_sizes.h"

namespace symbind::onednn {

/// Inputs x, W[, b] and the operands of the epilogue; output y. `in_bfloat16`: x and W are.
Offer offer_inner_product(const MatrixSizes& sizes, bool bias, const Epilogue& epilogue,
                          bool in_bfloat16, const KernelRequest& request);
Prepared prepare_inner_product(const Offer& offer);

/// Inputs dy, x, W; outputs dx, dW and, with a bias, db.
Offer offer_inner_product_backward(const MatrixSizes& sizes, bool bias,
                                   const KernelRequest& request);
Prepared prepare_inner_product_backward(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::onednn
