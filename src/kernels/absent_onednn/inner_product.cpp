// Linked where oneDNN is not: every offer is a refusal.
#include "kernels/onednn/inner_product.h"

namespace symbind::onednn {

Offer offer_inner_product(const MatrixSizes&, bool, const Epilogue&, bool, const KernelRequest&) {
  return refuse("built without oneDNN");
}
Prepared prepare_inner_product(const Offer&) { return {}; }
Offer offer_inner_product_backward(const MatrixSizes&, bool, const KernelRequest&) {
  return refuse("built without oneDNN");
}
Prepared prepare_inner_product_backward(const KernelRequest&, const Offer&) { return {}; }

}  // namespace symbind::onednn
