// Max and average pooling through oneDNN, in plain or blocked layout.
#pragma once

#include <symbind/kernel.h>

#include "kernels/pooling_sizes.h"

namespace symbind::onednn {

/// Input x; outputs y, extents (of no elements) and, for max, the opaque workspace.
Offer offer_pooling(const PoolingSizes& sizes, const KernelRequest& request);
Prepared prepare_pooling(const KernelRequest& request, const Offer& offer);

/// Inputs dy, extents and, for max, the workspace; output dx.
Offer offer_pooling_backward(const PoolingSizes& sizes, const KernelRequest& request);
Prepared prepare_pooling_backward(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::onednn
