// Max pooling over plain tensors of float32 with one or two spatial axes, as a kernel.
#pragma once

#include <symbind/kernel.h>

#include "kernels/pooling_sizes.h"

namespace symbind::max_pooling {

/// Input x; outputs y and, where wanted, the places of the maxima.
Offer offer(const PoolingSizes& sizes, const KernelRequest& request);
Prepared prepare(const Offer& offer);

/// Inputs dy, the shape of x, the places; output dx.
Offer offer_backward(const PoolingSizes& sizes, const KernelRequest& request);
Prepared prepare_backward(const Offer& offer);

}  // namespace symbind::max_pooling
