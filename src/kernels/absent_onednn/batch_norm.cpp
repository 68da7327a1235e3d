// Linked where oneDNN is not: every offer is a refusal.
#include "kernels/onednn/batch_norm.h"

namespace symbind::onednn {

Offer offer_batch_norm(const BatchNormSizes&, const KernelRequest&) {
  return refuse("built without oneDNN");
}
Prepared prepare_batch_norm(const KernelRequest&, const Offer&) { return {}; }
Offer offer_batch_norm_backward(const BatchNormSizes&, bool, const KernelRequest&) {
  return refuse("built without oneDNN");
}
Prepared prepare_batch_norm_backward(const KernelRequest&, const Offer&) { return {}; }
Offer offer_batch_norm_again(const BatchNormSizes&, const KernelRequest&) {
  return refuse("built without oneDNN");
}
Prepared prepare_batch_norm_again(const KernelRequest&, const Offer&) { return {}; }

}  // namespace symbind::onednn
