// FullyConnected through oneDNN; to come.
#include "kernels/onednn/inner_product.h"

namespace symbind::onednn {

Offer offer_inner_product(const MatrixSizes&, bool, const KernelRequest&) {
  return refuse("to come");
}
Prepared prepare_inner_product(const KernelRequest&, const Offer&) { return {}; }
Offer offer_inner_product_backward(const MatrixSizes&, bool, const KernelRequest&) {
  return refuse("to come");
}
Prepared prepare_inner_product_backward(const KernelRequest&, const Offer&) { return {}; }

}  // namespace symbind::onednn
