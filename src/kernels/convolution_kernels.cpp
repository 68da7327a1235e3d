#include "kernels/convolution_kernels.h"

#include "kernels/direct/convolution.h"
#include "kernels/onednn/convolution.h"
#include "kernels/pixels/convolution.h"
#include "kernels/winograd/convolution.h"

namespace symbind {

namespace {

template <onednn::ConvolutionAlgorithm algorithm>
constexpr ConvolutionKernel onednn_kernel(const char* name) {
  return {name,
          [](const ConvolutionSizes& s, const Epilogue& epilogue, const KernelRequest& r) {
            return onednn::offer_convolution(algorithm, s, epilogue, r);
          },
          onednn::prepare_convolution,
          [](const ConvolutionSizes& s, const KernelRequest& r) {
            return onednn::offer_convolution_backward(algorithm, s, r);
          },
          onednn::prepare_convolution_backward};
}

constexpr ConvolutionKernel kKernels[] = {
    {"native_winograd", winograd::offer_convolution, winograd::prepare_convolution,
     winograd::offer_convolution_backward, winograd::prepare_convolution_backward},
    onednn_kernel<onednn::ConvolutionAlgorithm::kBFloat16>("onednn_bfloat16"),
    onednn_kernel<onednn::ConvolutionAlgorithm::kWinograd>("onednn_winograd"),
    {"native_pixels", pixels::offer_convolution,
     [](const KernelRequest&, const Offer& offer) { return pixels::prepare(offer); },
     [](const ConvolutionSizes&, const KernelRequest&) {
       return refuse("gradients are left to the others");
     },
     [](const KernelRequest&, const Offer&) { return Prepared(); }},
    {"native_direct", direct::offer_convolution, direct::prepare_convolution,
     direct::offer_convolution_backward, direct::prepare_convolution_backward},
    onednn_kernel<onednn::ConvolutionAlgorithm::kDirect>("onednn_direct")};

}  // namespace

std::span<const ConvolutionKernel> convolution_kernels() { return kKernels; }

}  // namespace symbind
