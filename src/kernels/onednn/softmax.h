// Softmax and its logarithm over the last axis through oneDNN.
#pragma once

#include <symbind/kernel.h>

#include <cstdint>

namespace symbind::onednn {

/// The data as rows × classes; classes are adjacent.
struct SoftmaxSizes {
  std::int64_t rows = 0, classes = 0;
  bool logarithm = false;
};

/// Input x, output y.
Offer offer_softmax(const SoftmaxSizes& sizes, const KernelRequest& request);
Prepared prepare_softmax(const KernelRequest& request, const Offer& offer);

/// Inputs dy and y, output dx.
Offer offer_softmax_backward(const SoftmaxSizes& sizes, const KernelRequest& request);
Prepared prepare_softmax_backward(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::onednn
