// Linked where oneDNN is not: every offer is a refusal.
#include "kernels/onednn/pooling.h"

namespace symbind::onednn {

Offer offer_pooling(const PoolingSizes&, const KernelRequest&) {
  return refuse("built without oneDNN");
}
Prepared prepare_pooling(const KernelRequest&, const Offer&) { return {}; }
Offer offer_pooling_backward(const PoolingSizes&, const KernelRequest&) {
  return refuse("built without oneDNN");
}
Prepared prepare_pooling_backward(const KernelRequest&, const Offer&) { return {}; }

}  // namespace symbind::onednn
