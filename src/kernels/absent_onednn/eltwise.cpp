// Linked where oneDNN is not: every offer is a refusal.
#include "kernels/onednn/eltwise.h"

namespace symbind::onednn {

Offer offer_eltwise(const std::string&, const KernelRequest&, float) {
  return refuse("built without oneDNN");
}
Prepared prepare_eltwise(const KernelRequest&, const Offer&) { return {}; }
Offer offer_eltwise_backward(const std::string&, const KernelRequest&, float) {
  return refuse("built without oneDNN");
}
Prepared prepare_eltwise_backward(const KernelRequest&, const Offer&) { return {}; }

}  // namespace symbind::onednn
