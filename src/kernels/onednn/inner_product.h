// FullyConnected through oneDNN: y = x Wᵀ + b and its gradients.
#pragma once

#include <symbind/kernel.h>

#include <cstdint>

namespace symbind {

/// x is rows × in, W is out × in, y is rows × out.
struct MatrixSizes {
  std::int64_t rows = 0, in = 0, out = 0;
};

namespace onednn {

/// Inputs x, W and, with a bias, b; output y.
Offer offer_inner_product(const MatrixSizes& sizes, bool bias, const KernelRequest& request);
Prepared prepare_inner_product(const KernelRequest& request, const Offer& offer);

/// Inputs dy, x, W; outputs dx, dW and, with a bias, db.
Offer offer_inner_product_backward(const MatrixSizes& sizes, bool bias,
                                   const KernelRequest& request);
Prepared prepare_inner_product_backward(const KernelRequest& request, const Offer& offer);

}  // namespace onednn
}  // namespace symbind
