#pragma once
// The only place where a kernel is chosen: for the steps of a plan, calls on arrays, predictions
// and updates.

#include <string>
#include <vector>

#include <symbind/operator.h>

namespace symbind {

struct KernelChoice {
  const KernelDef* kernel = nullptr;
  Offer offer;
  std::vector<std::string> refusals;  ///< of the kernels before it, each with its reason
};

/// Limits on the choice, in addition to the kernels' own offers.
struct KernelLimits {
  std::string only = {};    ///< this kernel alone: it wrote what is opaque among the inputs
  bool plain_only = false;  ///< inputs and outputs are plain arrays
};

/// The first kernel, in the operator's order, that SYMBIND_KERNELS does not forbid and that
/// accepts. Throws kNotImplemented with every reason if none does. `title` names the node or the
/// operator.
KernelChoice select_kernel(const OpDef& op, const void* attrs, const KernelRequest& request,
                           const std::string& title, const KernelLimits& limits = {});

/// Whether a kernel other than the device's last one accepts.
bool has_offer(const OpDef& op, const void* attrs, const KernelRequest& request);

}  // namespace symbind
