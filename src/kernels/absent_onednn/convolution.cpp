// Linked where oneDNN is not: every offer is a refusal.
#include "kernels/onednn/convolution.h"

namespace symbind::onednn {

Offer offer_convolution(ConvolutionAlgorithm, const ConvolutionSizes&, const Epilogue&,
                        const KernelRequest&) {
  return refuse("built without oneDNN");
}
Prepared prepare_convolution(const KernelRequest&, const Offer&) { return {}; }
Offer offer_convolution_backward(ConvolutionAlgorithm, const ConvolutionSizes&,
                                 const KernelRequest&) {
  return refuse("built without oneDNN");
}
Prepared prepare_convolution_backward(const KernelRequest&, const Offer&) { return {}; }

}  // namespace symbind::onednn
