// Activation functions through oneDNN, in whatever layout the tensor has.
#pragma once

#include <symbind/kernel.h>

#include <string>

namespace symbind::onednn {

/// `function` is an act_type of Activation or LeakyReLU, `slope` that of elu and leaky. Input x,
/// output y.
Offer offer_eltwise(const std::string& function, const KernelRequest& request, float slope = 0);
Prepared prepare_eltwise(const KernelRequest& request, const Offer& offer);

/// Inputs dy and y (x for gelu), output dx.
Offer offer_eltwise_backward(const std::string& function, const KernelRequest& request,
                             float slope = 0);
Prepared prepare_eltwise_backward(const KernelRequest& request, const Offer& offer);

}  // namespace symbind::onednn
