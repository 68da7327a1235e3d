// Batch normalisation, with or without a ReLU after it, through oneDNN.
#pragma once

#include <symbind/kernel.h>

namespace symbind {

struct BatchNormSizes {
  double eps = 1e-3;
  float momentum = 0.9f;
  bool fix_gamma = true;
  bool global_stats = false;
  bool relu = false;
};

namespace onednn {

/// Inputs x, gamma, beta, moving_mean, moving_var; outputs y, mean, inverse std and, with relu, the
/// opaque mask of its positive elements.
Offer offer_batch_norm(const BatchNormSizes& sizes, const KernelRequest& request);
Prepared prepare_batch_norm(const KernelRequest& request, const Offer& offer);

/// Inputs dy, x, gamma, mean, inverse std, moving_mean, moving_var and, with relu, the mask;
/// outputs dx, dgamma, dbeta. Updates the moving statistics.
Offer offer_batch_norm_backward(const BatchNormSizes& sizes, const KernelRequest& request);
Prepared prepare_batch_norm_backward(const KernelRequest& request, const Offer& offer);

/// The output again. Inputs x, gamma, beta, mean, inverse std; output y.
Offer offer_batch_norm_again(const BatchNormSizes& sizes, const KernelRequest& request);
Prepared prepare_batch_norm_again(const KernelRequest& request, const Offer& offer);

}  // namespace onednn
}  // namespace symbind
