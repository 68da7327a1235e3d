// The fast kernels of Convolution and Deconvolution, in order of preference. A new one is added to
// the list in convolution_kernels.cpp and nowhere else.
#pragma once

#include <span>

#include <symbind/epilogue.h>
#include <symbind/kernel.h>

#include "kernels/convolution_sizes.h"

namespace symbind {

struct ConvolutionKernel {
  const char* name;
  /// Inputs x, W[, b] and the operands of the epilogue; output y.
  Offer (*offer)(const ConvolutionSizes& sizes, const Epilogue& epilogue,
                 const KernelRequest& request);
  Prepared (*prepare)(const KernelRequest& request, const Offer& offer);
  /// Inputs dy, x, W; outputs dx, dW and, with a bias, db.
  Offer (*offer_backward)(const ConvolutionSizes& sizes, const KernelRequest& request);
  Prepared (*prepare_backward)(const KernelRequest& request, const Offer& offer);
};

std::span<const ConvolutionKernel> convolution_kernels();

}  // namespace symbind
