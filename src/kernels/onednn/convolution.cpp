// Convolution through oneDNN; to come.
#include "kernels/onednn/convolution.h"

namespace symbind::onednn {

Offer offer_convolution(const ConvolutionSizes&, bool, const KernelRequest&) {
  return refuse("to come");
}
Prepared prepare_convolution(const KernelRequest&, const Offer&) { return {}; }
Offer offer_convolution_backward(const ConvolutionSizes&, const KernelRequest&) {
  return refuse("to come");
}
Prepared prepare_convolution_backward(const KernelRequest&, const Offer&) { return {}; }

}  // namespace symbind::onednn
