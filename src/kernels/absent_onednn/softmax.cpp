// Linked where oneDNN is not: every offer is a refusal.
#include "kernels/onednn/softmax.h"

namespace symbind::onednn {

Offer offer_softmax(const SoftmaxSizes&, const KernelRequest&) {
  return refuse("built without oneDNN");
}
Prepared prepare_softmax(const KernelRequest&, const Offer&) { return {}; }
Offer offer_softmax_backward(const SoftmaxSizes&, const KernelRequest&) {
  return refuse("built without oneDNN");
}
Prepared prepare_softmax_backward(const KernelRequest&, const Offer&) { return {}; }

}  // namespace symbind::onednn
